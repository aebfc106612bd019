import { expect, test } from "vitest";
import type { Json, KubeObject } from "#kube";
import { readToken } from "../../auth/tokens/json-web-token.ts";
import { realServer, type TestServer } from "../server.test-support.ts";

const NS = "/api/v1/namespaces/default";
const API = "https://kubernetes.default.svc.cluster.local";

async function withAccount(): Promise<TestServer> {
  const server = realServer();
  const { ask } = server;
  await ask("POST", `${NS}/serviceaccounts`, { body: { metadata: { name: "sa" } } });
  await ask("POST", `${NS}/secrets`, { body: { metadata: { name: "s" } } });
  await ask("POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
  const pod = (name: string, more: object) => ({
    metadata: { name },
    spec: { serviceAccountName: "sa", containers: [{ name: "c", image: "i" }], ...more },
  });
  for (const body of [
    pod("p", { nodeName: "n1" }),
    pod("q", {}),
    pod("r", { nodeName: "gone" }),
    pod("other", { serviceAccountName: "sb" }),
  ]) {
    await ask("POST", `${NS}/pods`, { body: body as unknown as Json });
  }
  return server;
}

const request = async ({ ask }: TestServer, body: Json, name = "sa") =>
  (await ask("POST", `${NS}/serviceaccounts/${name}/token`, { body })).body;

function claimsOf(body: Json): { readonly [name: string]: unknown } {
  return readToken((body as { status: { token: string } }).status.token)?.claims ?? {};
}

test("by default a token is valid for this server and an hour", async () => {
  const server = await withAccount();
  const body = await request(server, {});
  expect(body).toMatchObject({
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: "sa", namespace: "default", uid: expect.any(String), creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { audiences: [API], expirationSeconds: 3600, boundObjectRef: null },
    status: { expirationTimestamp: "2026-01-01T01:00:00Z" },
  });
  const claims = claimsOf(body);
  expect(claims).toMatchObject({
    aud: [API],
    sub: "system:serviceaccount:default:sa",
    "kubernetes.io": { namespace: "default", serviceaccount: { name: "sa" } },
  });
  expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(3_600);
});

const ref = (kind: string, name: string, more: object = {}) =>
  ({ spec: { boundObjectRef: { kind, apiVersion: "v1", name, ...more } } }) as unknown as Json;

test.each([
  { name: "a Secret", given: ref("Secret", "s"), want: { secret: { name: "s", uid: expect.any(String) } } },
  { name: "a Node", given: ref("Node", "n1"), want: { node: { name: "n1", uid: expect.any(String) } } },
  { name: "a Pod, with its node", given: ref("Pod", "p"), want: { pod: { name: "p" }, node: { name: "n1", uid: expect.any(String) } } },
  { name: "a Pod without a node", given: ref("Pod", "q"), want: { pod: { name: "q" } } },
  { name: "a Pod with a missing node", given: ref("Pod", "r"), want: { pod: { name: "r" }, node: { name: "gone" } } },
])("it is bound to $name", async ({ given, want }) => {
  expect(claimsOf(await request(await withAccount(), given))["kubernetes.io"]).toMatchObject(want);
});

test("a token with the duration that kubelets request is valid for a year, and its claims have the reported expiry", async () => {
  const server = await withAccount();
  const claims = claimsOf(
    await request(server, { spec: { expirationSeconds: 3607, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } } }),
  );
  expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(365 * 24 * 3_600);
  expect((claims["kubernetes.io"] as { warnafter: number }).warnafter - Number(claims["iat"])).toBe(3_607);
});

const refusals: readonly { readonly name: string; readonly given: Json; readonly want: object; readonly account?: string }[] = [
  { name: "a missing account", given: {}, account: "nope", want: { code: 404, message: 'serviceaccounts "nope" not found' } },
  {
    name: "less than ten minutes",
    given: { spec: { expirationSeconds: 599 } },
    want: {
      code: 422,
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    },
  },
  {
    name: "more than 2^32 seconds",
    given: { spec: { expirationSeconds: 4_294_967_297 } },
    want: { code: 422, message: expect.stringContaining("may not specify a duration larger than 2^32 seconds") },
  },
  {
    name: "another name",
    given: { metadata: { name: "x" } },
    want: {
      code: 422,
      message: expect.stringContaining('metadata.name: Invalid value: "x": must match the service account name if specified'),
    },
  },
  { name: "another namespace", given: { metadata: { namespace: "x" } }, want: { code: 400 } },
  {
    name: "the uid of another account",
    given: { metadata: { uid: "bad" } },
    want: {
      code: 409,
      message: expect.stringContaining("the UID in the token request (bad) does not match the UID of the service account"),
    },
  },
  { name: "a missing pod", given: ref("Pod", "nope"), want: { code: 404, message: 'pods "nope" not found' } },
  {
    name: "a pod of another account",
    given: ref("Pod", "other"),
    want: { code: 400, message: 'cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.' },
  },
  {
    name: "the uid of another object",
    given: ref("Secret", "s", { uid: "bad" }),
    want: {
      code: 409,
      message: expect.stringContaining('Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (bad)'),
    },
  },
  {
    name: "a kind that tokens cannot be bound to",
    given: { spec: { boundObjectRef: { kind: "Deployment", apiVersion: "apps/v1", name: "d" } } },
    want: { code: 400, message: "cannot bind token to object of type apps/v1, Kind=Deployment" },
  },
  {
    name: "another kind of body",
    given: { kind: "Pod", apiVersion: "v1" },
    want: { code: 400, message: expect.stringContaining("cannot be handled as a TokenRequest") },
  },
  { name: "audiences that are not a list", given: { spec: { audiences: 5 } }, want: { code: 400 } },
];

test.each(refusals)("$name is an error", async ({ given, account, want }) => {
  expect(await request(await withAccount(), given, account)).toMatchObject(want);
});

test("an invalid query is an error", async () => {
  const { ask } = await withAccount();
  expect((await ask("POST", `${NS}/serviceaccounts/sa/token?dryRun=x`, { body: {} })).status).toBe(422);
});

test("admission can change a request", async () => {
  const admittedKinds: string[] = [];
  const { ask } = realServer({
    admission: () => [
      {
        name: "Longer",
        mutate: ({ object, kind }) => {
          admittedKinds.push(kind.kind);
          const changed = kind.kind === "TokenRequest" ? { ...object, spec: { expirationSeconds: 7_200 } } : object;
          return { ok: true, value: changed as KubeObject | undefined };
        },
      },
    ],
  });
  await ask("POST", `${NS}/serviceaccounts`, { body: { metadata: { name: "sa" } } });
  expect((await ask("POST", `${NS}/serviceaccounts/sa/token`, { body: {} })).body).toMatchObject({ spec: { expirationSeconds: 7_200 } });
  expect(admittedKinds).toContain("TokenRequest");
});

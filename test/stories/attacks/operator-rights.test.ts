/**
 * What an attacker gets who takes the operator's ServiceAccount: exactly what the generated roles grant. The operator lives through a whole story under
 * them, RBAC refuses nothing that it needs, and every verb that is granted is one that it uses.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom, sensitive, systemClock, type Result } from "#base";
import { resources } from "#embedded-cluster";
import { field, fieldAt, type KubeObject } from "#kube";
import { createKubeClient, httpTransport, parseServerUrl, staticCredentials, type KubeClient, type KubeError } from "#kube-client";
import { latticeEnvironments, latticeExternalServices, latticeServices } from "#crds";
import { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorRbac } from "#operator";
import {
  calls,
  environment,
  externalService,
  isCalledBy,
  latticeService,
  secret,
  secretBindings,
  serviceConfig,
  withVariables,
} from "../../builders/lattice-objects.ts";
import { OperatedCluster } from "../../builders/operated-cluster.ts";

/** "list secrets": what the rules of these objects grant. */
function grantsOf(objects: readonly KubeObject[]): ReadonlySet<string> {
  type Rule = { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; readonly verbs: readonly string[] };
  const rules = objects.flatMap((object) => (field(object, "rules") ?? []) as unknown as readonly Rule[]);
  return new Set(
    rules.flatMap(({ apiGroups: [group = ""], resources, verbs }) =>
      resources.flatMap((resource) => {
        const [plural = "", ...below] = resource.split("/");
        const name = `${group === "" ? plural : `${plural}.${group}`}${below.map((one) => `/${one}`).join("")}`;
        return verbs.map((verb) => `${verb} ${name}`);
      }),
    ),
  );
}

/** What the operator asked for, as RBAC names it. */
function asked(operated: OperatedCluster): ReadonlySet<string> {
  const own = [...operated.cluster.actions].filter(({ user, resource }) => user.name === operated.user.name && resource !== undefined);
  return new Set(
    own.flatMap(({ verb, resource, subresource }) => {
      const { plural = "", group = "" } = resource ?? {};
      const name = `${group === "" ? plural : `${plural}.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
      // an apply of an object that does not exist creates it
      return verb === "apply" ? [`patch ${name}`, `create ${name}`] : [`${verb} ${name}`];
    }),
  );
}

const refused = (operated: OperatedCluster) =>
  [...operated.cluster.actions]
    .filter(({ user, code }) => user.name === operated.user.name && code === 403)
    .map(({ verb, path }) => `${verb} ${path}`);

const API = (spec: Readonly<Record<string, unknown>>) =>
  latticeService("team/api", {
    environment: "shop",
    ...withVariables({ A: "b", PASSWORD: "${resources.db.password}", TOKEN: "${secrets.vault.token}" }),
    resources: {
      ...isCalledBy("front"),
      stripe: { type: "external-service", direction: "outbound" },
      db: { type: "postgres" },
      data: { type: "volume", params: { size: "1Gi" } },
      web: { type: "route", params: { host: "api.shop.example.com" } },
    },
    ...spec,
  });

/**
 * Comes up with every kind that services have, is changed, loses objects, and ends. Written in namespace `team`, it runs in `shop`: without owner
 * references the operator deletes everything itself.
 */
async function wholeStory(operated: OperatedCluster): Promise<void> {
  const store = { storeRef: { kind: "ClusterSecretStore", name: "vault" }, key: "kv/app" };
  const isolation = { quota: { pods: 20 }, limits: { cpu: "1" } };
  await operated.apply(
    secret("shop/postgres-db", { password: "hunter2" }),
    environment("shop", { sourceNamespaces: ["team"], isolation }),
    secretBindings("team/all", { bindings: { vault: { external: store } } }),
    serviceConfig("team/all", { appliesTo: { service: "api" }, values: { level: "info" } }),
    externalService("team/stripe", { environment: "shop", endpoints: { api: "https://api.stripe.com" }, allowedRequesters: ["api"] }),
    API({ replicas: { min: 2, max: 4 }, deploy: { strategy: "canary" } }),
    latticeService("team/front", { environment: "shop", resources: calls("api") }),
  );
  await operated.live(10_000, 500);
  await operated.apply(API({ replicas: { min: 2, max: 4 } }), environment("shop", { sourceNamespaces: ["team"] }));
  await operated.live(70_000, 5_000);
}

async function end(operated: OperatedCluster): Promise<void> {
  await operated.remove(latticeServices, "team/api");
  await operated.remove(latticeServices, "team/front");
  await operated.remove(latticeExternalServices, "team/stripe");
  await operated.live(5_000, 500);
  await operated.remove(latticeEnvironments, "shop");
  await operated.live(5_000, 500);
}

/** Granted, and not seen in a story without a race, an election or an admission plugin. */
const NOT_SEEN = [
  /^(create|get|update) leases\.coordination\.k8s\.io$/,
  // admission asks for it when blockOwnerDeletion is set; no request is made
  /^update (latticeservices|latticeexternalservices|latticeenvironments)\.lattice\.dev\/finalizers$/,
  /^update namespaces\/finalizers$/,
  // after a conflict, before the status is written again
  /^get lattice[a-z]+\.lattice\.dev$/,
  // kinds of which the story has no object
  /^update lattice(clusters|imageregistries|serviceregistrations)\.lattice\.dev\/status$/,
  // a second event of the same series
  /^patch events\.events\.k8s\.io$/,
];

test(
  "the operator lives its whole story under the cluster-wide roles: nothing is refused, and every granted verb is used",
  { timeout: 120_000 },
  async () => {
    await using operated = await OperatedCluster.start({ rbac: true });
    await wholeStory(operated);
    for (const key of ["team/api", "team/front"]) expect((await operated.service(key)).status).toMatchObject({ phase: "Ready" });
    await end(operated);
    expect(await operated.names("Deployment", "shop")).toEqual([]);
    expect(refused(operated)).toEqual([]);
    const used = asked(operated);
    const unused = [...grantsOf(operatorRbac())].filter((grant) => !used.has(grant) && !NOT_SEEN.some((pattern) => pattern.test(grant)));
    expect(unused.toSorted()).toEqual([]);
  },
);

function expectText(value: unknown): string {
  if (typeof value !== "string") throw new Error("the server gave no token");
  return value;
}

const namespaceObject = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const kubeSystemSecret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "x", namespace: "kube-system" } };
const SOME = ["team", "shop"];

test(
  "the operator lives its whole story under Roles in two namespaces: nothing is refused, and every granted verb is used",
  { timeout: 120_000 },
  async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: SOME });
    await wholeStory(operated);
    for (const key of ["team/api", "team/front"]) expect((await operated.service(key)).status).toMatchObject({ phase: "Ready" });
    expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({ status: { phase: "Ready" } });
    await end(operated);
    expect(await operated.names("Deployment", "shop")).toEqual([]);
    expect(refused(operated)).toEqual([]);
    const used = asked(operated);
    const granted = grantsOf(operatorRbac(OPERATOR_NAMESPACE, SOME));
    const unused = [...granted].filter((grant) => !used.has(grant) && !NOT_SEEN.some((pattern) => pattern.test(grant)));
    expect(unused.toSorted()).toEqual([]);
  },
);

describe("with the token of an operator for two namespaces", () => {
  let operated: OperatedCluster;
  let thief: KubeClient;
  let url: string;
  let token: string;

  beforeAll(async () => {
    operated = await OperatedCluster.start({
      rbac: true,
      namespaces: SOME,
      objects: [secret("payroll/salaries", { ceo: "much" }), secret("shop/postgres-db", { password: "hunter2" })],
    });
    const account = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/serviceaccounts/${OPERATOR_NAME}/token`;
    const { body } = await operated.cluster.request("POST", account, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    token = expectText(fieldAt(body, "status", "token"));
    ({ url } = await operated.cluster.listen({ http: true }));
    const credentials = staticCredentials({ token: sensitive(token) });
    const transport = httpTransport({ server: expectOk(parseServerUrl(url)), credentials }, { clock: systemClock });
    thief = createKubeClient({ transport, clock: systemClock, random: seededRandom(1) });
  }, 60_000);

  afterAll(async () => {
    await thief.close();
    await operated[Symbol.asyncDispose]();
  });

  const { secrets, namespaces, deployments } = resources;
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "miner", namespace: "payroll" } };
  const rows: readonly { readonly name: string; readonly attempt: () => Promise<Result<unknown, KubeError>> }[] = [
    { name: "a Secret of another namespace cannot be read", attempt: () => thief.get(secrets, { namespace: "payroll", name: "salaries" }) },
    { name: "Secrets of another namespace cannot be listed", attempt: () => thief.list(secrets, { namespace: "payroll" }) },
    { name: "Secrets of all namespaces cannot be listed", attempt: () => thief.list(secrets) },
    { name: "a Secret of kube-system cannot be created", attempt: () => thief.create(secrets, kubeSystemSecret) },
    { name: "a Deployment in another namespace cannot be created", attempt: () => thief.create(deployments, deployment) },
    { name: "Namespaces cannot be listed", attempt: () => thief.list(namespaces) },
    { name: "a Namespace cannot be created", attempt: () => thief.create(namespaces, namespaceObject("mine")) },
    {
      name: "another Namespace cannot be labelled",
      attempt: () => thief.apply(namespaces, namespaceObject("payroll"), { fieldManager: "x" }),
    },
    { name: "its own Namespaces cannot be deleted", attempt: () => thief.delete(namespaces, { name: "shop" }) },
    {
      name: "another Secret of the operator's own namespace cannot be read",
      attempt: () => thief.get(secrets, { namespace: OPERATOR_NAMESPACE, name: "other" }),
    },
  ];
  test.each(rows)("$name", async ({ attempt }) => {
    expect(await attempt()).toMatchObject({ ok: false, error: { kind: "forbidden", code: 403 } });
  });

  test("SelfSubjectAccessReview says the same, and that the own namespaces are allowed", async () => {
    const may = async (namespace: string) => {
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
      const body = JSON.stringify({ ...review, spec: { resourceAttributes: { verb: "get", resource: "secrets", namespace } } });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, { method: "POST", headers, body });
      return fieldAt(await answer.json(), "status", "allowed");
    };
    expect([await may("shop"), await may("payroll"), await may("")]).toEqual([true, false, false]);
    expect(await thief.get(secrets, { namespace: "shop", name: "postgres-db" })).toMatchObject({ ok: true });
  });
});

/** Requests with duplicate or unusual parts: the authorized request is the executed one, and no response has an object that the user may not read. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { JsonObject } from "#kube";
import type { Exchange } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SECRETS = "/api/v1/namespaces/default/secrets";
const NAMED = `${SECRETS}?fieldSelector=metadata.name%3D`;
const HIDDEN = Buffer.from("value-of-other").toString("base64");

type Row = { readonly line: string; readonly headers?: readonly string[]; readonly body?: string; readonly code: number };

/** As a user who may read, list and patch the Secret "mine", and nothing else. */
const READS: readonly Row[] = [
  { line: `GET ${SECRETS}/mine`, code: 200 },
  { line: `GET ${NAMED}mine&fieldSelector=metadata.name%3Dother`, code: 200 },
  { line: `GET ${NAMED}other&fieldSelector=metadata.name%3Dmine`, code: 403 },
  { line: `GET ${SECRETS}?fieldselector=metadata.name%3Dmine`, code: 403 },
  { line: `GET ${NAMED}mine,metadata.name%3Dother`, code: 200 },
  { line: `GET ${NAMED}mine%5C,x`, code: 403 },
  { line: `GET ${SECRETS}/mine/../other`, code: 403 },
  { line: `GET ${SECRETS}/mine%2F..%2Fother`, code: 403 },
  { line: `GET ${SECRETS}/mine%252f..%252fother`, code: 403 },
  { line: `GET ${SECRETS}//other`, code: 403 },
  { line: `GET ${SECRETS}/other;mine`, code: 403 },
  { line: `GET http://x${SECRETS}/other`, code: 403 },
  { line: `GET ${SECRETS}/mine#/../other`, code: 403 },
  { line: `GET ${SECRETS}/other`, headers: ["authorization: Bearer test-token"], code: 403 },
  { line: `GET ${SECRETS}/other`, headers: ["proxy-authorization: Bearer test-token"], code: 403 },
  { line: `GET ${SECRETS}/other`, headers: ["x-remote-user: admin", "x-remote-group: system:masters"], code: 403 },
  { line: `GET ${SECRETS}/other`, headers: ["authorization : Bearer test-token"], code: 400 },
  { line: `GET ${SECRETS}/other`, headers: ["x-a: b\r\n authorization: Bearer test-token"], code: 400 },
  { line: `GET ${SECRETS}/mine`, headers: ["x-http-method-override: DELETE"], code: 200 },
  { line: "POST /apis", headers: ["transfer-encoding: chunked", "content-length: 4"], code: 400 },
  { line: "POST /apis", headers: ["transfer-encoding: xchunked"], code: 400 },
  {
    line: `PATCH ${SECRETS}/mine`,
    headers: ["content-type: application/merge-patch+json"],
    body: '{"metadata":{"name":"other"}}',
    code: 400,
  },
  { line: `GET ${SECRETS}/mine`, code: 200 },
];

const review = (code: number, ...headers: readonly string[]): Row => ({
  line: "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
  headers: ["content-type: application/json", ...headers],
  body: '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
  code,
});

/** As a user who may impersonate the user "bob", without any group. */
const IMPERSONATIONS: readonly Row[] = [
  review(201, "Impersonate-User: bob"),
  review(403, "Impersonate-User: bob", "Impersonate-User: admin"),
  review(403, "Impersonate-User: admin", "Impersonate-User: bob"),
  review(400, "Impersonate-Group: system:masters"),
  review(403, "Impersonate-User: bob", "Impersonate-Group: system:masters"),
  review(403, "Impersonate-User: bob", "Impersonate-Group: a,system:masters"),
  review(403, "Impersonate-User: bob", "Impersonate-Group: "),
  review(403, "Impersonate-User: bob", "Impersonate-Uid: 1"),
  review(403, "Impersonate-User: bob", "Impersonate-Extra-a%2Fb: x"),
  review(403, "Impersonate-User: bob", "Impersonate-Extra-__proto__: x"),
  review(403, "Impersonate-User: bob\u00a0"),
];

test("duplicate or unusual parts of a request grant no more than the rules of the user", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false, tokens: ["reader-token,reader,r", "actor-token,actor,a"] });
  const { exchange, url } = server;
  await grant(exchange, "reader", { resources: ["secrets"], resourceNames: ["mine"], verbs: ["get", "list", "watch", "patch"] });
  await grant(exchange, "actor", { resources: ["users"], resourceNames: ["bob"], verbs: ["impersonate"] });
  for (const name of ["mine", "other"]) await post(exchange, SECRETS, { metadata: { name }, stringData: { v: `value-of-${name}` } });
  for (const row of READS) await expectCode(url, "reader-token", row);
  for (const row of IMPERSONATIONS) await expectCode(url, "actor-token", row);
  await server.process.expectWithinLimits("odd requests");
});

async function expectCode(url: string, token: string, row: Row): Promise<void> {
  const answer = await send(url, token, row);
  const what = `${row.line} ${(row.headers ?? []).join("; ")}`;
  expect(answer, what).toMatch(new RegExp(`^HTTP/1.1 ${row.code} `));
  expect(answer, what).not.toContain(HIDDEN);
}

/** Sends the bytes as they are: a client library would correct them. */
function send(url: string, token: string, { line, headers = [], body = "" }: Row): Promise<string> {
  const length = body === "" ? [] : [`content-length: ${body.length}`];
  const head = [`${line} HTTP/1.1`, "host: x", "connection: close", `authorization: Bearer ${token}`, ...headers, ...length];
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.on("error", () => {});
    socket.once("close", () => resolve(answer));
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
}

async function grant(exchange: Exchange, user: string, rule: JsonObject): Promise<void> {
  const metadata = { name: user };
  await post(exchange, `${RBAC}/clusterroles`, { metadata, rules: [{ apiGroups: [""], ...rule }] });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
  const subjects = [{ kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" }];
  await post(exchange, `${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects });
}

async function post(exchange: Exchange, path: string, body: JsonObject): Promise<void> {
  expect(await exchange.request({ method: "POST", path, body })).toMatchObject({ code: 201 });
}

import { Agent } from "node:https";
import { connect, type ClientHttp2Session } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk, type JsonObject } from "#base";
import { field, fieldAt, parseJson } from "#kube";
import {
  sendTo,
  startTestServer,
  testAuthority,
  testCertificate,
  testDeployment,
  testReview,
  type AdmissionReply,
} from "./admission-world.test-support.ts";
import type { ReviewedDeployment } from "./admission-review.ts";
import type { ReviewDeployment } from "./handler.ts";

const UID = "705ab4f5-6393-11e8-b7cc-42010a800002";
const PATCH: readonly JsonObject[] = [{ op: "add", path: "/metadata/labels", value: { "lattice.dev/service": "api" } }];
const patching: ReviewDeployment = ({ name }) => (name === "api" ? { patch: PATCH, warnings: [] } : undefined);

function responseOf({ status, body }: AdmissionReply): JsonObject {
  expect(status).toBe(200);
  const review = expectOk(parseJson(body));
  expect(review).toMatchObject({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  return field(review, "response") as JsonObject;
}

const decode = (base64: unknown): unknown => JSON.parse(Buffer.from(String(base64), "base64").toString("utf8"));
const counted = (text: string, result: string) => text.includes(`lattice_admission_reviews_total{result="${result}"} 1\n`);

describe("a review of a Deployment", () => {
  test("that a service refers to is answered with a JSON Patch", async () => {
    const { review, metrics } = await startTestServer(patching);
    const response = responseOf(await review(testReview()));
    expect(response).toEqual({ uid: UID, allowed: true, patchType: "JSONPatch", patch: expect.any(String) as string });
    expect(decode(response["patch"])).toEqual(PATCH);
    expect(counted(metrics.render(), "patched")).toBe(true);
    expect(metrics.render()).toContain("lattice_admission_review_seconds_count 1\n");
  });

  test("passes the objects and the operation on", async () => {
    const seen: ReviewedDeployment[] = [];
    const { review } = await startTestServer((one) => void seen.push(one));
    await review(testReview());
    await review(
      testReview({
        operation: "UPDATE",
        dryRun: true,
        options: { fieldManager: "helm" },
        oldObject: testDeployment({ status: { replicas: 1 } }),
      }),
    );
    expect(seen).toEqual([
      { operation: "CREATE", namespace: "shop", name: "api", object: testDeployment(), dryRun: false, fieldManager: "" },
      {
        operation: "UPDATE",
        namespace: "shop",
        name: "api",
        object: testDeployment(),
        old: testDeployment({ status: { replicas: 1 } }),
        dryRun: true,
        fieldManager: "helm",
      },
    ]);
  });

  test("that no service refers to is allowed without a change", async () => {
    const { review, metrics } = await startTestServer(patching);
    const object = testDeployment({ metadata: { name: "other", namespace: "shop" } });
    expect(responseOf(await review(testReview({ name: "other", object })))).toEqual({ uid: UID, allowed: true });
    expect(counted(metrics.render(), "not-referenced")).toBe(true);
  });

  test("that has its patch already is allowed without a change, with its warnings", async () => {
    const { review, metrics } = await startTestServer(() => ({ patch: [], warnings: ['container "web" is missing'] }));
    const want = { uid: UID, allowed: true, warnings: ['container "web" is missing'] };
    expect(responseOf(await review(testReview()))).toEqual(want);
    expect(counted(metrics.render(), "unchanged")).toBe(true);
  });

  test("whose warnings are long, many or unprintable gets a few short and printable ones", async () => {
    const warnings = ["a\u001b[31m\nbé", "x".repeat(500), "password: hunter2hunter2", ...Array.from({ length: 9 }, (_, at) => `w${at}`)];
    const { review } = await startTestServer(() => ({ patch: [], warnings }));
    expect(field(responseOf(await review(testReview())), "warnings")).toEqual([
      "a?[31m?b?",
      `${"x".repeat(117)}...`,
      "password: [redacted]",
      "w0",
      "w1",
    ]);
  });

  test("that meets a bug is allowed, and only the log has its text", async () => {
    const { review, lines, metrics } = await startTestServer(() => {
      throw new Error("secret-of-the-object");
    });
    const [first, second] = [await review(testReview()), await review(testReview())];
    expect(first.body + second.body).not.toContain("secret-of-the-object");
    expect(responseOf(first)).toEqual({
      uid: UID,
      allowed: true,
      warnings: ["lattice has not changed this Deployment: internal error; see the log of lattice-operator"],
    });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([["error", "the review of a Deployment met a bug"]]);
    expect(metrics.render()).toContain('lattice_admission_reviews_total{result="failed"} 2\n');
  });
});

describe("a review that is not understood is allowed unchanged, with a warning", () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "api", namespace: "shop" }, spec: {} };
  test.each<{ name: string; given: JsonObject; want: string }>([
    {
      name: "another version of the review",
      given: testReview({}, { apiVersion: "admission.k8s.io/v1beta1" }),
      want: "the review must be",
    },
    { name: "another kind of document", given: testReview({}, { kind: "Deployment" }), want: "the review must be" },
    {
      name: "another resource",
      given: testReview({ resource: { group: "apps", version: "v1", resource: "statefulsets" } }),
      want: "request.resource: must be deployments of apps/v1",
    },
    {
      name: "another version of the resource",
      given: testReview({ resource: { group: "apps", version: "v1beta1", resource: "deployments" } }),
      want: "request.resource",
    },
    { name: "another kind", given: testReview({ kind: { group: "", version: "v1", kind: "Pod" } }), want: "request.kind: must be" },
    { name: "a subresource", given: testReview({ subResource: "scale" }), want: "request.subResource: must be empty" },
    { name: "a deletion", given: testReview({ operation: "DELETE" }), want: "request.operation: must be CREATE or UPDATE" },
    { name: "no operation", given: testReview({ operation: null }), want: "request.operation" },
    { name: "no namespace", given: testReview({ namespace: "" }), want: "request.namespace" },
    { name: "an object of another kind", given: testReview({ object: pod }), want: "request.object" },
    { name: "an object of another name", given: testReview({ name: "other" }), want: "request.object" },
    { name: "an object of another namespace", given: testReview({ namespace: "bank" }), want: "request.object" },
    { name: "no object", given: testReview({ object: null }), want: "request.object" },
    { name: "a list as object", given: testReview({ object: [testDeployment()] }), want: "request.object" },
    { name: "metadata that is a text", given: testReview({ object: testDeployment({ metadata: "api" }) }), want: "request.object" },
    { name: "no spec", given: testReview({ object: testDeployment({ spec: null }) }), want: "request.object" },
    { name: "an update without the old object", given: testReview({ operation: "UPDATE" }), want: "request.oldObject" },
    { name: "an old object of another kind", given: testReview({ operation: "UPDATE", oldObject: pod }), want: "request.oldObject" },
    {
      name: "an old object of another name",
      given: testReview({ operation: "UPDATE", oldObject: testDeployment({ metadata: { name: "b", namespace: "shop" } }) }),
      want: "request.oldObject",
    },
  ])("$name", async ({ given, want }) => {
    const { review, metrics } = await startTestServer(patching);
    const response = responseOf(await review(given));
    expect(response).toEqual({ uid: UID, allowed: true, warnings: [expect.stringContaining(want) as string] });
    expect(counted(metrics.render(), "not-understood")).toBe(true);
  });

  test("an old object at a creation is not read", async () => {
    const { review } = await startTestServer(patching);
    expect(responseOf(await review(testReview({ oldObject: pod })))).toMatchObject({ allowed: true, patchType: "JSONPatch" });
  });
});

describe("hostile requests", () => {
  test.each<{ name: string; body: string | Uint8Array; how?: object; want: number }>([
    { name: "another path", body: JSON.stringify(testReview()), how: { path: "/mutate/pods" }, want: 404 },
    { name: "another method", body: "", how: { method: "GET" }, want: 405 },
    { name: "another content type", body: JSON.stringify(testReview()), how: { headers: { "content-type": "text/plain" } }, want: 415 },
    { name: "a compressed body", body: "x", how: { headers: { "content-encoding": "gzip" } }, want: 415 },
    { name: "no JSON", body: "{", want: 400 },
    { name: "no text", body: Uint8Array.of(0xff, 0xfe), want: 400 },
    { name: "an empty body", body: "", want: 400 },
    { name: "null", body: "null", want: 400 },
    { name: "a list", body: "[]", want: 400 },
    { name: "no request", body: "{}", want: 400 },
    { name: "no uid", body: JSON.stringify(testReview({ uid: "" })), want: 400 },
    { name: "a uid that is a number", body: JSON.stringify(testReview({ uid: 7 })), want: 400 },
    { name: "a very long uid", body: JSON.stringify(testReview({ uid: "u".repeat(129) })), want: 400 },
    { name: "a uid in the prototype only", body: '{"request":{"__proto__":{"uid":"u"}}}', want: 400 },
    { name: "very deep nesting", body: `{"request":{"uid":"u","object":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, want: 400 },
  ])("$name is refused with $want, which the API server ignores", async ({ body, how, want }) => {
    const { send, metrics } = await startTestServer(patching);
    const reply = await send(body, how);
    expect(reply.status).toBe(want);
    expect(expectOk(parseJson(reply.body))).toEqual({ error: expect.any(String) as string });
    expect(counted(metrics.render(), "refused")).toBe(true);
  });

  test.each([
    { name: "brackets without an end", body: "[".repeat(1_000_000) },
    { name: "objects without an end", body: '{"a":'.repeat(500_000) },
    { name: "a review with a deep label", body: JSON.stringify(testReview()).replace('"metadata":{', `"metadata":{"x":${"[".repeat(101)}${"]".repeat(101)},`) },
  ])("a body that is nested too deeply is refused before it is parsed: $name", async ({ body }) => {
    const { send } = await startTestServer(patching);
    expect(await send(body)).toMatchObject({ status: 400, body: expect.stringContaining("nested at most 100 levels") as string });
  }); // prettier-ignore

  test("__proto__ and constructor are fields like others", async () => {
    const objects: unknown[] = [];
    const { send } = await startTestServer(({ object }) => void objects.push(object));
    const labels = '{"__proto__":{"polluted":"yes"},"constructor":"c"}';
    const text = JSON.stringify(testReview()).replace('"metadata":{"name":"api"', `"metadata":{"labels":${labels},"name":"api"`);
    expect(responseOf(await send(text))).toEqual({ uid: UID, allowed: true });
    const found = fieldAt(objects[0], "metadata", "labels");
    expect(Object.keys(found as object)).toEqual(["__proto__", "constructor"]);
    expect(fieldAt({}, "polluted")).toBeUndefined();
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("two objects of 3 MiB are read, and more than 7 MiB is refused before it is read", async () => {
    const { review, send } = await startTestServer(patching);
    const big = (name: string) =>
      testDeployment({ metadata: { name, namespace: "shop", annotations: { a: "x".repeat(3 * 1_024 * 1_024) } } });
    const large = testReview({ operation: "UPDATE", object: big("api"), oldObject: big("api") });
    expect(responseOf(await review(large))).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    const refused = send("x".repeat(8 * 1_024 * 1_024));
    // the server answers without the whole body, and then closes the connection
    await expect(refused.then(({ status }) => status).catch(() => 413)).resolves.toBe(413);
  });

  test("bodies that together are too large are refused, and freed when they end", async () => {
    const { send } = await startTestServer(patching, { limits: { bodiesBytes: 1_000 } });
    expect((await send(" ".repeat(2_000))).status).toBe(503);
    expect((await send("{}", { headers: { "transfer-encoding": "chunked" } })).status).toBe(503);
    expect((await send(" ".repeat(900))).status).toBe(400);
    expect((await send(" ".repeat(900))).status).toBe(400);
  });

  test("a body that never ends is cut off", async () => {
    const limits = { listener: { requestMs: 300, headersMs: 200, checkMs: 50 } };
    const { send } = await startTestServer(patching, { limits });
    expect((await send("{", { headers: { "content-length": "100" } })).status).toBe(408);
  });
});

describe("TLS", () => {
  test("a new certificate is used by new connections, and open ones continue", async () => {
    const { server, authority, send } = await startTestServer(patching);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const body = JSON.stringify(testReview());
    expect((await send(body, { agent })).status).toBe(200);
    const next = testAuthority("next");
    expectOk(server.reloadTls(testCertificate(next)));
    expect((await send(body, { agent })).status).toBe(200);
    expect((await sendTo(server.port, body, { ca: next.certificate })).status).toBe(200);
    await expect(sendTo(server.port, body, { ca: authority.certificate })).rejects.toThrow();
  });

  test("a certificate that is not readable is refused, and the one before is served", async () => {
    const { server, authority, send } = await startTestServer(patching);
    const broken = { ...testCertificate(authority), certificate: "nonsense" };
    expect(server.reloadTls(broken).ok).toBe(false);
    expect((await send(JSON.stringify(testReview()))).status).toBe(200);
  });

  test("an API server's HTTP/2 connection carries many reviews at a time", async () => {
    const { server, authority } = await startTestServer(patching);
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: authority.certificate });
    onTestFinished(() => session.close());
    const replies = await Promise.all(Array.from({ length: 50 }, () => post(session, JSON.stringify(testReview()))));
    for (const body of replies) expect(responseOf({ status: 200, body })).toMatchObject({ uid: UID, patchType: "JSONPatch" });
  });

  test("an address that is in use is an error with the address", async () => {
    const { server } = await startTestServer(patching);
    const again = startTestServer(patching, { port: server.port } as object);
    await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${server.port} for admission`);
  });
});

const JSON_TYPE = { "content-type": "application/json" };

function post(session: ClientHttp2Session, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/mutate/deployments", ...JSON_TYPE, "content-length": body.length });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    stream.once("end", () => resolve(text)).once("error", reject);
    stream.end(body);
  });
}

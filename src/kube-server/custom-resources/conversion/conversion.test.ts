/** Custom resources in two versions, with a webhook that converts between them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import { requestOf, startWebhook, type Reply, type TestWebhook } from "../../webhook-client/webhook.test-support.ts";
import { realServer, type TestRequest, type TestServer } from "../../rest/server.test-support.ts";

const GROUP = "things.lattice.test";
const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const at = (version: string, name = "") => `/apis/${GROUP}/${version}/namespaces/default/widgets${name === "" ? "" : `/${name}`}`;
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

let webhook: TestWebhook;
let world: TestServer;
let reply: ((review: ReturnType<typeof requestOf>, converted: readonly Json[]) => Reply | undefined) | undefined;

const versionOf = (json: Json | undefined): string => (typeof json === "string" ? json : "");

/** `size` in v1 is `dimension` in v2. */
function convert(object: JsonObject, apiVersion: string): JsonObject {
  const { size, dimension, ...spec } = (object["spec"] ?? {}) as JsonObject;
  const value = size ?? dimension;
  const moved = value === undefined ? {} : { [apiVersion.endsWith("v1") ? "size" : "dimension"]: value };
  return { ...object, apiVersion, spec: { ...spec, ...moved } };
}

const version = (name: string, field: string, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  selectableFields: [{ jsonPath: `.spec.${field}` }],
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { replicas: { type: "integer" }, [field]: { type: "string" } } },
        status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
});

const definition = (storage: "v1" | "v2", more: JsonObject = {}): JsonObject => ({
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [version("v1", "size", storage === "v1"), version("v2", "dimension", storage === "v2")],
    conversion: {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: `${webhook.url}/convert`, caBundle: webhook.caBundle } },
      ...more,
    },
  },
});

beforeEach(async () => {
  reply = undefined;
  webhook = await startWebhook((received) => {
    const review = requestOf(received);
    const converted = (review["objects"] as readonly JsonObject[]).map((object) => convert(object, versionOf(review["desiredAPIVersion"])));
    const response = { uid: review.uid, result: { status: "Success" }, convertedObjects: converted };
    return reply?.(review, converted) ?? { body: { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response } };
  });
  world = realServer();
  await world.ask("POST", DEFINITION, { body: definition("v1") });
});
afterEach(async () => {
  world.server.close();
  await webhook.close();
});

const widget = (apiVersion: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: "Widget",
  metadata: { name },
  spec,
});
const ask = async (method: string, url: string, asked?: TestRequest): Promise<JsonObject> =>
  (await world.ask(method, url, asked)).body as JsonObject;
const calls = (): readonly string[] =>
  webhook.received.splice(0).map((received) => {
    const review = requestOf(received);
    const names = (review["objects"] as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    return `${versionOf(review["desiredAPIVersion"]).slice(GROUP.length + 1)} ${names.join()}`;
  });

/** Waits until the cache of v2 has every object, and drops the recorded calls. */
async function settle(): Promise<void> {
  await ask("GET", at("v2"));
  calls();
}

/** A changed definition starts with an empty cache. */
async function redefine(): Promise<void> {
  await ask("PATCH", `${DEFINITION}/widgets.${GROUP}`, { type: MERGE, body: { spec: { names: { shortNames: ["w"] } } } });
}

describe("reading", () => {
  beforeEach(async () => {
    await ask("POST", at("v1"), { body: widget("v1", "a", { size: "s", replicas: 1 }) });
    await ask("POST", at("v1"), { body: widget("v1", "b", { size: "t" }) });
    await settle();
  });

  test("in the stored version calls no webhook", async () => {
    expect(await ask("GET", at("v1", "a"))).toMatchObject({ spec: { size: "s" } });
    expect(calls()).toEqual([]);
  });

  test("one object in another version calls the webhook each time", async () => {
    for (let times = 0; times < 2; times += 1)
      expect(await ask("GET", at("v2", "a"))).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { dimension: "s" } });
    expect(calls()).toEqual(["v2 a", "v2 a"]);
    expect(await ask("GET", `${at("v2", "a")}?resourceVersion=0`)).toMatchObject({ spec: { dimension: "s" } });
    expect(calls()).toEqual([]);
    expect(await ask("GET", `${at("v2", "a")}/scale`)).toMatchObject({ kind: "Scale" });
    expect(calls()).toEqual(["v2 a"]);
  });

  test("a list calls the webhook once for all objects, and not for cached ones", async () => {
    await redefine();
    expect(await ask("GET", at("v2"))).toMatchObject({ items: [{ spec: { dimension: "s" } }, { spec: { dimension: "t" } }] });
    await ask("POST", at("v1"), { body: widget("v1", "c", {}) });
    await ask("GET", at("v2"));
    expect(calls()).toEqual(["v2 a,b", "v2 c"]);
  });

  test("a list of large objects needs several calls, because responses are limited", async () => {
    for (const name of ["c", "d", "e"]) await ask("POST", at("v1"), { body: widget("v1", name, { size: name.repeat(900_000) }) });
    await settle();
    await redefine();
    const { items } = (await ask("GET", at("v2"))) as unknown as { readonly items: readonly JsonObject[] };
    expect(items).toHaveLength(5);
    expect(calls()).toEqual(["v2 a,b,c,d", "v2 e"]);
  });

  test("a field selector reads the version of the request", async () => {
    expect(await ask("GET", `${at("v2")}?fieldSelector=spec.dimension%3Dt`)).toMatchObject({ items: [{ metadata: { name: "b" } }] });
  });

  test("a watch sends existing and new objects in order and in its version", async () => {
    const end = new AbortController();
    const { response } = await world.ask(
      "GET",
      `${at("v2")}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      { signal: end.signal },
    );
    await ask("PATCH", at("v1", "a"), { type: MERGE, body: { spec: { size: "new" } } });
    await ask("DELETE", at("v1", "b"));
    const events: string[] = [];
    if (response.body.kind === "stream") {
      for await (const chunk of response.body.chunks) {
        for (const line of chunk.trim().split("\n")) {
          const { type, object } = JSON.parse(line) as {
            type: string;
            object: { metadata: { name?: string }; spec?: { dimension: string } };
          };
          events.push(`${type} ${object.metadata.name ?? ""} ${object.spec?.dimension ?? ""}`.trim());
        }
        if (events.length >= 5) end.abort();
      }
    }
    expect(events).toEqual(["ADDED a s", "ADDED b t", "BOOKMARK", "MODIFIED a new", "DELETED b t"]);
  });

  test("a watch ends with an error when the webhook fails", async () => {
    const { response } = await world.ask("GET", `${at("v2")}?watch=true&resourceVersion=${world.server.store.revision}`);
    reply = () => ({ status: 500, body: "broken", headers: { "content-type": "text/plain" } });
    await ask("PATCH", at("v1", "a"), { type: MERGE, body: { spec: { size: "new" } } });
    const lines: string[] = [];
    if (response.body.kind === "stream") for await (const chunk of response.body.chunks) lines.push(chunk);
    expect(JSON.parse(lines.join(""))).toMatchObject({
      type: "ERROR",
      object: { code: 500, message: expect.stringContaining("prevented the request") },
    });
  });
});

describe("writing", () => {
  test("stores the storage version and returns the version of the request", async () => {
    expect(await ask("POST", at("v2"), { body: widget("v2", "a", { dimension: "d" }) })).toMatchObject({
      apiVersion: `${GROUP}/v2`,
      spec: { dimension: "d" },
    });
    expect(world.server.store.get(`${GROUP}/widgets`, "default/a")?.object).toMatchObject({
      apiVersion: `${GROUP}/v1`,
      spec: { size: "d" },
    });
    expect(calls()).toEqual(["v1 a", "v2 a", "v2 a"]);
    expect(await ask("PATCH", at("v2", "a"), { type: MERGE, body: { spec: { replicas: 2 } } })).toMatchObject({
      spec: { dimension: "d", replicas: 2 },
      metadata: { generation: 2 },
    });
    const same = await ask("PATCH", at("v2", "a"), { type: MERGE, body: { spec: { replicas: 2 } } });
    expect(same).toMatchObject({ metadata: { generation: 2 } });
    const put = await ask("PUT", at("v2", "a"), { body: { ...same, spec: { dimension: "put" } } });
    expect(put).toMatchObject({ spec: { dimension: "put" }, metadata: { generation: 3 } });
    expect(await ask("PATCH", `${at("v2", "a")}/status`, { type: MERGE, body: { status: { replicas: 1 } } })).toMatchObject({
      status: { replicas: 1 },
    });
    expect(await ask("PATCH", `${at("v2", "a")}/scale`, { type: MERGE, body: { spec: { replicas: 5 } } })).toMatchObject({
      spec: { replicas: 5 },
    });
    expect(await ask("GET", at("v1", "a"))).toMatchObject({ spec: { size: "put", replicas: 5 } });
  });

  test("server-side apply keeps the field managers in every version", async () => {
    await ask("PATCH", `${at("v1", "s")}?fieldManager=one`, { type: APPLY, body: widget("v1", "s", { size: "s1" }) });
    const other = await ask("PATCH", `${at("v2", "s")}?fieldManager=two`, { type: APPLY, body: widget("v2", "s", { dimension: "zz" }) });
    expect(other).toMatchObject({ code: 409, message: 'Apply failed with 1 conflict: conflict with "one": .spec.size' });
    const own = await ask("PATCH", `${at("v2", "s")}?fieldManager=one`, { type: APPLY, body: widget("v2", "s", { dimension: "s2" }) });
    expect(own).toMatchObject({ spec: { dimension: "s2" }, metadata: { managedFields: [{ manager: "one", apiVersion: `${GROUP}/v2` }] } });
    expect(await ask("GET", at("v1", "s"))).toMatchObject({ spec: { size: "s2" } });
  });

  test("deletes objects with and without finalizers", async () => {
    const finalizers = ["lattice.test/f"];
    await ask("POST", at("v2"), { body: { ...widget("v2", "a", { dimension: "d" }), metadata: { name: "a", finalizers } } });
    expect(await ask("DELETE", at("v2", "a"))).toMatchObject({
      apiVersion: `${GROUP}/v2`,
      spec: { dimension: "d" },
      metadata: { deletionTimestamp: expect.any(String) },
    });
    await ask("POST", at("v2"), { body: widget("v2", "b", { dimension: "d" }) });
    expect(await ask("DELETE", at("v2"))).toMatchObject({ items: [{ spec: { dimension: "d" } }, { spec: { dimension: "d" } }] });
    expect((await world.ask("GET", at("v2", "b"))).status).toBe(404);
  });

  test("retries a deletion when the object changes during its conversion", async () => {
    const metadata = { name: "a", finalizers: ["lattice.test/f"] };
    await ask("POST", at("v1"), { body: { ...widget("v1", "a", { size: "s" }), metadata } });
    await settle();
    let changed: Promise<JsonObject> | undefined;
    reply = ({ objects }) => {
      const [object] = objects as unknown as readonly { metadata: JsonObject }[];
      if (object?.metadata["deletionTimestamp"] !== undefined)
        changed ??= ask("PATCH", at("v1", "a"), { type: MERGE, body: { spec: { size: "new" } } });
      return undefined;
    };
    expect(await ask("DELETE", at("v2", "a"))).toMatchObject({ spec: { dimension: "new" }, metadata: { generation: 3 } });
    expect(await changed).toMatchObject({ spec: { size: "new" } });
  });

  test("a deletion reads the object once before it checks its preconditions, and a dry run once more", async () => {
    await ask("POST", at("v1"), { body: widget("v1", "a", { size: "s" }) });
    await settle();
    const refused = await ask("DELETE", at("v2", "a"), { body: { preconditions: { uid: "another" } } });
    expect(refused).toMatchObject({ code: 409 });
    expect(calls()).toEqual(["v2 a"]);
    expect(await ask("DELETE", `${at("v2", "a")}?dryRun=All`)).toMatchObject({ status: "Success" });
    expect(calls()).toEqual(["v2 a", "v2 a"]);
  });

  test("moves to a new storage version object by object", async () => {
    await ask("POST", at("v1"), { body: widget("v1", "a", { size: "s" }) });
    const found = await ask("GET", `${DEFINITION}/widgets.${GROUP}`);
    const moved = await ask("PUT", `${DEFINITION}/widgets.${GROUP}`, { body: { ...found, spec: definition("v2")["spec"] as JsonObject } });
    expect(moved).toMatchObject({ status: { storedVersions: ["v1", "v2"] } });
    expect(await ask("GET", at("v2", "a"))).toMatchObject({ spec: { dimension: "s" } });
    await ask("PATCH", at("v1", "a"), { type: MERGE, body: { metadata: { labels: { touched: "yes" } } } });
    expect(world.server.store.get(`${GROUP}/widgets`, "default/a")?.object).toMatchObject({
      apiVersion: `${GROUP}/v2`,
      spec: { dimension: "s" },
    });
  });
});

describe("a webhook with a bad response", () => {
  const review = (response: JsonObject | undefined, more: JsonObject = {}): Reply => ({
    body: { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", ...(response === undefined ? {} : { response }), ...more },
  });
  const rows: readonly { readonly name: string; readonly respond: NonNullable<typeof reply>; readonly want: string }[] = [
    {
      name: "refuses",
      respond: ({ uid }) => review({ uid, result: { status: "Failure", message: "I will not" } }),
      want: "failed: I will not",
    },
    { name: "sends no result", respond: ({ uid }) => review({ uid }), want: "failed: response.result.status was '', not 'Success'" },
    { name: "sends no response", respond: () => review(undefined), want: "failed: no response provided" },
    { name: "sends the uid of another request", respond: () => review({ uid: "x" }), want: 'got "x"' },
    {
      name: "sends no apiVersion and kind",
      respond: ({ uid }) => review({ uid }, { apiVersion: "", kind: "" }),
      want: "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
    },
    {
      name: "returns no objects",
      respond: ({ uid }) => review({ uid, result: { status: "Success" } }),
      want: "returned 0 objects, expected 1",
    },
    { name: "sends no review", respond: () => ({ body: "[]" }), want: "failed: couldn't get version/kind" },
  ];
  test.each(rows)("$name", async ({ respond, want }) => {
    reply = respond;
    const refused = await ask("POST", at("v2"), { body: widget("v2", "a", { dimension: "d" }) });
    expect(refused).toMatchObject({ code: 500, message: expect.stringContaining(want) });
    expect(refused).not.toHaveProperty("reason");
    expect((await world.ask("GET", at("v1", "a"))).status).toBe(404);
  });

  test("does not affect requests in the stored version", async () => {
    await ask("POST", at("v1"), { body: widget("v1", "a", { size: "s" }) });
    reply = () => ({ cut: "at once" });
    expect(await ask("GET", at("v2", "a"))).toMatchObject({
      code: 500,
      message: expect.stringMatching(/conversion webhook for things.lattice.test\/v1, Kind=Widget failed: Post .*EOF$/),
    });
    expect((await world.ask("GET", at("v2"))).status).toBe(500);
    expect((await world.ask("DELETE", at("v2", "a"))).status).toBe(500);
    expect((await world.ask("DELETE", at("v1", "a"))).status).toBe(200);
  });

  test("ends field tracking but not the write", async () => {
    await ask("PATCH", `${at("v1", "s")}?fieldManager=one`, { type: APPLY, body: widget("v1", "s", { size: "s1" }) });
    await settle();
    let asked = 0;
    reply = ({ uid, desiredAPIVersion }, converted) => {
      asked += 1;
      if (asked === 2 && versionOf(desiredAPIVersion).endsWith("v1")) return review({ uid, result: { status: "Failure" } });
      return review({ uid, result: { status: "Success" }, convertedObjects: converted });
    };
    expect(await ask("PATCH", at("v2", "s"), { type: MERGE, body: { spec: { replicas: 1 } } })).toMatchObject({
      spec: { dimension: "s1", replicas: 1 },
    });
  });
});

test("an object in a removed version is not converted", async () => {
  await ask("POST", at("v1"), { body: widget("v1", "a", { size: "s" }) });
  const stored = world.server.store.get(`${GROUP}/widgets`, "default/a");
  if (stored === undefined) throw new Error("it was just made");
  const object = { ...stored.object, apiVersion: `${GROUP}/v0` };
  world.server.store.write({ collection: `${GROUP}/widgets`, key: "default/a", expected: stored.revision, object: () => object });
  expect(await ask("GET", at("v2", "a"))).toMatchObject({
    code: 500,
    message: `request to convert CR from an invalid group/version: ${GROUP}/v0`,
  });
});

test("a v1beta1 webhook is called with v1beta1, and one of an unknown version is not called", async () => {
  const url = `${DEFINITION}/widgets.${GROUP}`;
  const speak = async (versions: readonly string[]) => {
    const body = [{ op: "replace", path: "/spec/conversion/webhook/conversionReviewVersions", value: versions }];
    await world.ask("PATCH", url, { type: "application/json-patch+json", body });
  };
  await speak(["v1beta1", "v1"]);
  reply = (_, convertedObjects) => ({
    body: {
      apiVersion: "apiextensions.k8s.io/v1beta1",
      kind: "ConversionReview",
      response: { result: { status: "Success" }, convertedObjects },
    },
  });
  expect(await ask("POST", at("v2"), { body: widget("v2", "a", { dimension: "d" }) })).toMatchObject({ spec: { dimension: "d" } });
  const stored = world.server.store.get("apiextensions.k8s.io/customresourcedefinitions", `widgets.${GROUP}`);
  const text = JSON.stringify(stored?.object).replace('["v1beta1","v1"]', '["v9"]');
  world.server.store.write({
    collection: "apiextensions.k8s.io/customresourcedefinitions",
    key: `widgets.${GROUP}`,
    expected: stored?.revision,
    object: () => JSON.parse(text) as never,
  });
  expect(await ask("GET", at("v2", "a"))).toMatchObject({
    message: expect.stringContaining("failed: no supported conversion review versions"),
  });
});

test("admission receives custom resources in the version that its rule names", async () => {
  const hook = {
    name: "v1.lattice.test",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: `${webhook.url}/convert`, caBundle: webhook.caBundle },
    rules: [{ apiGroups: [GROUP], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["widgets"] }],
    matchConditions: [{ name: "v1", expression: "object.spec.size == 'd'" }],
  };
  const reviewed: Json[] = [];
  webhook.answer = (received) => {
    const request = requestOf(received);
    if (request["objects"] !== undefined) {
      const convertedObjects = (request["objects"] as readonly JsonObject[]).map((object) =>
        convert(object, versionOf(request["desiredAPIVersion"])),
      );
      return {
        body: {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "ConversionReview",
          response: { uid: request.uid, result: { status: "Success" }, convertedObjects },
        },
      };
    }
    reviewed.push(request["object"] ?? null);
    const patch = Buffer.from(
      JSON.stringify([
        { op: "add", path: "/spec/size", value: "d" },
        { op: "add", path: "/metadata/labels", value: { seen: "yes" } },
      ]),
    ).toString("base64");
    return {
      body: {
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: request.uid, allowed: true, patchType: "JSONPatch", patch },
      },
    };
  };
  await ask("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    body: { metadata: { name: "m" }, webhooks: [hook, { ...hook, name: "again.lattice.test" }] },
  });
  expect(await ask("POST", at("v2"), { body: widget("v2", "a", { dimension: "d" }) })).toMatchObject({
    apiVersion: `${GROUP}/v2`,
    spec: { dimension: "d" },
    metadata: { labels: { seen: "yes" } },
  });
  expect(reviewed).toMatchObject([{ apiVersion: `${GROUP}/v1`, spec: { size: "d" } }, { apiVersion: `${GROUP}/v1` }]);
  await ask("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m");
  const validating = { ...hook, name: "validate.lattice.test" };
  await ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    body: { metadata: { name: "v" }, webhooks: [validating] },
  });
  webhook.answer = () => ({ cut: "at once" });
  const refused = await ask("PATCH", at("v2", "a"), { type: MERGE, body: { spec: { replicas: 3 } } });
  expect(refused).toMatchObject({ code: 500 });
});

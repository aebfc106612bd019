import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { clusterBuilder, startEmbeddedCluster, type AnyObject, type JsonObject } from "#embedded-cluster";
import { fileTree } from "../../../test/builders/file-tree.ts";
import { inlineSchema } from "./inline-schema.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const gvk = (kind: string) => ({ group: "example.com", version: "v1", kind });

const gadget = (ref: (name: string) => JsonObject) => ({
  type: "object",
  description: "prose",
  required: ["spec"],
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: ref(META),
    spec: ref("com.example.v1.GadgetSpec"),
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
  "x-kubernetes-group-version-kind": [gvk("Gadget")],
});
const spec = (ref: (name: string) => JsonObject) => ({
  type: "object",
  required: ["mode"],
  properties: {
    mode: { type: "string", enum: ["fast", "slow"], default: "" },
    retries: { type: "integer", default: 3 },
    port: ref("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
    memory: ref("io.k8s.apimachinery.pkg.api.resource.Quantity"),
    since: ref("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
    raw: ref("io.k8s.apimachinery.pkg.runtime.RawExtension"),
    any: {},
    child: ref("com.example.v1.GadgetSpec"),
    missing: ref("com.example.v1.Nowhere"),
    labels: { type: "object", additionalProperties: { type: "string" } },
    parts: {
      type: "array",
      items: ref("com.example.v1.Part"),
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  },
});
const part = { type: "object", required: ["name"], properties: { name: { type: "string" }, size: { type: "integer", minimum: 1 } } };

const v2Ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const definitions = {
  "com.example.v1.Gadget": gadget(v2Ref),
  "com.example.v1.GadgetSpec": spec(v2Ref),
  "com.example.v1.Part": part,
  "com.example.v1.GadgetList": {
    type: "object",
    properties: {
      metadata: v2Ref("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"),
      items: { type: "array", items: v2Ref("com.example.v1.Gadget") },
    },
    "x-kubernetes-group-version-kind": [gvk("GadgetList")],
  },
  "com.example.v1.Odd": { type: "object", properties: { metadata: v2Ref(META) }, "x-kubernetes-group-version-kind": ["odd"] },
};
const path = (consumes: readonly string[]) => ({
  get: { "x-kubernetes-group-version-kind": gvk("Gadget") },
  patch: { consumes, "x-kubernetes-group-version-kind": gvk("Gadget") },
});
const STRATEGIC = "application/strategic-merge-patch+json";
const withPaths: JsonObject = {
  swagger: "2.0",
  definitions,
  paths: {
    "/apis/example.com/v1/gadgetry": {},
    "/apis/example.com/v1/gadgetry/{name}": path([STRATEGIC]),
    "/apis/example.com/v1/gadgetry/{name}/status": path([]),
    "/version": {},
  },
};

const v3Ref = (name: string): JsonObject => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });
const v3: JsonObject = {
  openapi: "3.0.0",
  components: {
    schemas: { "com.example.v1.Gadget": gadget(v3Ref), "com.example.v1.GadgetSpec": spec(v3Ref), "com.example.v1.Part": part },
  },
  paths: {
    "/apis/example.com/v1/namespaces/{namespace}/gadgets/{name}": {
      get: { "x-kubernetes-group-version-kind": gvk("Gadget") },
      patch: { requestBody: { content: { "application/merge-patch+json": {} } } },
    },
  },
};

const object = (more: JsonObject = {}): AnyObject => ({
  apiVersion: "example.com/v1",
  kind: "Gadget",
  metadata: { name: "a" },
  spec: {
    mode: "fast",
    parts: [
      { name: "x", size: 1 },
      { name: "y", size: 2 },
    ],
    ...more,
  },
});

describe("kinds from an OpenAPI document", () => {
  it("paths have their plural, scope and subresources", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: withPaths, objects: [{ ...object(), status: { phase: "Ready" } }] });
    const gadgets = cluster.resource("Gadget");
    expect(gadgets).toEqual({ group: "example.com", version: "v1", kind: "Gadget", plural: "gadgetry", namespaced: false });
    const kept = expectOk(await cluster.client.get(gadgets, { name: "a" })) as AnyObject;
    expect(kept).toMatchObject({ status: { phase: "Ready" }, spec: { retries: 3 } });
    const changed = expectOk(await cluster.client.patch(gadgets, { name: "a" }, { type: "merge", patch: { status: { phase: "No" } } }));
    expect((changed as AnyObject).status).toEqual({ phase: "Ready" });
  });

  it("without paths they are guessed as Kubernetes guesses", async () => {
    const kinds = ["Gadget", "Policy", "Glass"].map((kind) => [
      `com.example.v1.${kind}`,
      { ...gadget(v2Ref), "x-kubernetes-group-version-kind": [gvk(kind)] },
    ]);
    await using cluster = await startEmbeddedCluster({ openApi: { definitions: { ...definitions, ...Object.fromEntries(kinds) } } });
    const plurals = ["Gadget", "Policy", "Glass"].map((kind) => cluster.resource(kind).plural);
    expect(plurals).toEqual(["gadgets", "policies", "glasses"]);
    expect(cluster.resource("Gadget").namespaced).toBe(true);
  });

  const refusals: { name: string; given: JsonObject; want: string }[] = [
    { name: "a value outside the enum", given: { mode: "odd" }, want: 'spec.mode: Unsupported value: "odd"' },
    { name: "a wrong type", given: { retries: "x" }, want: "spec.retries" },
    { name: "an item's limit, behind a reference", given: { parts: [{ name: "x", size: 0 }] }, want: "spec.parts[0].size" },
    { name: "an unknown field", given: { odd: 1 }, want: 'unknown field "spec.odd"' },
    { name: "the same key twice", given: { parts: [{ name: "x" }, { name: "x" }] }, want: "Duplicate value" },
  ];
  it.each(refusals)("objects are checked: $name", async ({ given, want }) => {
    await using cluster = await startEmbeddedCluster({ openApi: [withPaths] });
    await expect(cluster.add(object(given))).rejects.toThrow(want);
  });

  it("required fields have no default, though the document has their Go zero value as one", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: [withPaths] });
    const { mode: _, ...rest } = object().spec ?? {};
    await expect(cluster.add({ ...object(), spec: rest })).rejects.toThrow("spec.mode: Required value");
  });

  it("lenient types are lenient: numbers for quantities and ports, any value where the schema allows it", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: [withPaths] });
    const given = {
      port: 80,
      memory: 1,
      since: null,
      raw: { x: [1] },
      any: [1, "a"],
      child: { deep: [1] },
      missing: "x",
      labels: { a: "b" },
    };
    const [kept] = await cluster.add(object(given));
    expect((kept as AnyObject).spec).toMatchObject({ ...given, since: null });
  });

  it("lists are patched by the document's merge keys when its PATCH supports strategic merge", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: withPaths, objects: [object()] });
    const patch = {
      spec: {
        parts: [
          { name: "y", size: 5 },
          { name: "z", size: 3 },
        ],
      },
    };
    const patched = expectOk(await cluster.client.patch(cluster.resource("Gadget"), { name: "a" }, { type: "strategic", patch }));
    expect((patched as AnyObject).spec?.["parts"]).toEqual([
      { name: "x", size: 1 },
      { name: "y", size: 5 },
      { name: "z", size: 3 },
    ]);
  });

  it("without support in the document a strategic merge patch gets 415, as for custom resources", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: v3, objects: [object()] });
    const key = { namespace: "default", name: "a" };
    expect(await cluster.client.patch(cluster.resource("Gadget"), key, { type: "strategic", patch: {} })).toMatchObject({
      error: { kind: "unsupported-media-type" },
    });
  });

  it("without paths the schema's patch strategies decide", async () => {
    const plain = { type: "object", properties: { metadata: v2Ref(META) }, "x-kubernetes-group-version-kind": [gvk("Plain")] };
    const documents = { definitions: { ...definitions, "com.example.v1.Plain": plain } };
    const objects = [object(), { apiVersion: "example.com/v1", kind: "Plain", metadata: { name: "a" } }];
    await using cluster = await startEmbeddedCluster({ openApi: documents, objects });
    const patch = (kind: string) =>
      cluster.client.patch(cluster.resource(kind), { namespace: "default", name: "a" }, { type: "strategic", patch: {} });
    expect(await patch("Gadget")).toMatchObject({ ok: true });
    expect(await patch("Plain")).toMatchObject({ ok: false });
  });

  it("server-side apply owns map lists by their keys", async () => {
    await using cluster = await startEmbeddedCluster({ openApi: withPaths });
    const gadgets = cluster.resource("Gadget");
    const apply = (fieldManager: string, parts: readonly JsonObject[]) =>
      cluster.client.apply(gadgets, { ...object(), spec: { mode: "fast", parts } } as AnyObject, { fieldManager });
    expectOk(await apply("one", [{ name: "x", size: 1 }]));
    const both = expectOk(await apply("two", [{ name: "y", size: 2 }])) as AnyObject;
    expect(both.spec?.["parts"]).toEqual([
      { name: "x", size: 1 },
      { name: "y", size: 2 },
    ]);
    expect(await apply("two", [{ name: "x", size: 7 }])).toMatchObject({ ok: false, error: { kind: "conflict" } });
  });

  it("built-in kinds are not changed", async () => {
    const pod = { ...gadget(v2Ref), "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Pod" }] };
    await using cluster = await startEmbeddedCluster({ openApi: { definitions: { ...definitions, Pod: pod } } });
    await expect(cluster.add({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: {} })).rejects.toThrow(
      "spec.containers: Required value",
    );
  });

  it("can be a file, JSON or YAML, with errors that name it", async () => {
    const root = await fileTree({
      "v2.json": JSON.stringify(withPaths),
      "v3.yaml": `# v3\n${JSON.stringify(v3)}`,
      "broken.json": "{",
      "broken.yaml": "a: [\n",
      "other.json": '{"a": 1}',
      "empty.yaml": "",
    });
    for (const name of ["v2.json", "v3.yaml"]) {
      await using cluster = await clusterBuilder().withOpenApi(`${root}/${name}`).start();
      expect(cluster.resource("Gadget").group).toBe("example.com");
    }
    const start = (name: string) => startEmbeddedCluster({ openApi: `${root}/${name}` });
    await expect(start("none.json")).rejects.toThrow("none.json: cannot be read");
    await expect(start("broken.json")).rejects.toThrow("broken.json: not JSON");
    await expect(start("broken.yaml")).rejects.toThrow(/broken\.yaml:\d+: /);
    await expect(start("other.json")).rejects.toThrow(
      "other.json: this is not an OpenAPI document: it has neither definitions (v2) nor components.schemas (v3)",
    );
    await expect(start("empty.yaml")).rejects.toThrow("this is not an OpenAPI document");
    await expect(startEmbeddedCluster({ openApi: {} })).rejects.toThrow(/^this is not an OpenAPI document/);
  });

  it("a missing definition has an empty schema", () => {
    expect(inlineSchema("nothing", () => undefined)).toMatchObject({ properties: {} });
  });
});

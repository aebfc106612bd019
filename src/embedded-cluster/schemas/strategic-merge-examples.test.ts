/** Strategic merge patches by example: lists of built-in kinds, and list types of custom resources. */
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { resources, startEmbeddedCluster, type AnyObject, type Json } from "#embedded-cluster";

const { pods } = resources;
const key = { namespace: "default", name: "a" };

const pod: AnyObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "default" },
  spec: {
    containers: [
      { name: "nginx", image: "nginx:1.14" },
      { name: "sidecar", image: "sidecar:v1" },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
    tolerations: [{ key: "a", operator: "Exists" }],
  },
};

describe("built-in kinds are patched as on a real server, with or without the option", () => {
  it.each([{ listTypePatches: false }, { listTypePatches: true }])(
    "example 1, containers: nginx gets its image, sidecar stays %j",
    async (options) => {
      await using cluster = await startEmbeddedCluster({ ...options, objects: [pod] });
      const patch = { spec: { containers: [{ name: "nginx", image: "nginx:1.21" }] } };
      const patched = expectOk(await cluster.client.patch(pods, key, { type: "strategic", patch }));
      const containers = patched.spec?.["containers"] as readonly { readonly name: string; readonly image: string }[];
      expect(containers.map(({ name, image }) => `${name} ${image}`)).toEqual(["nginx nginx:1.21", "sidecar sidecar:v1"]);
    },
  );

  it("example 2, volumes: retainKeys drops the old source where the patch says so", async () => {
    // a Pod's volumes cannot change; a Deployment's template is the same list
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", namespace: "default" },
      spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: pod.spec } },
    };
    await using cluster = await startEmbeddedCluster({ objects: [deployment] });
    const volume = { name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } };
    const patch = { spec: { template: { spec: { volumes: [volume] } } } };
    const patched = expectOk(await cluster.client.patch(resources.deployments, key, { type: "strategic", patch }));
    expect(patched.spec).toMatchObject({ template: { spec: { volumes: [{ name: "v", configMap: { name: "c" } }] } } });
    expect(JSON.stringify(patched)).not.toContain("emptyDir");
  });

  it("example 3, tolerations: an atomic list is replaced", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [pod] });
    const tolerations = [
      { key: "a", operator: "Exists" },
      { key: "b", operator: "Exists" },
    ];
    const patched = expectOk(await cluster.client.patch(pods, key, { type: "strategic", patch: { spec: { tolerations } } }));
    // the server adds two of its own to every Pod
    expect(patched.spec?.["tolerations"]).toMatchObject([{ key: "a" }, { key: "b" }, { effect: "NoExecute" }, { effect: "NoExecute" }]);
  });
});

const item = {
  type: "object",
  properties: { name: { type: "string" }, zone: { type: "string" }, count: { type: "integer" }, note: { type: "string" } },
};
const properties = {
  parts: { type: "array", items: { ...item, required: ["name"] }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
  pairs: {
    type: "array",
    items: { ...item, required: ["name", "zone"] },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "zone"],
  },
  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  steps: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
  plain: { type: "array", items: { type: "string" } },
  settings: { type: "object", additionalProperties: { type: "string" } },
} as const;
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
      },
    ],
  },
};
const widget = (spec: Json) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", namespace: "default" }, spec });

describe("strategic merge patch on a custom resource", () => {
  it("gets 415 without the option, as on a real server", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [definition, widget({})] });
    const answer = await cluster.client.patch(cluster.resource("Widget"), key, { type: "strategic", patch: {} });
    expect(answer).toMatchObject({ ok: false, error: { kind: "unsupported-media-type" } });
  });

  const rows: { name: string; before: Json; patch: Json; want: Json }[] = [
    {
      name: "map: an element with the same key is updated, a new one is appended, order stays",
      before: {
        parts: [
          { name: "a", count: 1, note: "kept" },
          { name: "b", count: 2 },
        ],
      },
      patch: {
        parts: [
          { name: "c", count: 3 },
          { name: "a", count: 9 },
        ],
      },
      want: {
        parts: [
          { name: "a", count: 9, note: "kept" },
          { name: "b", count: 2 },
          { name: "c", count: 3 },
        ],
      },
    },
    {
      name: "map with two keys: both identify an element",
      before: {
        pairs: [
          { name: "a", zone: "1", count: 1 },
          { name: "a", zone: "2", count: 2 },
        ],
      },
      patch: { pairs: [{ name: "a", zone: "2", count: 5 }] },
      want: {
        pairs: [
          { name: "a", zone: "1", count: 1 },
          { name: "a", zone: "2", count: 5 },
        ],
      },
    },
    { name: "set: a union in order", before: { tags: ["x", "y"] }, patch: { tags: ["y", "z"] }, want: { tags: ["x", "y", "z"] } },
    { name: "atomic: replaced", before: { steps: ["1", "2"] }, patch: { steps: ["3"] }, want: { steps: ["3"] } },
    { name: "no list type: replaced", before: { plain: ["1", "2"] }, patch: { plain: ["3"] }, want: { plain: ["3"] } },
    {
      name: "objects merge deeply",
      before: { settings: { a: "1", b: "2" } },
      patch: { settings: { b: "3", c: "4" } },
      want: { settings: { a: "1", b: "3", c: "4" } },
    },
    {
      name: "null removes a field",
      before: { settings: { a: "1" }, steps: ["1"] },
      patch: { steps: null },
      want: { settings: { a: "1" } },
    },
  ];

  it.each(rows)("$name", async ({ before, patch, want }) => {
    await using cluster = await startEmbeddedCluster({ listTypePatches: true, objects: [definition, widget(before)] });
    const patched = expectOk(await cluster.client.patch(cluster.resource("Widget"), key, { type: "strategic", patch: { spec: patch } }));
    expect((patched as AnyObject).spec).toEqual(want);
  });

  it("the result is validated by the schema", async () => {
    await using cluster = await startEmbeddedCluster({ listTypePatches: true, objects: [definition, widget({})] });
    const patch = { spec: { parts: [{ name: "a", count: "many" }] } };
    const answer = await cluster.client.patch(cluster.resource("Widget"), key, { type: "strategic", patch });
    expect(answer).toMatchObject({ ok: false, error: { kind: "invalid" } });
  });

  it("without a schema, lists are replaced and objects merge", async () => {
    const [version] = definition.spec.versions;
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const bare = { ...definition, spec: { ...definition.spec, versions: [{ ...version, schema: { openAPIV3Schema: open } }] } };
    await using cluster = await startEmbeddedCluster({
      listTypePatches: true,
      objects: [bare, widget({ any: [1], deep: { a: { b: 1 } } })],
    });
    const patch = { spec: { any: [2], deep: { a: { c: [3] } } } };
    const answer = await cluster.client.patch(cluster.resource("Widget"), key, { type: "strategic", patch });
    expect((expectOk(answer) as AnyObject).spec).toEqual({ any: [2], deep: { a: { b: 1, c: [3] } } });
  });
});

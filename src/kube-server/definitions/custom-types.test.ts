import { expect, test } from "vitest";
import type { Json, KubeObject } from "#kube";
import { createMemoryStore } from "../store/memory-store.ts";
import { realServer, type TestServer } from "../rest/server.test-support.ts";
import type { Store } from "../store/index.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/x.dev/v1/namespaces/default/widgets";
const MERGE = "application/merge-patch+json";

const schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { n: { type: "integer", default: 1 } } },
    status: { type: "object", properties: { n: { type: "integer" }, sel: { type: "string" } } },
  },
};
const scale = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.sel" };
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: schema },
  subresources: { status: {}, scale },
  ...more,
});
const definition = (names: object = {}, versions: Json = [version("v1"), version("v1alpha1", { deprecated: true })]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.x.dev" },
  spec: { group: "x.dev", scope: "Namespaced", names: { plural: "widgets", kind: "Widget", ...names }, versions },
});

async function withWidgets(): Promise<TestServer> {
  const made = realServer();
  const created = await made.ask("POST", CRDS, { body: definition() });
  expect(created).toMatchObject({ status: 201, body: { status: { conditions: null } } });
  return made;
}

test("a definition is established at once, and its resources are served and discovered", async () => {
  const { ask } = await withWidgets();
  expect((await ask("GET", `${CRDS}/widgets.x.dev`)).body).toMatchObject({
    status: {
      conditions: [
        { type: "NamesAccepted", status: "True" },
        { type: "Established", status: "True" },
      ],
    },
  });
  const created = await ask("POST", WIDGETS, { body: { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a" }, spec: {} } });
  expect(created).toMatchObject({ status: 201, body: { spec: { n: 1 }, metadata: { generation: 1 } } });
  expect((await ask("GET", WIDGETS)).body).toMatchObject({ kind: "WidgetList", metadata: { continue: "" }, items: [{ kind: "Widget" }] });
  expect((await ask("GET", "/apis/x.dev/v1")).body).toMatchObject({
    resources: [{ name: "widgets" }, { name: "widgets/status" }, { name: "widgets/scale", kind: "Scale", group: "autoscaling" }],
  });
  expect((await ask("GET", "/apis/x.dev")).body).toMatchObject({
    preferredVersion: { version: "v1" },
    versions: [{}, { version: "v1alpha1" }],
  });
  expect(JSON.stringify((await ask("GET", "/openapi/v3/apis/x.dev/v1")).body)).toContain("dev.x.v1.Widget");
  expect(JSON.stringify((await ask("GET", "/openapi/v2")).body)).toContain("dev.x.v1.Widget");
});

test("a request for a deprecated version gets a warning", async () => {
  const { ask } = await withWidgets();
  expect((await ask("GET", "/apis/x.dev/v1alpha1/widgets")).response.warnings).toEqual([expect.stringContaining("deprecated")]);
});

test("a custom resource has the scale subresource that its definition declares", async () => {
  const { ask } = await withWidgets();
  await ask("POST", WIDGETS, { body: { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a" }, spec: { n: 2 } } });
  await ask("PATCH", `${WIDGETS}/a/status`, { body: { status: { n: 1, sel: "a=b" } }, type: MERGE });
  expect((await ask("GET", `${WIDGETS}/a/scale`)).body).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1, selector: "a=b" } });
  expect((await ask("PATCH", `${WIDGETS}/a/scale`, { body: { spec: { replicas: 4 } }, type: MERGE })).body).toMatchObject({
    spec: { replicas: 4 },
  });
  expect((await ask("GET", `${WIDGETS}/a`)).body).toMatchObject({ spec: { n: 4 } });
});

const refused: readonly { name: string; body: Json; want: object }[] = [
  {
    name: "no kind",
    body: { metadata: { name: "a" } },
    want: { code: 400, message: expect.stringContaining("Object 'Kind' is missing in") },
  },
  {
    name: "no version",
    body: { kind: "Widget" },
    want: { message: "the API version in the data () does not match the expected API version (x.dev/v1)" },
  },
  {
    name: "another version",
    body: { apiVersion: "x.dev/v9", kind: "Widget" },
    want: { message: "the API version in the data (x.dev/v9) does not match the expected API version (x.dev/v1)" },
  },
  {
    name: "another kind",
    body: { apiVersion: "x.dev/v1", kind: "Gadget", metadata: { name: "a" } },
    want: { message: expect.stringContaining('Gadget.x.dev "a" is invalid: kind: Invalid value: "Gadget": must be Widget') },
  },
];

test.each(refused)("a custom resource with $name is refused", async ({ body, want }) => {
  const { ask } = await withWidgets();
  expect((await ask("POST", WIDGETS, { body })).body).toMatchObject(want);
});

test.each(["", "junk"])("an applied deletionTimestamp that is no timestamp is ignored (%j)", async (deletionTimestamp) => {
  const { ask } = await withWidgets();
  const body = { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a", deletionTimestamp } };
  const apply = () => ask("PATCH", `${WIDGETS}/a?fieldManager=m`, { body, type: "application/apply-patch+yaml" });
  const [created, again] = [await apply(), await apply()];
  expect([created.status, again.status]).toEqual([201, 200]);
  expect(again.body).not.toHaveProperty("metadata.deletionTimestamp");
  expect(again.body).toMatchObject({ metadata: { managedFields: [{ fieldsV1: { "f:metadata": { "f:deletionTimestamp": {} } } }] } });
});

test("custom resources do not accept a strategic merge patch, and unknown paths of their group get the 404 page", async () => {
  const { ask } = await withWidgets();
  expect((await ask("PATCH", `${WIDGETS}/a`, { body: {}, type: "application/strategic-merge-patch+json" })).body).toMatchObject({
    code: 415,
    message: expect.stringContaining("application/apply-patch+yaml"),
  });
  for (const url of ["/apis/x.dev/v9/widgets", "/apis/x.dev/v9", "/apis/x.dev/v1/nope"]) {
    expect(await ask("GET", url)).toMatchObject({ status: 404, body: "404 page not found\n" });
  }
  expect((await ask("GET", `${WIDGETS}/a/nope`)).body).toMatchObject({ code: 404, message: 'widgets.x.dev "a" not found' });
});

test("deleting a definition deletes its objects and ends the service of its resources", async () => {
  const { ask, server } = await withWidgets();
  await ask("POST", WIDGETS, { body: { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a" } } });
  const deleted = await ask("DELETE", `${CRDS}/widgets.x.dev`);
  expect(deleted.body).toMatchObject({
    metadata: { deletionTimestamp: expect.any(String), finalizers: ["customresourcecleanup.apiextensions.k8s.io"] },
  });
  expect((await ask("GET", `${CRDS}/widgets.x.dev`)).status).toBe(404);
  expect(await ask("GET", WIDGETS)).toMatchObject({ status: 404, body: "404 page not found\n" });
  expect(server.store.count("x.dev/widgets")).toBe(0);
});

test("a finalizer on a definition delays its deletion but not that of its objects", async () => {
  const { ask, server } = realServer();
  await ask("POST", CRDS, { body: { ...definition(), metadata: { name: "widgets.x.dev", finalizers: ["e.com/f"] } } });
  await ask("POST", WIDGETS, { body: { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a" } } });
  await ask("DELETE", `${CRDS}/widgets.x.dev`);
  expect((await ask("GET", `${CRDS}/widgets.x.dev`)).body).toMatchObject({ metadata: { finalizers: ["e.com/f"] } });
  expect(server.store.count("x.dev/widgets")).toBe(0);
});

test("a definition whose names are taken is accepted when they become free", async () => {
  const { ask } = await withWidgets();
  const rival = { ...definition({ plural: "gadgets", kind: "Widget" }), metadata: { name: "gadgets.x.dev" } };
  await ask("POST", CRDS, { body: rival });
  expect((await ask("GET", `${CRDS}/gadgets.x.dev`)).body).toMatchObject({
    status: { conditions: [{ type: "NamesAccepted", status: "False", reason: expect.stringContaining("KindConflict") }, {}] },
  });
  await ask("DELETE", `${CRDS}/widgets.x.dev`);
  expect((await ask("GET", "/apis/x.dev/v1/gadgets")).status).toBe(200);
});

test("a reopened store serves its custom resources and keeps its history", async () => {
  const store = createMemoryStore();
  const first = realServer({ store });
  await first.ask("POST", CRDS, { body: definition() });
  first.server.close();
  const revision = store.revision;
  const second = realServer({ store });
  expect((await second.ask("GET", WIDGETS)).status).toBe(200);
  expect(store.revision).toBe(revision + 1); // the Lease of the server
});

test("a definition whose status was not stored before a crash is served by the next server", async () => {
  const store = createMemoryStore();
  const first = realServer({ store });
  await first.ask("POST", CRDS, { body: definition() });
  first.server.close();
  const collection = "apiextensions.k8s.io/customresourcedefinitions";
  const stored = store.get(collection, "widgets.x.dev");
  const status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] };
  const withoutStatus = { ...stored?.object, status } as KubeObject;
  const object = (revision: number) => ({ ...withoutStatus, metadata: { ...withoutStatus.metadata, resourceVersion: `${revision}` } });
  expect(store.write({ collection, key: "widgets.x.dev", expected: stored?.revision, object }).ok).toBe(true);
  const second = realServer({ store });
  expect((await second.ask("GET", WIDGETS)).status).toBe(200);
});

const held = { apiVersion: "x.dev/v1", kind: "Widget", metadata: { name: "a", finalizers: ["x.dev/held"] }, spec: {} };

/** The store of a server that ended while a definition waited for the deletion of its last object. */
async function storeWithHeldWidget(): Promise<Store> {
  const store = createMemoryStore();
  const first = realServer({ store });
  await first.ask("POST", CRDS, { body: definition() });
  await first.ask("POST", WIDGETS, { body: held });
  await first.ask("DELETE", `${CRDS}/widgets.x.dev`);
  first.server.close();
  return store;
}

test("a definition that waits for its last object is deleted with that object, also after a restart", async () => {
  const store = await storeWithHeldWidget();
  const second = realServer({ store });
  expect((await second.ask("GET", `${WIDGETS}/a`)).body).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
  expect((await second.ask("POST", WIDGETS, { body: { ...held, metadata: { name: "b" } } })).status).toBe(403);
  await second.ask("PATCH", `${WIDGETS}/a`, { body: { metadata: { finalizers: null } }, type: MERGE });
  expect((await second.ask("GET", `${CRDS}/widgets.x.dev`)).status).toBe(404);
  expect((await second.ask("GET", WIDGETS)).status).toBe(404);
});

test("a definition whose last object was deleted while the server was down is deleted at the next start", async () => {
  const store = await storeWithHeldWidget();
  const expected = store.get("x.dev/widgets", "default/a")?.revision;
  expect(store.write({ collection: "x.dev/widgets", key: "default/a", expected, object: undefined }).ok).toBe(true);
  const second = realServer({ store });
  expect((await second.ask("GET", `${CRDS}/widgets.x.dev`)).status).toBe(404);
  expect((await second.ask("GET", WIDGETS)).status).toBe(404);
});

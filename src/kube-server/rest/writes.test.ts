import { expect, test } from "vitest";
import type { Json } from "#kube";
import { testServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const THINGS = "/api/v1/namespaces/default/things";

test("a created object has an identity, an owner and a version, and can be read back", async () => {
  const { ask } = testServer();
  const created = await ask("POST", MAPS, { body: { metadata: { name: "a" }, data: { x: "1" } } });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: {
      name: "a",
      namespace: "default",
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      creationTimestamp: "2026-01-01T00:00:00Z",
      managedFields: [{ manager: "test", operation: "Update", fieldsV1: { "f:data": { "f:x": {} } } }],
    },
    data: { x: "1" },
  });
  expect((await ask("GET", `${MAPS}/a`)).body).toEqual(created.body);
});

const refusedCreates: readonly { name: string; url?: string; body: Json | string; want: object }[] = [
  {
    name: "the name of an existing object",
    body: { metadata: { name: "taken" } },
    want: { code: 409, reason: "AlreadyExists", message: 'configmaps "taken" already exists' },
  },
  {
    name: "a missing namespace",
    url: "/api/v1/namespaces/nope/configmaps",
    body: { metadata: { name: "a" } },
    want: { code: 404, message: 'namespaces "nope" not found', details: { name: "nope", kind: "namespaces" } },
  },
  {
    name: "another namespace in the body",
    body: { metadata: { name: "a", namespace: "other" } },
    want: { code: 400, message: "the namespace of the provided object does not match the namespace sent on the request" },
  },
  {
    name: "an invalid value",
    body: { metadata: { name: "a" }, data: { bad: "1" } },
    want: {
      code: 422,
      message: 'ConfigMap "a" is invalid: data.bad: Invalid value: "bad": must not be there',
      details: { kind: "ConfigMap", causes: [{ field: "data.bad" }] },
    },
  },
  {
    name: "no name",
    body: {},
    want: { code: 422, message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required' },
  },
  {
    name: "a version",
    body: { metadata: { name: "a", resourceVersion: "5" } },
    want: { code: 500, message: "resourceVersion should not be set on objects to be created" },
  },
  {
    name: "a wrong type",
    body: { metadata: { name: "a" }, data: { x: 1 } },
    want: {
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    },
  },
  {
    name: "an unknown kind",
    body: { kind: "Nope", metadata: { name: "a" } },
    want: {
      message:
        'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    },
  },
  {
    name: "another kind",
    body: { kind: "Namespace", metadata: { name: "a" } },
    want: {
      message:
        'Namespace in version "v1" cannot be handled as a ConfigMap: converting (v1.Namespace) to (core.ConfigMap): unknown conversion',
    },
  },
  {
    name: "incomplete JSON",
    body: "{",
    want: { message: expect.stringContaining("couldn't get version/kind; json parse error: unexpected end of JSON input ({)") },
  },
  { name: "nothing", body: "", want: { message: expect.stringContaining("(<empty>)") } },
  { name: "a list", body: "[]", want: { message: expect.stringContaining("json: cannot unmarshal array into Go value of type struct") } },
  {
    name: "a kind that is a number",
    body: { kind: 1 },
    want: { message: expect.stringContaining("json: cannot unmarshal number into Go struct field .kind of type string") },
  },
  {
    name: "an unknown dryRun",
    url: `${MAPS}?dryRun=x`,
    body: {},
    want: { code: 422, message: expect.stringContaining('dryRun: Unsupported value: ["x"]') },
  },
  {
    name: "an unknown fieldValidation",
    url: `${MAPS}?fieldValidation=x`,
    body: {},
    want: { code: 422, details: { kind: "CreateOptions", group: "meta.k8s.io", causes: [{ field: "fieldValidation" }] } },
  },
  {
    name: "a manager of 200 letters",
    url: `${MAPS}?fieldManager=${"a".repeat(200)}`,
    body: {},
    want: { message: expect.stringContaining("fieldManager: Too long: may not be more than 128 bytes") },
  },
  {
    name: "a manager with a control character",
    url: `${MAPS}?fieldManager=a%07b`,
    body: {},
    want: { message: expect.stringContaining("invalid character U+0007 (at position 1)") },
  },
];

test.each(refusedCreates)("POST with $name is the error of a real server", async ({ url = MAPS, body, want }) => {
  const { ask } = testServer();
  await ask("POST", MAPS, { body: { metadata: { name: "taken" } } });
  expect((await ask("POST", url, { body })).body).toMatchObject({ kind: "Status", metadata: {}, status: "Failure", ...want });
});

test("unknown and duplicate fields are warnings, an error, or ignored", async () => {
  const { ask } = testServer();
  const body = '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"},"zz":1}';
  const warned = await ask("POST", `${MAPS}?dryRun=All`, { body });
  expect(warned.response.warnings).toEqual(['duplicate field "data.x"', 'unknown field "zz"']);
  const strict = await ask("POST", `${MAPS}?fieldValidation=Strict`, { body });
  expect(strict.body).toMatchObject({
    code: 400,
    message: expect.stringContaining('strict decoding error: duplicate field "data.x", unknown field "zz"'),
  });
  expect((await ask("POST", `${MAPS}?fieldValidation=Ignore`, { body })).response.warnings).toEqual([]);
});

test("the response has warnings of the kind and about duplicate owners", async () => {
  const { ask } = testServer();
  const owner = { apiVersion: "v1", kind: "X", name: "x", uid: "u" };
  const created = await ask("POST", MAPS, { body: { metadata: { name: "a", ownerReferences: [owner, owner] }, data: { warn: "1" } } });
  expect(created.response.warnings).toEqual([expect.stringContaining("duplicate UID(s) observed: u"), "data.warn: is not recommended"]);
  expect(created.body).toMatchObject({ metadata: { ownerReferences: [owner] } });
});

test("a dry run creates nothing and returns the object without a resourceVersion", async () => {
  const { ask, server } = testServer();
  const before = server.store.revision;
  const tried = await ask("POST", `${MAPS}?dryRun=All`, { body: { metadata: { name: "a" } } });
  expect(tried).toMatchObject({ status: 201, body: { metadata: { uid: expect.any(String) } } });
  expect(tried.body).not.toHaveProperty("metadata.resourceVersion");
  expect(server.store.revision).toBe(before);
});

test("generated names have five letters after their prefix", async () => {
  const { ask } = testServer();
  const created = await ask("POST", MAPS, { body: { metadata: { generateName: "gen-" } } });
  expect(created.body).toMatchObject({
    metadata: { name: expect.stringMatching(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/), generateName: "gen-" },
  });
});

test("when random numbers repeat, a generated name is a conflict with a retry hint", async () => {
  const { ask } = testServer(undefined, { random: () => 0.5 });
  await ask("POST", MAPS, { body: { metadata: { generateName: "gen-" } } });
  const again = await ask("POST", MAPS, { body: { metadata: { generateName: "gen-" } } });
  expect(again).toMatchObject({
    status: 409,
    body: { reason: "AlreadyExists", details: { retryAfterSeconds: 1 } },
    response: { headers: { "retry-after": "1" } },
  });
});

test("PUT replaces the object, records its manager, and rejects a stale version", async () => {
  const { ask } = testServer();
  const created = await ask("POST", MAPS, { body: { metadata: { name: "a" }, data: { x: "1" } } });
  const version = (created.body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  const put = (metadata: Json, data: Json) => ask("PUT", `${MAPS}/a`, { body: { metadata: { name: "a", ...(metadata as object) }, data } });
  expect((await put({ resourceVersion: version }, { x: "2" })).body).toMatchObject({ data: { x: "2" } });
  expect((await put({ resourceVersion: version }, { x: "3" })).body).toMatchObject({
    code: 409,
    message:
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  });
  expect((await put({}, { x: "4" })).status).toBe(200);
  expect((await put({ resourceVersion: "abc" }, {})).body).toMatchObject({
    code: 500,
    message: 'strconv.ParseUint: parsing "abc": invalid syntax',
  });
  expect((await put({ uid: "other" }, {})).body).toMatchObject({
    code: 409,
    message: expect.stringContaining("Key: /registry/configmaps/default/a"),
  });
});

const refusedPuts: readonly { name: string; url: string; body: Json; want: object }[] = [
  { name: "a missing object", url: `${MAPS}/nope`, body: { metadata: { name: "nope" } }, want: { code: 404 } },
  {
    name: "another name",
    url: `${MAPS}/a`,
    body: { metadata: { name: "b" } },
    want: { message: "the name of the object (b) does not match the name on the URL (a)" },
  },
  {
    name: "no name",
    url: `${MAPS}/a`,
    body: {},
    want: { message: "the name of the object (a based on URL) was undeterminable: name must be provided" },
  },
  { name: "another namespace", url: `${MAPS}/a`, body: { metadata: { name: "a", namespace: "b" } }, want: { code: 400 } },
  { name: "a bad option", url: `${MAPS}/a?dryRun=x`, body: {}, want: { code: 422 } },
  { name: "a bad body", url: `${MAPS}/a`, body: { data: { x: 1 } }, want: { code: 400 } },
];

test.each(refusedPuts)("PUT with $name is an error", async ({ url, body, want }) => {
  const { ask } = testServer();
  await ask("POST", MAPS, { body: { metadata: { name: "a" } } });
  expect((await ask("PUT", url, { body })).body).toMatchObject(want);
});

test("a write without changes keeps the resourceVersion and sends no event", async () => {
  const { ask, server, clock } = testServer();
  const created = await ask("POST", MAPS, { body: { metadata: { name: "a" }, data: { x: "1" } } });
  const before = server.store.revision;
  await clock.advance(5_000);
  const again = await ask("PUT", `${MAPS}/a`, { body: { metadata: { name: "a" }, data: { x: "1" } } });
  expect(again.body).toEqual(created.body);
  expect(server.store.revision).toBe(before);
});

test("some kinds are created by PUT, and then need a resourceVersion for updates", async () => {
  const { ask } = testServer();
  const created = await ask("PUT", `${THINGS}/t`, { body: { metadata: { name: "t" }, spec: { n: 1 } } });
  expect(created).toMatchObject({ status: 201, body: { metadata: { generation: 1 } } });
  const blind = await ask("PUT", `${THINGS}/t`, { body: { metadata: { name: "t" }, spec: { n: 2 } } });
  expect(blind.body).toMatchObject({
    code: 422,
    message: 'things "t" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  });
  const wrongUid = await ask("PUT", `${THINGS}/u`, { body: { metadata: { name: "u", uid: "x" } } });
  expect(wrongUid.body).toMatchObject({ code: 409, message: expect.stringContaining("UID in precondition: x, UID in object meta: ") });
});

test("the generation counts changes of the spec, not of the status, and each subresource changes its own part", async () => {
  const { ask } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t" }, spec: { n: 1 } } });
  const merge = (url: string, body: Json) => ask("PATCH", url, { body, type: "application/merge-patch+json" });
  expect((await merge(`${THINGS}/t`, { spec: { n: 2 }, status: { ready: true } })).body).toMatchObject({
    metadata: { generation: 2 },
    spec: { n: 2 },
  });
  const status = await merge(`${THINGS}/t/status`, { spec: { n: 9 }, status: { ready: true } });
  expect(status.body).toMatchObject({ metadata: { generation: 2 }, spec: { n: 2 }, status: { ready: true } });
  expect(status.body).toMatchObject({
    metadata: { managedFields: expect.arrayContaining([expect.objectContaining({ subresource: "status" })]) },
  });
  expect((await ask("GET", `${THINGS}/t/status`)).status).toBe(200);
  expect((await ask("DELETE", `${THINGS}/t/status`)).status).toBe(405);
});

test("a terminating namespace accepts no new objects", async () => {
  const { ask } = testServer();
  await ask("POST", "/api/v1/namespaces", { body: { metadata: { name: "old" } } });
  const going = await ask("DELETE", "/api/v1/namespaces/old");
  expect(going.body).toMatchObject({
    kind: "Namespace",
    metadata: { deletionTimestamp: expect.any(String) },
    status: { phase: "Terminating" },
  });
  const refused = await ask("POST", "/api/v1/namespaces/old/configmaps", { body: { metadata: { name: "a" } } });
  expect(refused.body).toMatchObject({ code: 403, details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] } });
  const finalized = await ask("PUT", "/api/v1/namespaces/old/finalize", { body: { metadata: { name: "old" }, spec: { finalizers: [] } } });
  expect(finalized.status).toBe(200);
  expect((await ask("GET", "/api/v1/namespaces/old")).status).toBe(404);
  expect((await ask("PUT", "/api/v1/namespaces/old/finalize", { body: { metadata: { name: "old" } } })).status).toBe(404);
});

test("the four initial namespaces exist from the start", async () => {
  const { ask } = testServer();
  const listed = (await ask("GET", "/api/v1/namespaces")).body as { items: readonly { metadata: { name: string } }[] };
  expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
});

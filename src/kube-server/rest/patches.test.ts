import { expect, test } from "vitest";
import type { Json } from "#kube";
import { realServer, type TestServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};

async function withObjects(): Promise<TestServer> {
  const made = realServer();
  await made.ask("POST", MAPS, { body: { metadata: { name: "x" }, data: { a: "1", b: "2" } } });
  await made.ask("POST", DEPLOYMENTS, { body: deployment });
  return made;
}

const applied: readonly { name: string; url: string; type: string; body: Json; want: object }[] = [
  { name: "JSON Patch", url: `${MAPS}/x`, type: JSON_PATCH, body: [{ op: "remove", path: "/data/a" }], want: { data: { b: "2" } } },
  { name: "merge patch", url: `${MAPS}/x`, type: MERGE, body: { data: { a: null, c: "3" } }, want: { data: { b: "2", c: "3" } } },
  {
    name: "strategic merge patch, which merges containers by name",
    url: `${DEPLOYMENTS}/d`,
    type: `${STRATEGIC}; charset=utf-8`,
    body: { spec: { template: { spec: { containers: [{ name: "d", image: "j" }] } } } },
    want: {
      metadata: { generation: 2 },
      spec: {
        template: {
          spec: {
            containers: [
              { name: "d", image: "j" },
              { name: "c", image: "i" },
            ],
          },
        },
      },
    },
  },
];

test.each(applied)("$name is applied", async ({ url, type, body, want }) => {
  const { ask } = await withObjects();
  const patched = await ask("PATCH", url, { type, body });
  expect(patched).toMatchObject({ status: 200, body: want });
  expect((await ask("GET", url)).body).toEqual(patched.body);
});

const refused: readonly { name: string; url?: string; type: string; body: Json | string; want: object }[] = [
  {
    name: "an unknown kind of patch",
    type: "application/json",
    body: {},
    want: { code: 415, message: "415: Unsupported Media Type", details: {} },
  },
  { name: "a missing object", url: `${MAPS}/nope`, type: MERGE, body: {}, want: { code: 404 } },
  {
    name: "force without apply",
    url: `${MAPS}/x?force=true`,
    type: MERGE,
    body: {},
    want: { code: 422, message: expect.stringContaining("may not be specified for non-apply patch") },
  },
  {
    name: "a failed test",
    type: JSON_PATCH,
    body: [{ op: "test", path: "/data/a", value: "9" }],
    want: { code: 422, message: "the server rejected our request due to an error in our request" },
  },
  {
    name: "an object for a list",
    type: JSON_PATCH,
    body: {},
    want: {
      code: 400,
      message: expect.stringContaining("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
    },
  },
  {
    name: "operations that are not JSON",
    type: JSON_PATCH,
    body: "[",
    want: { code: 400, message: "error decoding patch: unexpected end of JSON input" },
  },
  {
    name: "too many operations",
    type: JSON_PATCH,
    body: Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "1" })),
    want: { code: 413 },
  },
  {
    name: "a merge patch that is a list",
    type: MERGE,
    body: [],
    want: { code: 400, message: "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}" },
  },
  { name: "a merge patch that is null", type: MERGE, body: "null", want: { code: 400, message: "Invalid JSON Patch" } },
  {
    name: "a merge patch that is not JSON, with fieldValidation=Ignore",
    url: `${MAPS}/x?fieldValidation=Ignore`,
    type: MERGE,
    body: "{",
    want: { code: 400, message: "Invalid JSON Patch" },
  },
  {
    name: "a strategic patch that is text",
    type: STRATEGIC,
    body: '"s"',
    want: { code: 400, message: "json: cannot unmarshal string into Go value of type map[string]interface {}" },
  },
  { name: "a strategic patch that is not JSON", type: STRATEGIC, body: "{", want: { code: 400, message: "unexpected end of JSON input" } },
  {
    name: "a list without its merge key",
    url: `${DEPLOYMENTS}/d`,
    type: STRATEGIC,
    body: { spec: { template: { spec: { containers: [{ image: "j" }] } } } },
    want: { code: 500 },
  },
  {
    name: "a struct that becomes a list",
    url: `${DEPLOYMENTS}/d`,
    type: STRATEGIC,
    body: { spec: [] },
    want: { code: 422, message: ' "" is invalid: patch: Invalid value: "map[spec:[]]": cannot restore struct from: slice' },
  },
  {
    name: "a map that becomes a list",
    url: `${DEPLOYMENTS}/d`,
    type: STRATEGIC,
    body: { metadata: { labels: ["a"] } },
    want: { message: expect.stringContaining("cannot restore map from slice") },
  },
  {
    name: "a list that becomes a text",
    url: `${DEPLOYMENTS}/d`,
    type: MERGE,
    body: { spec: { template: { spec: { containers: "x" } } } },
    want: { code: 422 },
  },
  {
    name: "a number that becomes a text",
    url: `${DEPLOYMENTS}/d`,
    type: STRATEGIC,
    body: { spec: { replicas: "x" } },
    want: { message: expect.stringContaining("unrecognized type: int32") },
  },
  {
    name: "another kind",
    type: MERGE,
    body: { kind: "Deployment", apiVersion: "apps/v1" },
    want: { code: 422, message: expect.stringContaining("converting (v1.Deployment) to (core.ConfigMap): unknown conversion") },
  },
  {
    name: "an unknown kind",
    type: MERGE,
    body: { kind: "Nope" },
    want: { code: 422, message: expect.stringContaining('no kind \\"Nope\\"'.replaceAll("\\", "")) },
  },
  {
    name: "an unknown field, with fieldValidation=Strict",
    url: `${MAPS}/x?fieldValidation=Strict`,
    type: MERGE,
    body: { zz: 1 },
    want: { code: 422, message: expect.stringContaining('strict decoding error: unknown field "zz"') },
  },
  {
    name: "a duplicate field of an operation, with fieldValidation=Strict",
    url: `${MAPS}/x?fieldValidation=Strict`,
    type: JSON_PATCH,
    body: '[{"op":"add","op":"add","path":"/data/z","value":"1"}]',
    want: { message: expect.stringContaining("json patch duplicate field") },
  },
  { name: "another name", type: MERGE, body: { metadata: { name: "y" } }, want: { code: 400 } },
  {
    name: "an apply without a manager",
    type: APPLY,
    body: {},
    want: { code: 422, message: expect.stringContaining("fieldManager: Required value: is required for apply patch") },
  },
  {
    name: "an apply that is not YAML",
    url: `${MAPS}/x?fieldManager=m`,
    type: APPLY,
    body: "{:",
    want: { code: 400, message: expect.stringContaining("error decoding YAML: error converting YAML to JSON: yaml:") },
  },
  { name: "an apply that is a list", url: `${MAPS}/x?fieldManager=m`, type: APPLY, body: [], want: { code: 400 } },
  {
    name: "an apply that is empty",
    url: `${MAPS}/x?fieldManager=m`,
    type: APPLY,
    body: "",
    want: { code: 400, message: "invalid object type: /, Kind=" },
  },
  {
    name: "an apply with an unknown field",
    url: `${MAPS}/x?fieldManager=m`,
    type: APPLY,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, zz: 1 },
    want: { code: 500, message: expect.stringContaining("failed to create typed patch object") },
  },
  {
    name: "an apply of a field with another owner",
    url: `${MAPS}/x?fieldManager=m`,
    type: APPLY,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { a: "9" } },
    want: { code: 409, details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] } },
  },
  {
    name: "an apply with a uid of a missing object",
    url: `${MAPS}/new?fieldManager=m`,
    type: APPLY,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new", uid: "u" } },
    want: { code: 409, message: expect.stringContaining("uid mismatch: the provided object specified uid u") },
  },
  {
    name: "an apply of the status of a missing object",
    url: `${DEPLOYMENTS}/nope/status?fieldManager=m`,
    type: APPLY,
    body: deployment,
    want: { code: 404 },
  },
];

test.each(refused)("PATCH with $name is an error", async ({ url = `${MAPS}/x`, type, body, want }) => {
  const { ask } = await withObjects();
  expect((await ask("PATCH", url, { type, body })).body).toMatchObject(want);
});

test("of a duplicate field in YAML the last value is applied, with a warning", async () => {
  const { ask } = await withObjects();
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yy\ndata:\n  a: "1"\n  a: "2"\n';
  const warned = await ask("PATCH", `${MAPS}/yy?fieldManager=m`, { type: APPLY, body });
  expect(warned).toMatchObject({ body: { data: { a: "2" } }, response: { warnings: ['line 7: key "a" already set in map'] } });
  const strict = await ask("PATCH", `${MAPS}/yy?fieldManager=m&fieldValidation=Strict`, { type: APPLY, body });
  expect(strict.body).toMatchObject({
    code: 400,
    message: expect.stringContaining("error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors"),
  });
});

test("unknown fields of an operation are reported, and a list of numbers is an error", async () => {
  const { ask } = await withObjects();
  const body = [{ op: "add", path: "/data/q", value: "1", extra: 1 }];
  expect((await ask("PATCH", `${MAPS}/x`, { type: JSON_PATCH, body })).response.warnings).toEqual(['json patch unknown field "[0].extra"']);
  expect((await ask("PATCH", `${MAPS}/x`, { type: JSON_PATCH, body: [1] })).body).toMatchObject({
    message: "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
  });
});

test("unknown fields of a patch are warnings", async () => {
  const { ask } = await withObjects();
  expect((await ask("PATCH", `${MAPS}/x`, { type: MERGE, body: '{"zz":1,"data":{"q":"1","q":"2"}}' })).response.warnings).toEqual([
    'duplicate field "data.q"',
    'unknown field "zz"',
  ]);
});

test("apply creates, re-applies without a change, and takes ownership with force", async () => {
  const { ask, server } = await withObjects();
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "n" }, data: { a: "1" } };
  const url = `${MAPS}/n?fieldManager=m1`;
  const created = await ask("PATCH", url, { type: APPLY, body });
  expect(created).toMatchObject({ status: 201, body: { metadata: { managedFields: [{ manager: "m1", operation: "Apply" }] } } });
  const before = server.store.revision;
  expect((await ask("PATCH", url, { type: APPLY, body })).body).toEqual(created.body);
  expect(server.store.revision).toBe(before);
  const forced = await ask("PATCH", `${MAPS}/n?fieldManager=m2&force=true`, { type: APPLY, body: { ...body, data: { a: "2" } } });
  expect(forced).toMatchObject({ status: 200, body: { data: { a: "2" } } });
  expect(
    (await ask("PATCH", `${MAPS}/n?fieldManager=m2&dryRun=All&force=1`, { type: APPLY, body: { ...body, data: { a: "3" } } })).body,
  ).toMatchObject({ data: { a: "3" } });
  expect((await ask("GET", `${MAPS}/n`)).body).toMatchObject({ data: { a: "2" } });
});

test("of thousands of conflicts the first thousand are listed, and the rest is counted", async () => {
  const { ask } = realServer();
  const data = (value: string) => Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`k${at}`, value]));
  const apply = (manager: string, value: string) =>
    ask("PATCH", `/api/v1/namespaces/default/configmaps/many?fieldManager=${manager}`, {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "many" }, data: data(value) },
      type: "application/apply-patch+yaml",
    });
  await apply("a", "1");
  const { status, body } = await apply("b", "2");
  expect([status, (body as { details: { causes: unknown[] } }).details.causes.length]).toEqual([409, 1_000]);
  expect((body as { message: string }).message).toMatch(/^Apply failed with 1500 conflicts: .*\nand 500 more$/s);
});

test("of thousands of errors the first thousand are listed, and the rest is counted", async () => {
  const { ask } = realServer();
  const finalizers = Array.from({ length: 1_500 }, (_, at) => `bad finalizer ${at}`);
  const { status, body } = await ask("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "many", finalizers } } });
  expect([status, (body as { details: { causes: unknown[] } }).details.causes.length]).toEqual([422, 1_000]);
  expect((body as { message: string }).message).toMatch(/, and \d+ more errors\]$/);
});

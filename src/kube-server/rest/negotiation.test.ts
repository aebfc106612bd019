import { expect, test } from "vitest";
import { negotiate } from "../protocol/media-types.ts";
import { TRANSFORMS } from "../protocol/respond.ts";
import { testServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

const outputs: readonly { name: string; accept: string; want: object }[] = [
  { name: "no Accept header is JSON", accept: "", want: { form: "json", transform: undefined } },
  { name: "anything is JSON", accept: "*/*", want: { form: "json" } },
  { name: "YAML is YAML", accept: "application/yaml", want: { form: "yaml" } },
  { name: "quality decides", accept: "application/yaml;q=0.5,application/json", want: { form: "json" } },
  {
    name: "the first supported clause wins",
    accept: `application/vnd.kubernetes.protobuf,${TABLE},application/json`,
    want: { transform: "Table" },
  },
  {
    name: "an unknown version falls through",
    accept: "application/json;as=Table;g=meta.k8s.io;v=v9,application/json",
    want: { transform: undefined },
  },
  { name: "an old version is kept", accept: "application/json;as=Table;g=meta.k8s.io;v=v1beta1", want: { version: "v1beta1" } },
  { name: "a stream is fine", accept: "application/json;stream=watch", want: { form: "json" } },
];

test.each(outputs)("$name", ({ accept, want }) => {
  expect(negotiate(accept, TRANSFORMS.list, false)).toMatchObject({ ok: true, value: want });
});

const refused: readonly { name: string; accept: string; custom: boolean; want: string }[] = [
  {
    name: "HTML",
    accept: "text/html",
    custom: false,
    want: "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
  },
  {
    name: "an unknown transformation",
    accept: "application/json;as=Nope;g=meta.k8s.io;v=v1",
    custom: true,
    want: "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "another stream",
    accept: "application/json;stream=other",
    custom: false,
    want: "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
];

test.each(refused)("$name is a 406 with the supported types", ({ accept, custom, want }) => {
  expect(negotiate(accept, TRANSFORMS.list, custom)).toMatchObject({ ok: false, error: { code: 406, message: want } });
});

test("a body of an unsupported media type is a 415 with the supported types", async () => {
  const { ask } = testServer();
  const answered = await ask("POST", MAPS, { body: "x", type: "text/plain" });
  expect(answered).toMatchObject({ status: 415, body: { reason: "UnsupportedMediaType" } });
});

test("bodies, responses and errors may be YAML", async () => {
  const { ask } = testServer();
  const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  a: b\n";
  const created = await ask("POST", MAPS, { body, type: "application/yaml", headers: { accept: "application/yaml" } });
  expect(created).toMatchObject({ status: 201, response: { headers: { "content-type": "application/yaml" } } });
  expect(created.body).toContain("kind: ConfigMap");
  const missing = await ask("GET", `${MAPS}/nope`, { headers: { accept: "application/yaml" } });
  expect(missing.body).toContain("reason: NotFound");
  const doubled = "metadata:\n  name: z\ndata:\n  a: b\n  a: c\n";
  expect((await ask("POST", MAPS, { body: doubled, type: "application/yaml" })).response.warnings).toEqual([
    'line 5: key "a" already set in map',
  ]);
  const strict = await ask("POST", `${MAPS}?fieldValidation=Strict`, { body: doubled, type: "application/yaml" });
  expect(strict.body).toMatchObject({
    message: expect.stringContaining('strict decoding error: yaml: unmarshal errors:\n  line 5: key "a" already set'),
  });
  const quoted = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: q}\nfirst: 5" wide\nsecond: 1\n';
  expect((await ask("POST", MAPS, { body: quoted, type: "application/yaml" })).response.warnings).toEqual([
    'unknown field "first"',
    'unknown field "second"',
  ]);
  expect((await ask("POST", MAPS, { body: "a: [", type: "application/yaml" })).body).toMatchObject({
    message: expect.stringContaining("the object provided is unrecognized (must be of type ConfigMap): yaml: line"),
  });
});

test("a table has columns, rows and the metadata of its objects", async () => {
  const { ask } = testServer();
  await ask("POST", MAPS, { body: { metadata: { name: "a" } } });
  const one = await ask("GET", `${MAPS}/a`, { headers: { accept: TABLE } });
  expect(one.body).toMatchObject({
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    columnDefinitions: [{ name: "Name" }],
    rows: [{ cells: ["a"], object: { kind: "PartialObjectMetadata", metadata: { name: "a" } } }],
  });
  const none = await ask("GET", `${MAPS}?includeObject=None`, { headers: { accept: TABLE } });
  expect(none.body).toMatchObject({ kind: "Table", rows: [{ cells: ["a"], object: null }] });
  const whole = await ask("GET", `${MAPS}?includeObject=Object`, { headers: { accept: TABLE } });
  expect(whole.body).toMatchObject({ rows: [{ object: { kind: "ConfigMap" } }] });
  for (const url of [`${MAPS}?includeObject=Nope`, `${MAPS}/a?includeObject=Nope`, `${MAPS}?watch=1&includeObject=Nope`]) {
    expect(await ask("GET", url, { headers: { accept: TABLE } })).toMatchObject({ status: 400 });
  }
});

test("PartialObjectMetadata of an object and of a list", async () => {
  const { ask } = testServer();
  await ask("POST", MAPS, { body: { metadata: { name: "a" }, data: { x: "1" } } });
  const one = await ask("GET", `${MAPS}/a`, { headers: { accept: PARTIAL } });
  expect(one.body).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
  expect(one.body).not.toHaveProperty("data");
  const many = await ask("GET", MAPS, { headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" } });
  expect(many.body).toMatchObject({ kind: "PartialObjectMetadataList", items: [{ kind: "PartialObjectMetadata" }] });
  expect((await ask("GET", MAPS, { headers: { accept: PARTIAL } })).body).toMatchObject({
    code: 406,
    message: "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
  });
  const list = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };
  expect((await ask("GET", `${MAPS}/a`, { headers: list })).body).toMatchObject({
    message: "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
  });
});

test("curl gets line breaks, other clients do not", async () => {
  const { ask } = testServer();
  const pretty = async (url: string, agent: string) => (await ask("GET", url, { headers: { "user-agent": agent } })).response.body;
  expect(await pretty(MAPS, "curl/8")).toMatchObject({ pretty: true });
  expect(await pretty(`${MAPS}?pretty=false`, "curl/8")).toMatchObject({ pretty: false });
  expect(await pretty(`${MAPS}?pretty=1`, "kubectl")).toMatchObject({ pretty: true });
});

import { expect, test } from "vitest";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import { testServer, type TestServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

type List = {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: readonly { metadata: { name: string } }[];
};

async function withMaps(names: readonly string[]): Promise<TestServer> {
  const made = testServer();
  for (const [index, name] of names.entries()) {
    await made.ask("POST", MAPS, { body: { metadata: { name, labels: { even: String(index % 2 === 0) } } } });
  }
  return made;
}

const namesOf = (body: unknown) => (body as List).items.map(({ metadata }) => metadata.name);

test("items of a built-in list have no kind, the list has one", async () => {
  const { ask } = await withMaps(["a"]);
  const listed = await ask("GET", MAPS);
  expect(listed.body).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1", items: [{ metadata: { name: "a" } }] });
  expect((listed.body as { items: object[] }).items[0]).not.toHaveProperty("kind");
});

test("a namespace that does not exist has an empty list", async () => {
  const { ask } = testServer();
  expect(await ask("GET", "/api/v1/namespaces/nope/configmaps")).toMatchObject({ status: 200, body: { items: [] } });
});

test("a list may span all namespaces", async () => {
  const { ask } = await withMaps(["a"]);
  await ask("POST", "/api/v1/namespaces/kube-public/configmaps", { body: { metadata: { name: "b" } } });
  expect(namesOf((await ask("GET", "/api/v1/configmaps?fieldSelector=metadata.namespace!%3Dkube-system")).body)).toEqual(["a", "b"]);
  expect(namesOf((await ask("GET", "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dkube-public")).body)).toEqual(["b"]);
});

const selectors: readonly { name: string; query: string; want: readonly string[] }[] = [
  { name: "a label", query: "labelSelector=even%3Dtrue", want: ["a", "c"] },
  { name: "a set of labels", query: "labelSelector=even in (true,false)", want: ["a", "b", "c"] },
  { name: "a name", query: "fieldSelector=metadata.name%3Db", want: ["b"] },
  { name: "all but a name", query: "fieldSelector=metadata.name!%3Db", want: ["a", "c"] },
  { name: "both", query: "labelSelector=even%3Dtrue&fieldSelector=metadata.name%3D%3Db", want: [] },
  { name: "empty selectors", query: "labelSelector=&fieldSelector=", want: ["a", "b", "c"] },
];

test.each(selectors)("a list can be filtered by $name", async ({ query, want }) => {
  const { ask } = await withMaps(["a", "b", "c"]);
  expect(namesOf((await ask("GET", `${MAPS}?${query}`)).body)).toEqual(want);
});

test("a kind's own fields can be selected", async () => {
  const { ask } = testServer();
  const url = "/api/v1/namespaces/default/things";
  await ask("POST", url, { body: { metadata: { name: "r" }, spec: { colour: "red" } } });
  await ask("POST", url, { body: { metadata: { name: "b" }, spec: { colour: "blue" } } });
  expect(namesOf((await ask("GET", `${url}?fieldSelector=spec.colour%3Dred`)).body)).toEqual(["r"]);
  expect((await ask("GET", `${url}?fieldSelector=spec.x%3D1`)).body).toMatchObject({ message: "field label not supported: spec.x" });
});

test("all pages show the revision of the first: later writes do not change them", async () => {
  const { ask } = await withMaps(["a", "b", "c", "d", "e"]);
  const first = (await ask("GET", `${MAPS}?limit=2`)).body as List;
  expect(namesOf(first)).toEqual(["a", "b"]);
  expect(first.metadata.remainingItemCount).toBe(3);
  await ask("POST", MAPS, { body: { metadata: { name: "bb" } } });
  await ask("DELETE", `${MAPS}/c`);
  const second = (await ask("GET", `${MAPS}?limit=2&continue=${first.metadata.continue}`)).body as List;
  expect(namesOf(second)).toEqual(["c", "d"]);
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  const third = (await ask("GET", `${MAPS}?limit=2&continue=${second.metadata.continue}`)).body as List;
  expect(namesOf(third)).toEqual(["e"]);
  expect(third.metadata.continue).toBeUndefined();
});

test("with a selector a page is filled with matching objects, without remainingItemCount", async () => {
  const { ask } = await withMaps(["a", "b", "c", "d", "e"]);
  const first = (await ask("GET", `${MAPS}?limit=2&labelSelector=even%3Dtrue`)).body as List;
  expect(namesOf(first)).toEqual(["a", "c"]);
  expect(first.metadata.remainingItemCount).toBeUndefined();
  expect(namesOf((await ask("GET", `${MAPS}?limit=2&labelSelector=even%3Dtrue&continue=${first.metadata.continue}`)).body)).toEqual(["e"]);
});

test("resourceVersion=0 ignores the limit", async () => {
  const { ask } = await withMaps(["a", "b", "c"]);
  expect(namesOf((await ask("GET", `${MAPS}?limit=1&resourceVersion=0`)).body)).toEqual(["a", "b", "c"]);
});

test("resourceVersionMatch=Exact returns that revision", async () => {
  const { ask } = await withMaps(["a"]);
  const before = ((await ask("GET", MAPS)).body as List).metadata.resourceVersion;
  await ask("POST", MAPS, { body: { metadata: { name: "b" } } });
  expect(namesOf((await ask("GET", `${MAPS}?resourceVersion=${before}&resourceVersionMatch=Exact`)).body)).toEqual(["a"]);
  expect(namesOf((await ask("GET", `${MAPS}?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`)).body)).toEqual(["a", "b"]);
});

test("a page of a compacted revision is a 410 with a token that continues at the current revision", async () => {
  const { ask, server } = await withMaps(["a", "b", "c"]);
  const first = (await ask("GET", `${MAPS}?limit=1`)).body as List;
  await ask("DELETE", `${MAPS}/b`);
  server.store.compact(server.store.revision);
  const gone = await ask("GET", `${MAPS}?limit=1&continue=${first.metadata.continue}`);
  expect(gone).toMatchObject({
    status: 410,
    body: { reason: "Expired", message: expect.stringContaining("continue parameter is too old") },
  });
  const { metadata } = gone.body as { metadata: { continue: string } };
  expect(namesOf((await ask("GET", `${MAPS}?limit=5&continue=${metadata.continue}`)).body)).toEqual(["c"]);
  const old = await ask("GET", `${MAPS}?resourceVersion=1&resourceVersionMatch=Exact`);
  expect(old).toMatchObject({ status: 410, body: { reason: "Expired" } });
});

const refused: readonly { query: string; want: object }[] = [
  { query: "limit=x", want: { code: 400, message: 'strconv.ParseInt: parsing "x": invalid syntax' } },
  { query: "timeoutSeconds=x", want: { code: 400 } },
  { query: "labelSelector=a b", want: { code: 400 } },
  { query: "fieldSelector=abc", want: { code: 400, message: "invalid selector: 'abc'; can't understand 'abc'" } },
  { query: "fieldSelector=a%3Db%3Dc", want: { code: 400 } },
  {
    query: "fieldSelector=spec.x%3D1",
    want: { message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"' },
  },
  {
    query: "resourceVersion=abc",
    want: { code: 400, message: expect.stringContaining('strconv.ParseUint: parsing "abc": invalid syntax') },
  },
  { query: "resourceVersion=99999999", want: { code: 504, reason: "Timeout", details: { retryAfterSeconds: 1 } } },
  { query: "resourceVersion=99999999&resourceVersionMatch=Exact", want: { code: 504 } },
  { query: "resourceVersionMatch=Exact", want: { code: 422, details: { causes: [{ reason: "FieldValueForbidden" }] } } },
  {
    query: "resourceVersionMatch=Nope&resourceVersion=1",
    want: { code: 422, details: { causes: [{ reason: "FieldValueNotSupported" }] } },
  },
  { query: "resourceVersionMatch=Exact&resourceVersion=0", want: { code: 422 } },
  { query: "resourceVersionMatch=Exact&resourceVersion=1&continue=x", want: { code: 422 } },
  { query: "sendInitialEvents=true", want: { code: 422, message: expect.stringContaining("sendInitialEvents is forbidden for list") } },
  { query: "continue=abc", want: { code: 400, message: expect.stringContaining("invalid continue token: continue key is not valid") } },
  { query: "continue=%25", want: { code: 400 } },
  {
    query: `continue=${encodeContinue({ revision: 5, after: "a" })}&resourceVersion=5`,
    want: { message: "specifying resource version is not allowed when using continue" },
  },
  { query: "watch=1&sendInitialEvents=true", want: { code: 422 } },
  { query: "watch=1&resourceVersionMatch=Exact&resourceVersion=1", want: { code: 422, details: { causes: [{}, {}] } } },
  { query: "watch=1&continue=x", want: { code: 422 } },
  { query: "watch=1&resourceVersion=x", want: { code: 500 } },
];

test.each(refused)("?$query is an error", async ({ query, want }) => {
  const { ask } = await withMaps([]);
  expect((await ask("GET", `${MAPS}?${query}`)).body).toMatchObject(want);
});

test("an invalid continue token is an error", () => {
  const token = (value: unknown) => btoa(JSON.stringify(value));
  for (const made of [
    token({ v: "other", rv: 1, start: "a" }),
    token({ v: "meta.k8s.io/v1", rv: 0, start: "a" }),
    token({ v: "meta.k8s.io/v1", rv: 1 }),
  ]) {
    expect(decodeContinue(made)).toMatchObject({ ok: false });
  }
  expect(decodeContinue(encodeContinue({ revision: 7, after: "ns/ä" }))).toEqual({ ok: true, value: { revision: 7, after: "ns/ä" } });
});

const gets: readonly { url: string; want: object }[] = [
  { url: `${MAPS}/nope`, want: { code: 404, message: 'configmaps "nope" not found', details: { name: "nope", kind: "configmaps" } } },
  { url: `${MAPS}/a?resourceVersion=x`, want: { code: 500 } },
  { url: `${MAPS}/a?resourceVersion=99999`, want: { code: 504 } },
  { url: "/api/v1/nope", want: { code: 404, message: "the server could not find the requested resource", details: {} } },
  { url: "/api/v9/configmaps", want: { code: 404 } },
  { url: "/api/v1/configmaps/a", want: { code: 404 } },
  { url: `${MAPS}/a/nope`, want: { code: 404 } },
];

test.each(gets)("GET $url is the error of a real server", async ({ url, want }) => {
  const { ask } = await withMaps(["a"]);
  expect((await ask("GET", url)).body).toMatchObject(want);
});

test.each([
  { method: "PUT", url: MAPS },
  { method: "PATCH", url: MAPS },
  { method: "POST", url: `${MAPS}/a` },
  { method: "POST", url: "/api/v1/configmaps" },
  { method: "DELETE", url: "/api/v1/configmaps" },
  { method: "HEAD", url: MAPS },
  { method: "OPTIONS", url: MAPS },
])("$method $url is not allowed", async ({ method, url }) => {
  const { ask } = testServer();
  expect(await ask(method, url)).toMatchObject({ status: 405, body: { reason: "MethodNotAllowed", details: {} } });
});

test.each(["/foo", "/apis/nope.example.com/v1/things", "/apix"])("%s is the plain 404 page", async (url) => {
  const { ask } = testServer();
  expect(await ask("GET", url)).toMatchObject({ status: 404, body: "404 page not found\n" });
});

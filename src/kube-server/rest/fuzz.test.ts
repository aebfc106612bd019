import fc from "fast-check";
import { expect, test } from "vitest";
import { realServer } from "./server.test-support.ts";

const { server } = realServer();
const SEGMENTS = [
  "api",
  "apis",
  "v1",
  "apps",
  "namespaces",
  "default",
  "configmaps",
  "pods",
  "deployments",
  "a",
  "status",
  "scale",
  "watch",
  "%2e",
  "__proto__",
  "constructor",
  "",
  "openapi",
  "v3",
];
const path = fc
  .array(fc.oneof(fc.constantFrom(...SEGMENTS), fc.string({ maxLength: 8 })), { maxLength: 8 })
  .map((parts) => `/${parts.join("/")}`);
const known = fc.constantFrom(
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/configmaps/a",
  "/api/v1/namespaces/default/pods",
  "/apis/apps/v1/namespaces/default/deployments/d/scale",
  "/api/v1/namespaces/default/pods/p/eviction",
);
const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "BREW");
const type = fc.constantFrom(
  "application/json",
  "application/yaml",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/vnd.kubernetes.protobuf",
  "x/y",
  ";;;",
);
const value = fc.jsonValue({ maxDepth: 4 });
const object = fc.record(
  {
    apiVersion: fc.oneof(fc.constant("v1"), value),
    kind: fc.oneof(fc.constant("ConfigMap"), value),
    metadata: fc.oneof(fc.record({ name: fc.oneof(fc.constant("a"), value), labels: value, finalizers: value }), value),
    data: value,
    spec: value,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.string(),
  object.map((made) => JSON.stringify(made)),
  value.map((made) => JSON.stringify(made)),
  fc.constant('{"__proto__":{"x":1},"metadata":{"name":"a","labels":{"constructor":"b"}}}'),
  fc.uint8Array(),
);
const NAMES = [
  "limit",
  "continue",
  "labelSelector",
  "fieldSelector",
  "resourceVersion",
  "watch",
  "timeoutSeconds",
  "fieldManager",
  "dryRun",
  "force",
  "fieldValidation",
  "propagationPolicy",
  "gracePeriodSeconds",
  "pretty",
  "includeObject",
];
const query = fc.array(
  fc.tuple(
    fc.constantFrom(...NAMES),
    fc.oneof(fc.constantFrom("", "1", "0", "All", "Strict", "a=b", "Orphan"), fc.string({ maxLength: 6 })),
  ),
  { maxLength: 4 },
);
const accept = fc.oneof(
  fc.constantFrom("", "*/*", "application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=;q=x"),
  fc.string({ maxLength: 12 }),
);

/** The 500s of a real server. */
const KNOWN_500 =
  /resourceVersion should not be set|strconv\.ParseUint|failed to create typed|does not contain declared merge key|unknown patch type|failed to decode managed fields|order in patch list|expected a|map: map|unable to find api field|element at|cannot unmarshal|illegal base64|parsing time|quantities must match|unable to determine kind and namespace from url/;

test("no request crashes the server, and no response is a 500 that a real server would not send", async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      fc.oneof(path, known),
      query,
      fc.tuple(type, accept, body),
      async (how, where, asked, [contentType, wanted, sent]) => {
        const ended = new AbortController();
        const answered = await server.handle(
          {
            method: how,
            path: where,
            query: new URLSearchParams(asked),
            headers: { "content-type": contentType, accept: wanted, "user-agent": "fuzz/1" },
            body: sent,
            user: { name: "f", uid: "", groups: [] },
          },
          ended.signal,
        );
        ended.abort();
        expect(answered.status).toBeGreaterThanOrEqual(200);
        if (answered.status === 500) expect(JSON.stringify(answered.body)).toMatch(KNOWN_500);
      },
    ),
    { numRuns: 1_500 },
  );
});

test("names of prototype properties are ordinary names", async () => {
  const { ask } = realServer();
  const maps = "/api/v1/namespaces/default/configmaps";
  const created = await ask("POST", maps, {
    body: '{"metadata":{"name":"a","labels":{"constructor":"b"}},"data":{"__proto__":"x","toString":"y"}}',
  });
  expect(created.status).toBe(201);
  expect(JSON.stringify(created.body)).toContain('"__proto__":"x"');
  expect((await ask("GET", `${maps}?labelSelector=constructor%3Db`)).body).toMatchObject({ items: [{ metadata: { name: "a" } }] });
  expect((await ask("GET", `${maps}?labelSelector=toString`)).body).toMatchObject({ items: [] });
});

import { expect, test } from "vitest";
import type { Json } from "#kube";
import { realServer, testServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const THINGS = "/api/v1/namespaces/default/things";
const PODS = "/api/v1/namespaces/default/pods";

test("an object without finalizers is removed at once; the response is a Status or the object, depending on the kind", async () => {
  const { ask } = testServer();
  const created = await ask("POST", MAPS, { body: { metadata: { name: "a" } } });
  const { uid } = (created.body as { metadata: { uid: string } }).metadata;
  expect((await ask("DELETE", `${MAPS}/a`)).body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", kind: "configmaps", uid },
  });
  expect((await ask("GET", `${MAPS}/a`)).status).toBe(404);
  await ask("POST", THINGS, { body: { metadata: { name: "t" } } });
  expect((await ask("DELETE", `${THINGS}/t?propagationPolicy=Background`)).body).toMatchObject({ kind: "Thing", metadata: { name: "t" } });
});

test("an object is kept until its last finalizer is removed", async () => {
  const { ask } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t", finalizers: ["e.com/f"] } } });
  const first = await ask("DELETE", `${THINGS}/t?propagationPolicy=Background`);
  expect(first.body).toMatchObject({
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, generation: 2, finalizers: ["e.com/f"] },
  });
  expect((await ask("DELETE", `${THINGS}/t?propagationPolicy=Background`)).body).toEqual(first.body);
  expect((await ask("POST", THINGS, { body: { metadata: { name: "t" } } })).body).toMatchObject({
    message: 'object is being deleted: things "t" already exists',
  });
  const last = await ask("PATCH", `${THINGS}/t`, { body: { metadata: { finalizers: null } }, type: "application/merge-patch+json" });
  expect(last.status).toBe(200);
  expect((await ask("GET", `${THINGS}/t`)).status).toBe(404);
});

const policies: readonly { name: string; options: Json; want: readonly string[]; status?: number }[] = [
  { name: "Orphan", options: { propagationPolicy: "Orphan" }, want: ["orphan"] },
  { name: "Foreground", options: { propagationPolicy: "Foreground" }, want: ["foregroundDeletion"] },
  { name: "orphanDependents", options: { orphanDependents: true }, want: ["orphan"] },
  { name: "the default of the kind", options: {}, want: ["orphan"] },
];

test.each(policies)("$name becomes a finalizer for the garbage collector", async ({ options, want }) => {
  const { ask } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t" } } });
  expect((await ask("DELETE", `${THINGS}/t`, { body: options })).body).toMatchObject({
    metadata: { finalizers: want, deletionTimestamp: expect.any(String) },
  });
  const again = await ask("DELETE", `${THINGS}/t`, { body: {} });
  expect(again.body).toMatchObject({ metadata: { finalizers: want } });
});

test("a later policy replaces an earlier one; orphanDependents=false is accepted without effect", async () => {
  const { ask } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t", finalizers: ["e.com/f"] } } });
  await ask("DELETE", `${THINGS}/t?propagationPolicy=Orphan`);
  const second = await ask("DELETE", `${THINGS}/t?orphanDependents=false`);
  expect(second).toMatchObject({ status: 202, body: { metadata: { finalizers: ["e.com/f"] } } });
});

const refused: readonly { name: string; url: string; body?: Json | string; type?: string; want: object }[] = [
  { name: "a missing object", url: `${MAPS}/nope`, want: { code: 404 } },
  {
    name: "an unknown policy",
    url: `${MAPS}/a?propagationPolicy=X`,
    want: { code: 422, message: expect.stringContaining('supported values: "Foreground", "Background", "Orphan", "nil"') },
  },
  {
    name: "two policies",
    url: `${MAPS}/a`,
    body: { propagationPolicy: "Orphan", orphanDependents: true },
    want: { code: 422, message: expect.stringContaining("cannot be both set") },
  },
  { name: "a grace period that is no number", url: `${MAPS}/a?gracePeriodSeconds=x`, want: { code: 400 } },
  { name: "an unknown dry run", url: `${MAPS}/a`, body: { dryRun: ["x"] }, want: { code: 422 } },
  {
    name: "another kind of options",
    url: `${MAPS}/a`,
    body: { kind: "X" },
    want: { code: 400, message: 'no kind "X" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"' },
  },
  {
    name: "options that are not JSON",
    url: `${MAPS}/a`,
    body: "{",
    want: { code: 400, message: "couldn't get version/kind; json parse error: unexpected end of JSON input" },
  },
  { name: "options of an unknown media type", url: `${MAPS}/a`, body: "x", type: "text/plain", want: { code: 415 } },
  {
    name: "another uid",
    url: `${MAPS}/a`,
    body: { preconditions: { uid: "u" } },
    want: {
      code: 409,
      message: expect.stringContaining('Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (u)'),
    },
  },
  {
    name: "another version",
    url: `${MAPS}/a`,
    body: { preconditions: { resourceVersion: "1" } },
    want: { code: 409, message: expect.stringContaining("the ResourceVersion in the precondition (1)") },
  },
  { name: "a bad selector", url: `${MAPS}?labelSelector=a b`, want: { code: 400 } },
  { name: "bad options of a collection", url: `${MAPS}?propagationPolicy=X`, want: { code: 422 } },
  { name: "a future resourceVersion", url: `${MAPS}?resourceVersion=99999`, want: { code: 504 } },
];

test.each(refused)("DELETE with $name is an error", async ({ url, body, type, want }) => {
  const { ask } = testServer();
  await ask("POST", MAPS, { body: { metadata: { name: "a" } } });
  expect((await ask("DELETE", url, { body, ...(type === undefined ? {} : { type }) })).body).toMatchObject(want);
});

test("options may be YAML", async () => {
  const { ask } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t" } } });
  expect((await ask("DELETE", `${THINGS}/t`, { body: "propagationPolicy: Foreground\n", type: "application/yaml" })).body).toMatchObject({
    metadata: { finalizers: ["foregroundDeletion"] },
  });
});

test("a dry run deletes nothing", async () => {
  const { ask, server } = testServer();
  await ask("POST", THINGS, { body: { metadata: { name: "t" } } });
  const before = server.store.revision;
  expect((await ask("DELETE", `${THINGS}/t?dryRun=All`)).body).toMatchObject({ metadata: { finalizers: ["orphan"] } });
  expect((await ask("DELETE", `${THINGS}/t?dryRun=All&propagationPolicy=Background`)).status).toBe(200);
  expect(server.store.revision).toBe(before);
});

test("a collection is deleted by selector, and the response lists the deleted objects", async () => {
  const { ask } = testServer();
  for (const [name, g] of [
    ["a", "x"],
    ["b", "y"],
    ["c", "x"],
  ] as const)
    await ask("POST", MAPS, { body: { metadata: { name, labels: { g } } } });
  const deleted = await ask("DELETE", `${MAPS}?labelSelector=g%3Dx`);
  expect(deleted.body).toMatchObject({ kind: "ConfigMapList", items: [{ metadata: { name: "a" } }, { metadata: { name: "c" } }] });
  expect((await ask("GET", MAPS)).body).toMatchObject({ items: [{ metadata: { name: "b" } }] });
});

const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } });

test("a pod without a node is removed at once; one with a node has a grace period, which can only be shortened", async () => {
  const { ask, clock } = realServer();
  await ask("POST", PODS, { body: pod("a") });
  expect((await ask("DELETE", `${PODS}/a`)).body).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 0 } });
  expect((await ask("GET", `${PODS}/a`)).status).toBe(404);
  await ask("POST", PODS, { body: pod("b", { nodeName: "n1", terminationGracePeriodSeconds: 30 }) });
  expect((await ask("DELETE", `${PODS}/b`)).body).toMatchObject({
    metadata: { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30, generation: 2 },
  });
  expect((await ask("DELETE", `${PODS}/b?gracePeriodSeconds=60`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
  await clock.advance(1_000);
  expect((await ask("DELETE", `${PODS}/b?gracePeriodSeconds=10`)).body).toMatchObject({
    metadata: { deletionTimestamp: "2026-01-01T00:00:10Z", deletionGracePeriodSeconds: 10 },
  });
  expect((await ask("DELETE", `${PODS}/b?gracePeriodSeconds=0`)).status).toBe(200);
  expect((await ask("GET", `${PODS}/b`)).status).toBe(404);
});

test("deleting a job without a propagation policy warns about its pods", async () => {
  const { ask } = realServer();
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  await ask("POST", jobs, { body: { metadata: { name: "j" }, spec: { template } } });
  expect((await ask("DELETE", `${jobs}/j`)).response.warnings).toEqual([expect.stringContaining("child pods are preserved by default")]);
});

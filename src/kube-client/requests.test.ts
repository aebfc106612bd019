/** The exact request of every call. */
import { describe, expect, test } from "vitest";
import { FakeClock } from "#base";
import { defineResource, metadataOf, type KubeObject } from "#kube";
import { createKubeClient } from "./client.ts";
import { inProcessTransport } from "./in-process.ts";
import type { ClientResult, KubeClient } from "./ports.ts";
import type { TransportRequest } from "./transport.ts";

const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const deployments = defineResource({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true });
const nodes = defineResource({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };
const deployment: KubeObject = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d", namespace: "ns" } };
const key = { namespace: "ns", name: "a" };

async function requestsOf(call: (client: KubeClient) => Promise<unknown>): Promise<TransportRequest[]> {
  const seen: TransportRequest[] = [];
  const transport = inProcessTransport((request) => {
    seen.push(request);
    return Promise.resolve({ code: 404, headers: {}, body: nothing() });
  });
  await call(createKubeClient({ transport, clock: new FakeClock(), random: () => 0 }));
  return seen;
}

async function* nothing() {}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) void item;
}

const accept = "application/json";
const write = "application/json";

describe("the request of every verb", () => {
  const rows: { name: string; given: (client: KubeClient) => Promise<unknown>; want: string; type?: string; body?: unknown }[] = [
    { name: "get", given: (c) => c.get(configMaps, key), want: "GET /api/v1/namespaces/ns/configmaps/a" },
    { name: "get in a group", given: (c) => c.get(deployments, key), want: "GET /apis/apps/v1/namespaces/ns/deployments/a" },
    { name: "get of a cluster-scoped kind", given: (c) => c.get(nodes, { name: "n" }), want: "GET /api/v1/nodes/n" },
    { name: "list in all namespaces", given: (c) => c.list(configMaps), want: "GET /api/v1/configmaps" },
    {
      name: "list a page",
      given: (c) =>
        c.list(configMaps, {
          namespace: "ns",
          labelSelector: "a=b,c in (d,e)",
          fieldSelector: "metadata.name=x",
          limit: 500,
          continue: "abc==",
          resourceVersion: "7",
        }),
      want: "GET /api/v1/namespaces/ns/configmaps?labelSelector=a%3Db%2Cc%20in%20(d%2Ce)&fieldSelector=metadata.name%3Dx&limit=500&continue=abc%3D%3D&resourceVersion=7",
    },
    { name: "list with an empty selector", given: (c) => c.list(nodes, { labelSelector: "" }), want: "GET /api/v1/nodes" },
    {
      name: "watch",
      given: (c) =>
        drain(c.watch(configMaps, { namespace: "ns", resourceVersion: "5", timeoutSeconds: 300 }, new AbortController().signal)),
      want: "GET /api/v1/namespaces/ns/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
    },
    {
      name: "watch by selector",
      given: (c) => drain(c.watch(nodes, { labelSelector: "a", fieldSelector: "b=c" }, new AbortController().signal)),
      want: "GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&labelSelector=a&fieldSelector=b%3Dc",
    },
    {
      name: "create",
      given: (c) => c.create(configMaps, object),
      want: "POST /api/v1/namespaces/ns/configmaps?fieldValidation=Warn",
      type: write,
      body: object,
    },
    {
      name: "create as a field manager",
      given: (c) => c.create(configMaps, object, { fieldManager: "lattice" }),
      want: "POST /api/v1/namespaces/ns/configmaps?fieldManager=lattice&fieldValidation=Warn",
      type: write,
      body: object,
    },
    {
      name: "update",
      given: (c) => c.update(configMaps, object, { fieldManager: "m" }),
      want: "PUT /api/v1/namespaces/ns/configmaps/a?fieldManager=m&fieldValidation=Warn",
      type: write,
      body: object,
    },
    {
      name: "update a status",
      given: (c) => c.update(deployments, deployment, { subresource: "status" }),
      want: "PUT /apis/apps/v1/namespaces/ns/deployments/d/status?fieldValidation=Warn",
      type: write,
      body: deployment,
    },
    {
      name: "apply",
      given: (c) => c.apply(configMaps, object, { fieldManager: "lattice" }),
      want: "PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=lattice&fieldValidation=Warn",
      type: "application/apply-patch+yaml",
      body: object,
    },
    {
      name: "apply with everything",
      given: (c) => c.apply(deployments, deployment, { fieldManager: "a b", force: true, dryRun: true, subresource: "status" }),
      want: "PATCH /apis/apps/v1/namespaces/ns/deployments/d/status?fieldManager=a%20b&force=true&dryRun=All&fieldValidation=Warn",
      type: "application/apply-patch+yaml",
      body: deployment,
    },
    {
      name: "JSON patch",
      given: (c) => c.patch(configMaps, key, { type: "json", operations: [{ op: "remove", path: "/data" }] }),
      want: "PATCH /api/v1/namespaces/ns/configmaps/a?fieldValidation=Warn",
      type: "application/json-patch+json",
      body: [{ op: "remove", path: "/data" }],
    },
    {
      name: "merge patch",
      given: (c) => c.patch(configMaps, key, { type: "merge", patch: { data: null } }, { fieldManager: "m", dryRun: true }),
      want: "PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=m&dryRun=All&fieldValidation=Warn",
      type: "application/merge-patch+json",
      body: { data: null },
    },
    {
      name: "strategic merge patch of a scale",
      given: (c) => c.patch(deployments, key, { type: "strategic", patch: { spec: { replicas: 2 } } }, { subresource: "scale" }),
      want: "PATCH /apis/apps/v1/namespaces/ns/deployments/a/scale?fieldValidation=Warn",
      type: "application/strategic-merge-patch+json",
      body: { spec: { replicas: 2 } },
    },
    {
      name: "delete",
      given: (c) => c.delete(configMaps, key),
      want: "DELETE /api/v1/namespaces/ns/configmaps/a",
      type: write,
      body: { apiVersion: "v1", kind: "DeleteOptions" },
    },
    {
      name: "delete with preconditions",
      given: (c) => c.delete(configMaps, key, { propagation: "Foreground", preconditions: { uid: "u", resourceVersion: "3" } }),
      want: "DELETE /api/v1/namespaces/ns/configmaps/a",
      type: write,
      body: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Foreground",
        preconditions: { uid: "u", resourceVersion: "3" },
      },
    },
    {
      name: "delete at once",
      given: (c) => c.delete(configMaps, key, { gracePeriodSeconds: 0 }),
      want: "DELETE /api/v1/namespaces/ns/configmaps/a",
      type: write,
      body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 },
    },
    {
      name: "finalize a namespace",
      given: (c) => c.update(nodes, { ...object, metadata: { name: "n" } }, { subresource: "finalize" }),
      want: "PUT /api/v1/nodes/n/finalize?fieldValidation=Warn",
      type: write,
      body: { ...object, metadata: { name: "n" } },
    },
  ];
  test.each(rows)("$name", async ({ given, want, type, body }) => {
    const requests = await requestsOf(given);
    expect(requests.map((request) => `${request.method} ${request.path}`)).toEqual([want]);
    expect(requests[0]?.headers).toEqual(type === undefined ? { accept } : { accept, "content-type": type });
    expect(requests[0]?.body === undefined ? undefined : JSON.parse(requests[0].body)).toEqual(body);
  });

  const metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  test.each([
    { name: "get", given: (c: KubeClient) => c.get(metadataOf(configMaps), key), want: metadata },
    { name: "list", given: (c: KubeClient) => c.list(metadataOf(configMaps)), want: metadataList },
    { name: "watch", given: (c: KubeClient) => drain(c.watch(metadataOf(configMaps), {}, new AbortController().signal)), want: metadata },
  ])("metadata alone is requested with another Accept: $name", async ({ given, want }) => {
    expect((await requestsOf(given))[0]?.headers).toEqual({ accept: want });
  });

  const written = { ...object, metadata: { ...key } };
  test.each([
    { name: "create", given: (c: KubeClient) => c.create(metadataOf(configMaps), written) },
    { name: "update", given: (c: KubeClient) => c.update(metadataOf(configMaps), written) },
    { name: "patch", given: (c: KubeClient) => c.patch(metadataOf(configMaps), key, { type: "merge", patch: {} }) },
  ])("metadata alone is requested as the answer to a write: $name", async ({ given }) => {
    expect((await requestsOf(given))[0]?.headers["accept"]).toBe(metadata);
  });

  test("a collection is deleted in one namespace, and only metadata is returned", async () => {
    const query = { namespace: "ns", labelSelector: "a=b" };
    const [request] = await requestsOf((client) => client.deleteCollection(configMaps, query, { propagation: "Background" }));
    expect(request).toMatchObject({
      method: "DELETE",
      path: "/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db",
      headers: { accept: metadataList },
      body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" }),
    });
    expect((await requestsOf((client) => client.deleteCollection(nodes, {})))[0]?.path).toBe("/api/v1/nodes");
  });

  test("raw returns any body", async () => {
    const [request] = await requestsOf((client) => client.raw("/openapi/v3?hash=1"));
    expect(request).toEqual({ method: "GET", path: "/openapi/v3?hash=1", headers: { accept: "application/json, text/plain, */*" } });
  });
});

describe("ambiguous names are refused and not sent", () => {
  const rows: { name: string; given: (client: KubeClient) => ClientResult<unknown>; want: string }[] = [
    {
      name: "an empty name",
      given: (c) => c.delete(configMaps, { namespace: "ns", name: "" }),
      want: '"" cannot be the name of a ConfigMap',
    },
    { name: "a name with ..", given: (c) => c.get(nodes, { name: ".." }), want: '".." cannot be the name of a Node' },
    { name: "a name with a slash", given: (c) => c.get(nodes, { name: "a/status" }), want: '"a/status" cannot be the name of a Node' },
    {
      name: "no namespace",
      given: (c) => c.get(configMaps, { name: "a" }),
      want: 'ConfigMap "a" needs a namespace: the kind is namespaced',
    },
    { name: "an empty namespace", given: (c) => c.list(configMaps, { namespace: "" }), want: '"" cannot be the namespace of a ConfigMap' },
    {
      name: "a collection of all namespaces",
      given: (c) => c.deleteCollection(configMaps, {}),
      want: "deleting configmaps needs a namespace: collections of all namespaces are not deleted",
    },
    {
      name: "create without a namespace",
      given: (c) => c.create(configMaps, { ...object, metadata: { name: "a" } }),
      want: 'ConfigMap "a" needs a namespace: the kind is namespaced',
    },
    {
      name: "an invalid raw path",
      given: (c) => c.raw("http://x"),
      want: 'a raw path must begin with "/" and contain only URL characters',
    },
    {
      name: "a raw path with a line break",
      given: (c) => c.raw("/a\r\nb"),
      want: 'a raw path must begin with "/" and contain only URL characters',
    },
  ];
  test.each(rows)("$name", async ({ given, want }) => {
    let answer: unknown;
    const requests = await requestsOf(async (client) => (answer = await given(client)));
    expect(requests).toEqual([]);
    expect(answer).toEqual({ ok: false, error: { kind: "bad-request", message: want, retry: "useless" } });
  });

  test("a watch of an empty namespace", async () => {
    const items: unknown[] = [];
    await requestsOf(async (client) => {
      for await (const item of client.watch(configMaps, { namespace: "" }, new AbortController().signal)) items.push(item);
    });
    expect(items).toMatchObject([{ ok: false, error: { kind: "bad-request" } }]);
  });
});

test("a cluster-scoped kind ignores the namespace of the key", async () => {
  expect((await requestsOf((client) => client.get(nodes, { namespace: "ns", name: "n" })))[0]?.path).toBe("/api/v1/nodes/n");
});

/** Deletion of namespaces on an API server in this process. */
import { afterEach, describe, expect, test } from "vitest";
import { err, expectOk, map } from "#base";
import { configMaps, defineResource, namespaces, pods, type KubeObject, type Pod } from "#kube";
import type { KubeClient } from "#kube-client";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "../../../test/builders/controlled-cluster.ts";
import { namespaceController } from "./namespace-controller.ts";

const secrets = defineResource({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

async function start(options: ControlledClusterOptions & { graceMs?: number } = {}) {
  const { graceMs = 0, ...rest } = options;
  const cluster = await controlledCluster({ controllers: [namespaceController({ graceMs })], ...rest });
  clusters.push(cluster);
  const { client } = cluster;
  const makeNamespace = async (name: string, metadata: Partial<KubeObject["metadata"]> = {}) =>
    expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name, ...metadata } }));
  const make = async (namespace: string, name: string, metadata: Partial<KubeObject["metadata"]> = {}) =>
    expectOk(await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, ...metadata } }));
  const exists = async (name: string) => (await client.get(namespaces, { name })).ok;
  const conditionsOf = async (name: string) =>
    Object.fromEntries(
      (expectOk(await client.get(namespaces, { name })).status?.conditions ?? []).map(({ type, status, reason, message }) => [
        type,
        `${status} ${reason}: ${message}`,
      ]),
    );
  await cluster.running.idle();
  return { ...cluster, makeNamespace, make, exists, conditionsOf };
}

const NO_PROBLEMS = {
  NamespaceDeletionDiscoveryFailure: "False ResourcesDiscovered: All resources successfully discovered",
  NamespaceDeletionGroupVersionParsingFailure: "False ParsedGroupVersions: All legacy kube types successfully parsed",
  NamespaceDeletionContentFailure: "False ContentDeleted: All content successfully deleted, may be waiting on finalization",
  NamespaceContentRemaining: "False ContentRemoved: All content successfully removed",
  NamespaceFinalizersRemaining: "False ContentHasNoFinalizers: All content-preserving finalizers finished",
};

test("its objects are deleted, then the namespace, and no other namespace is changed", async () => {
  const { makeNamespace, make, exists, client, running, writes } = await start();
  await makeNamespace("shop");
  for (const name of ["a", "b"]) await make("shop", name);
  await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "shop" } });
  await make("default", "kept");
  await running.idle();
  expect(writes).toEqual([]);
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  expect(await exists("shop")).toBe(false);
  expect(
    expectOk(await client.list(configMaps, { fieldSelector: "metadata.namespace!=kube-system" })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).toEqual(["kept"]);
  expect(writes.toSorted()).toEqual([
    "DELETECOLLECTION configmaps/shop",
    "DELETECOLLECTION secrets/shop",
    "UPDATE namespaces/shop/finalize",
  ]);
});

test("it is not processed during the grace period", async () => {
  const { makeNamespace, exists, client, running, advance } = await start({ graceMs: 5_000 });
  await makeNamespace("shop");
  await running.idle();
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  await advance(4_999);
  expect(await exists("shop")).toBe(true);
  await advance(1);
  expect(await exists("shop")).toBe(false);
});

test("content with finalizers is reported and waited for, and the namespace is deleted after it", async () => {
  const { makeNamespace, make, exists, conditionsOf, client, running, writes } = await start();
  await makeNamespace("shop");
  await make("shop", "a", { finalizers: ["example.org/one", "example.org/two"] });
  await make("shop", "b", { finalizers: ["example.org/one"] });
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  expect(await conditionsOf("shop")).toEqual({
    ...NO_PROBLEMS,
    NamespaceContentRemaining: "True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances",
    NamespaceFinalizersRemaining:
      "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.org/one in 2 resource instances, example.org/two in 1 resource instances",
  });
  const before = writes.length;
  for (const name of ["a", "b"]) {
    await client.patch(configMaps, { namespace: "shop", name }, { type: "merge", patch: { metadata: { finalizers: null } } });
  }
  await running.idle();
  expect([await exists("shop"), writes.slice(before)]).toEqual([false, ["UPDATE namespaces/shop/finalize"]]);
});

test("changes during the wait are reported, and nothing is written without a change", async () => {
  const { makeNamespace, make, conditionsOf, client, running, advance, writes } = await start();
  await makeNamespace("shop");
  for (const name of ["a", "b"]) await make("shop", name, { finalizers: ["example.org/one"] });
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  const before = writes.filter((write) => write.includes("status")).length;
  await advance(8_000);
  expect(writes.filter((write) => write.includes("status"))).toHaveLength(before);
  await client.patch(configMaps, { namespace: "shop", name: "a" }, { type: "merge", patch: { metadata: { finalizers: null } } });
  await advance(8_000);
  expect(await conditionsOf("shop")).toMatchObject({
    NamespaceContentRemaining: "True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
  });
});

test("pods are deleted first, within their grace period, and everything else waits for them", async () => {
  const { makeNamespace, make, exists, conditionsOf, client, running, advance } = await start();
  await makeNamespace("shop");
  await make("shop", "a");
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "shop" },
    spec: { nodeName: "n", terminationGracePeriodSeconds: 30, containers: [{ name: "c", image: "i" }] },
  };
  expectOk(await client.create(pods, pod));
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  expect(await conditionsOf("shop")).toEqual(NO_PROBLEMS);
  expect((await client.get(configMaps, { namespace: "shop", name: "a" })).ok).toBe(true);
  await advance(40_000);
  expect(await conditionsOf("shop")).toMatchObject({
    NamespaceDeletionContentFailure:
      "True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods",
  });
  await client.delete(pods, { namespace: "shop", name: "p" }, { gracePeriodSeconds: 0 });
  await running.idle();
  await advance(60_000);
  expect(await exists("shop")).toBe(false);
});

test("a namespace with other finalizers keeps them, and its conditions report that its content is deleted", async () => {
  const { makeNamespace, conditionsOf, client, running } = await start();
  await makeNamespace("shop", { finalizers: ["example.org/mine"] });
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  expect(await conditionsOf("shop")).toEqual(NO_PROBLEMS);
  const left = expectOk(await client.get(namespaces, { name: "shop" }));
  expect([left.metadata.finalizers, left.spec?.finalizers ?? []]).toEqual([["example.org/mine"], []]);
});

describe("when requests fail", () => {
  function failing(fails: { now: boolean }, plural: string): (client: KubeClient) => KubeClient {
    return (client) => ({
      ...client,
      deleteCollection: (resource, query, options) =>
        fails.now && resource.plural === plural
          ? Promise.resolve(err({ kind: "server-error", message: `${plural} cannot be deleted` }))
          : client.deleteCollection(resource, query, options),
    });
  }

  test("a kind that cannot be deleted is reported, the others are deleted, and it is retried", async () => {
    const fails = { now: true };
    const { makeNamespace, make, conditionsOf, exists, client, running, advance } = await start({ between: failing(fails, "configmaps") });
    await makeNamespace("shop");
    await make("shop", "a");
    await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "shop" } });
    await client.delete(namespaces, { name: "shop" });
    await running.idle();
    expect(await conditionsOf("shop")).toMatchObject({
      NamespaceDeletionContentFailure:
        "True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: configmaps cannot be deleted",
    });
    expect(expectOk(await client.list(secrets, { namespace: "shop" })).items).toEqual([]);
    fails.now = false;
    await advance(60_000);
    expect(await exists("shop")).toBe(false);
  });

  test("a group whose discovery fails blocks the namespace: it might contain objects of it", async () => {
    const broken = { now: true };
    const { makeNamespace, conditionsOf, exists, client, running, advance } = await start({
      between: (inner) => ({
        ...inner,
        raw: (path, options) =>
          broken.now && path === "/apis/batch/v1"
            ? Promise.resolve(err({ kind: "unavailable", message: "the server is currently unable to handle the request" }))
            : inner.raw(path, options),
      }),
    });
    await makeNamespace("shop");
    await client.delete(namespaces, { name: "shop" });
    await running.idle();
    expect(await conditionsOf("shop")).toMatchObject({
      NamespaceDeletionDiscoveryFailure:
        "True DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: batch/v1: stale GroupVersion discovery: batch/v1",
    });
    broken.now = false;
    await advance(120_000);
    expect(await exists("shop")).toBe(false);
  });
});

test("kinds without deletecollection are deleted one by one", async () => {
  const { makeNamespace, make, exists, client, running, writes } = await start({
    between: (inner) => ({
      ...inner,
      raw: async (path, options) =>
        map(await inner.raw(path, options), (text) => (path === "/api/v1" ? text.replaceAll('"deletecollection",', "") : text)),
    }),
  });
  await makeNamespace("shop");
  for (const name of ["a", "b"]) await make("shop", name);
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  expect(await exists("shop")).toBe(false);
  expect(writes).toEqual(["DELETE configmaps/shop/a", "DELETE configmaps/shop/b", "UPDATE namespaces/shop/finalize"]);
});

test("fifty namespaces terminate together, and the kinds without objects are listed together", async () => {
  let lists = 0;
  const { makeNamespace, make, client, running } = await start({
    between: (inner) => ({
      ...inner,
      list: (resource, query, options) => {
        lists += 1;
        return inner.list(resource, query, options);
      },
    }),
  });
  const names = Array.from({ length: 50 }, (_, at) => `n${at}`);
  for (const name of names) {
    await makeNamespace(name);
    await make(name, "a");
  }
  await running.idle();
  lists = 0;
  for (const name of names) await client.delete(namespaces, { name });
  await running.idle();
  expect(expectOk(await client.list(namespaces)).items.filter(({ metadata }) => names.includes(metadata.name))).toEqual([]);
  // forty kinds in fifty namespaces would be two thousand; each check of `idle` itself sends about sixty
  expect(lists).toBeLessThan(1_000);
});

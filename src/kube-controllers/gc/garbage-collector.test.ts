/** Garbage collection on an API server in this process: the objects that exist when it is idle. */
import { afterEach, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { defineResource, type KubeObject, type OwnerReference, type Resource } from "#kube";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "../../../test/builders/controlled-cluster.ts";
import { garbageCollector } from "./garbage-collector.ts";

const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const clusterRoles = defineResource({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
});

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

async function start(options: ControlledClusterOptions = {}) {
  const cluster = await controlledCluster({ controllers: [garbageCollector], ...options });
  clusters.push(cluster);
  await cluster.running.idle();
  const make = async (name: string, owners: readonly OwnerReference[] = [], metadata: Partial<KubeObject["metadata"]> = {}) =>
    expectOk(
      await cluster.client.create<KubeObject>(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "default", ownerReferences: owners, ...metadata },
      }),
    );
  const names = async (resource: Resource = configMaps) =>
    expectOk(await cluster.client.list(resource, resource.namespaced ? { fieldSelector: "metadata.namespace!=kube-system" } : {}))
      .items.map(({ metadata }) => metadata.name)
      .toSorted();
  return { ...cluster, make, names };
}

function ownedBy(owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid ?? "", ...more };
}
const key = (name: string) => ({ namespace: "default", name });

describe("background", () => {
  test("dependents are deleted after their owner, recursively", async () => {
    const { make, names, client, running, writes } = await start();
    const owner = await make("owner");
    const child = await make("child", [ownedBy(owner)]);
    await make("grandchild", [ownedBy(child)]);
    await make("stranger");
    await running.idle();
    expect(writes).toEqual([]);
    await client.delete(configMaps, key("owner"), { propagation: "Background" });
    await running.idle();
    expect(await names()).toEqual(["stranger"]);
    expect(writes).toEqual(["DELETE configmaps/default/child", "DELETE configmaps/default/grandchild"]);
  });
});

describe("foreground", () => {
  test("the owner is deleted last, after its blocking dependents and theirs", async () => {
    const { make, names, client, running, writes } = await start();
    const owner = await make("owner");
    const child = await make("child", [ownedBy(owner, { blockOwnerDeletion: true })]);
    await make("grandchild", [ownedBy(child, { blockOwnerDeletion: true })]);
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Foreground" });
    await running.idle();
    expect(await names()).toEqual([]);
    expect(writes).toEqual([
      "DELETE configmaps/default/child",
      "DELETE configmaps/default/grandchild",
      "PATCH configmaps/default/child",
      "PATCH configmaps/default/owner",
    ]);
  });

  test("a blocking dependent with a finalizer blocks the owner until it is deleted", async () => {
    const { make, names, client, running } = await start();
    const owner = await make("owner");
    await make("slow", [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ["example.org/slow"] });
    await make("quick", [ownedBy(owner, { blockOwnerDeletion: true })]);
    await make("loose", [ownedBy(owner)]);
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Foreground" });
    await running.idle();
    expect(await names()).toEqual(["owner", "slow"]);
    // a dependent that is created meanwhile is deleted as well
    await make("late", [ownedBy(owner, { blockOwnerDeletion: true })]);
    await running.idle();
    expect(await names()).toEqual(["owner", "slow"]);
    await client.patch(configMaps, key("slow"), { type: "merge", patch: { metadata: { finalizers: null } } });
    await running.idle();
    expect(await names()).toEqual([]);
  });

  test("a dependent that does not block is deleted too, and not waited for", async () => {
    const { make, names, client, running } = await start();
    const owner = await make("owner");
    await make("loose", [ownedBy(owner)], { finalizers: ["example.org/slow"] });
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Foreground" });
    await running.idle();
    expect(await names()).toEqual(["loose"]);
    expect(expectOk(await client.get(configMaps, key("loose"))).metadata.deletionTimestamp).toBeDefined();
  });

  test("an owner is unblocked when its dependent stops blocking", async () => {
    const { make, names, client, running } = await start();
    const owner = await make("owner");
    await make("slow", [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ["example.org/slow"] });
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Foreground" });
    await running.idle();
    await client.patch(configMaps, key("slow"), { type: "merge", patch: { metadata: { ownerReferences: null } } });
    await running.idle();
    expect(await names()).toEqual(["slow"]);
  });

  test("a second owner keeps the dependent, and the reference to the first is removed", async () => {
    const { make, names, client, running } = await start();
    const [first, second] = [await make("first"), await make("second")];
    await make("child", [ownedBy(first, { blockOwnerDeletion: true }), ownedBy(second)]);
    await running.idle();
    await client.delete(configMaps, key("first"), { propagation: "Foreground" });
    await running.idle();
    expect(await names()).toEqual(["child", "second"]);
    expect(expectOk(await client.get(configMaps, key("child"))).metadata.ownerReferences).toEqual([ownedBy(second)]);
  });

  test("a cycle of blocking dependents is deleted", async () => {
    const { make, names, client, running } = await start();
    const first = await make("first");
    const second = await make("second", [ownedBy(first, { blockOwnerDeletion: true })]);
    const patch = { metadata: { ownerReferences: [ownedBy(second, { blockOwnerDeletion: true })] } };
    await client.patch(configMaps, key("first"), { type: "merge", patch });
    await running.idle();
    await client.delete(configMaps, key("first"), { propagation: "Foreground" });
    await running.idle();
    expect(await names()).toEqual([]);
  });
});

describe("orphan", () => {
  test("dependents stay, without the owner reference", async () => {
    const { make, names, client, running } = await start();
    const [owner, other] = [await make("owner"), await make("other")];
    await make("child", [ownedBy(owner), ownedBy(other)]);
    await make("only", [ownedBy(owner)]);
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Orphan" });
    await running.idle();
    expect(await names()).toEqual(["child", "only", "other"]);
    expect(expectOk(await client.get(configMaps, key("child"))).metadata.ownerReferences).toEqual([ownedBy(other)]);
    expect(expectOk(await client.get(configMaps, key("only"))).metadata.ownerReferences).toBeUndefined();
  });

  test("an owner with other finalizers keeps those", async () => {
    const { make, client, running } = await start();
    const owner = await make("owner", [], { finalizers: ["example.org/mine"] });
    await make("child", [ownedBy(owner)]);
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Orphan" });
    await running.idle();
    expect(expectOk(await client.get(configMaps, key("owner"))).metadata.finalizers).toEqual(["example.org/mine"]);
  });
});

describe("absent owners", () => {
  const ghost = (more: Partial<OwnerReference> = {}): OwnerReference => {
    return { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "9c1f2d6e-0000-4000-8000-000000000001", ...more };
  };

  test("an object whose only owner never existed is deleted", async () => {
    const { make, names, running } = await start();
    await make("child", [ghost()]);
    await running.idle();
    expect(await names()).toEqual([]);
  });

  test("the owner's name alone does not count: another uid is another object", async () => {
    const { make, names, running } = await start();
    await make("ghost");
    await make("child", [ghost()]);
    await running.idle();
    expect(await names()).toEqual(["ghost"]);
  });

  test("one existing owner keeps the object; the other reference is removed", async () => {
    const { make, names, client, running } = await start();
    const owner = await make("owner");
    await make("child", [ghost(), ownedBy(owner)]);
    await running.idle();
    expect(await names()).toEqual(["child", "owner"]);
    expect(expectOk(await client.get(configMaps, key("child"))).metadata.ownerReferences).toEqual([ownedBy(owner)]);
  });

  test("dependents that contradict each other about an absent owner are all deleted", async () => {
    const { make, names, running, advance } = await start();
    await make("a", [ghost()]);
    await make("b", [ghost({ kind: "Secret" })]);
    await make("c", [ghost({ kind: "Secret", name: "other" })]);
    await running.idle();
    for (let turn = 0; turn < 10; turn += 1) await advance(1_000);
    expect(await names()).toEqual([]);
  });

  test("a reference with the wrong kind is invalid, even if its uid exists", async () => {
    const { make, names, running } = await start();
    const owner = await make("owner");
    await make("child", [ownedBy(owner, { kind: "Secret" })]);
    await make("good", [ownedBy(owner)]);
    await running.idle();
    expect(await names()).toEqual(["good", "owner"]);
  });

  test("an owner of a kind that is not served is retried, and the object is not deleted", async () => {
    const { make, names, running, advance } = await start();
    await make("child", [ghost({ apiVersion: "example.org/v1", kind: "Widget" })]);
    await running.idle();
    await advance(60_000);
    expect(await names()).toEqual(["child"]);
  });

  test("a cluster-scoped object with a namespaced owner is ignored", async () => {
    const { make, client, running, names } = await start();
    const owner = await make("owner");
    const role = (name: string, reference: OwnerReference): KubeObject => {
      return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, ownerReferences: [reference] } };
    };
    await client.create(clusterRoles, role("observed", ownedBy(owner)));
    await client.create(clusterRoles, role("unknown", ghost()));
    await running.idle();
    expect(await names(clusterRoles)).toEqual(expect.arrayContaining(["observed", "unknown"]));
  });
});

describe("namespaces", () => {
  test("a reference across namespaces is invalid, and an event reports it", async () => {
    const { make, names, client, running } = await start();
    await client.create(defineResource({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false }), {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "other" },
    });
    const owner = await make("owner");
    const child = await make("child", [ownedBy(owner)], { namespace: "other" });
    await running.idle();
    expect(await names()).toEqual(["owner"]);
    const events = defineResource({ group: "", version: "v1", kind: "Event", plural: "events", namespaced: true });
    const { uid } = owner.metadata;
    expect(expectOk(await client.list(events, { namespace: "other" })).items).toMatchObject([
      {
        type: "Warning",
        reason: "OwnerRefInvalidNamespace",
        message: `ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: ${uid}] does not exist in namespace "other"`,
        involvedObject: { kind: "ConfigMap", name: "child", namespace: "other", uid: child.metadata.uid },
      },
    ]);
  });

  test("a cluster-scoped owner may own in any namespace", async () => {
    const { make, names, client, running } = await start();
    const owner = expectOk(
      await client.create<KubeObject>(clusterRoles, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "owner" },
      }),
    );
    await make("child", [ownedBy(owner)]);
    await make("other", [ownedBy(owner)], { namespace: "kube-public" });
    await running.idle();
    expect(await names()).toEqual(["child", "other"]);
    await client.delete(clusterRoles, { name: "owner" });
    await running.idle();
    expect(await names()).toEqual([]);
  });
});

describe("custom resources", () => {
  const definitions = defineResource({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
  });
  const widgets = defineResource({ group: "example.org", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.org" },
    spec: {
      group: "example.org",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const widget = (name: string, owners: readonly OwnerReference[] = []): KubeObject => {
    return { apiVersion: "example.org/v1", kind: "Widget", metadata: { name, namespace: "default", ownerReferences: owners } };
  };

  test("can be owners and dependents as soon as their kind is served", async () => {
    const { make, names, client, running } = await start();
    expectOk(await client.create(definitions, definition));
    await running.idle();
    const owner = expectOk(await client.create(widgets, widget("owner")));
    const child = await make("child", [ownedBy(owner)]);
    expectOk(await client.create(widgets, widget("grandchild", [ownedBy(child)])));
    await running.idle();
    await client.delete(widgets, key("owner"));
    await running.idle();
    expect([await names(), await names(widgets)]).toEqual([[], []]);
  });

  test("are orphaned by merge patch, because they do not support strategic merge", async () => {
    const { make, names, client, running, writes } = await start();
    expectOk(await client.create(definitions, definition));
    await running.idle();
    const owner = await make("owner");
    for (const name of ["a", "b"]) expectOk(await client.create(widgets, widget(name, [ownedBy(owner)])));
    await running.idle();
    await client.delete(configMaps, key("owner"), { propagation: "Orphan" });
    await running.idle();
    expect(await names(widgets)).toEqual(["a", "b"]);
    expect(expectOk(await client.get(widgets, key("a"))).metadata.ownerReferences ?? []).toEqual([]);
    expect(writes.filter((write) => write.includes("widgets")).toSorted()).toEqual(["PATCH widgets/default/a", "PATCH widgets/default/b"]);
  });

  test("whose kind is removed keep their dependents", async () => {
    const { make, names, client, running, advance } = await start();
    expectOk(await client.create(definitions, definition));
    await running.idle();
    const owner = expectOk(await client.create(widgets, widget("owner")));
    await make("child", [ownedBy(owner)]);
    await running.idle();
    await client.delete(definitions, { name: "widgets.example.org" });
    await advance(60_000);
    expect(await names()).toEqual(await names());
    expect([...running.health().informers.keys()].some((name) => name.startsWith("widgets"))).toBe(false);
  });
});

test("five hundred dependents cost one request each", async () => {
  const { make, names, client, running, writes } = await start();
  const owner = await make("owner");
  for (let at = 0; at < 500; at += 1) await make(`child-${at}`, [ownedBy(owner, { blockOwnerDeletion: true })]);
  await running.idle();
  await client.delete(configMaps, key("owner"), { propagation: "Foreground" });
  await running.idle();
  expect([await names(), writes.length]).toEqual([[], 501]);
});

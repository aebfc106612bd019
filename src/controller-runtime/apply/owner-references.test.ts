/** Objects without owner references: the label alone is the inventory. */
import { describe, expect, test } from "vitest";
import { expectOk, ok } from "#base";
import { failWith } from "#embedded-cluster";
import type { KubeObject } from "#kube";
import {
  capiController,
  capiObject,
  capiObjects,
  capiWorld,
  clusters,
  defineCapiController,
  machineTemplates,
  objectsOf,
  remaining,
} from "../../../test/builders/capi-controller.ts";
import { widget, widgets, type ControllerWorld } from "../../../test/builders/controller-world.ts";
import { stamp, withoutOwner } from "../identity.ts";
import { rbacFor } from "../rbac.ts";
import { bindController } from "../pass.ts";

const a = { namespace: "shop", name: "a" };
const OTHER_OWNER = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "a", uid: "0e4b1f2c-0000-4000-8000-000000000001" };

async function references(world: ControllerWorld): Promise<readonly unknown[]> {
  return (await capiObjects(world)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
}

const cluster = async (world: ControllerWorld) => expectOk(await world.cluster.client.get<KubeObject>(clusters, a));

/** What an earlier version applied: the same objects, with owner references. */
async function appliedBefore(): Promise<ControllerWorld> {
  const world = await capiWorld();
  await world.put(widgets, widget("a"));
  const { ownerReferences: _none, ...earlier } = defineCapiController();
  world.start([bindController(earlier, {})]);
  await world.clock.advance(1_000);
  return world;
}

/** A second manager on the same world, as after an upgrade. */
async function upgraded(world: ControllerWorld): Promise<void> {
  world.stop();
  await world.clock.advance(1_000);
  world.restart([capiController()]);
  await world.clock.advance(1_000);
}

test("no applied object gets an owner reference, and a second pass writes nothing", async () => {
  await using world = await capiWorld();
  await world.put(widgets, widget("a"));
  world.start([capiController()]);
  await world.clock.advance(1_000);
  expect([(await remaining(world)).length, await references(world)]).toEqual([5, []]);
  expect((await world.widget("a"))?.metadata.finalizers).toEqual(["lattice.dev/capi"]);
  const writes = world.writes().length;
  await world.clock.advance(300_000);
  expect(world.writes()).toHaveLength(writes);
  await world.end();
});

test("objects that an earlier version applied lose its owner reference on the next apply, and keep those of others", async () => {
  await using world = await appliedBefore();
  const before = await cluster(world);
  expect(await references(world)).toHaveLength(5);
  await world.put(clusters, {
    ...before,
    metadata: { ...before.metadata, ownerReferences: [...(before.metadata.ownerReferences ?? []), OTHER_OWNER] },
  });
  await upgraded(world);
  expect(await references(world)).toEqual([OTHER_OWNER]);
  expect((await cluster(world)).metadata.uid).toBe(before.metadata.uid);
  await world.end();
});

describe("a reference that another manager set as well (a move, a restore)", () => {
  const restore = async (world: ControllerWorld) => {
    const { apiVersion, kind, metadata } = expectOk(await world.cluster.client.get<KubeObject>(widgets, a));
    const old = { apiVersion, kind, name: metadata.name, uid: "0e4b1f2c-0000-4000-8000-000000000009" };
    const live = await cluster(world);
    await world.put(clusters, { ...live, metadata: { ...live.metadata, ownerReferences: [OTHER_OWNER, old] } }, "velero");
  };

  test("is removed, also with the uid that the owner had before", async () => {
    await using world = await capiWorld();
    await world.put(widgets, widget("a"));
    world.start([capiController()]);
    await world.clock.advance(1_000);
    await restore(world);
    await world.clock.advance(1_000);
    expect(await references(world)).toEqual([OTHER_OWNER]);
    await world.end();
  });

  test.each(["conflict", "server-error"] as const)("is removed after a %s", async (failure) => {
    await using world = await capiWorld();
    await world.put(widgets, widget("a"));
    world.start([capiController()]);
    await world.clock.advance(1_000);
    world.intercept({ verb: "patch", resource: "clusters" }, failWith(failure));
    await restore(world);
    await world.clock.advance(30_000);
    expect(await references(world)).toEqual([OTHER_OWNER]);
    await world.end();
  });
});

test("an object that a move re-created under another field manager is ours again after the next pass, and is pruned", async () => {
  await using world = await capiWorld();
  await world.put(widgets, widget("a", { count: 1 }));
  world.start([
    capiController({
      plan: ({ spec }) => ok({ apply: spec.count === 1 ? objectsOf("a") : objectsOf("a").slice(1), commands: [] }),
    }),
  ]);
  await world.clock.advance(1_000);
  const key = { namespace: "shop", name: "a-control-plane" };
  const moved = expectOk(await world.cluster.client.get<KubeObject>(machineTemplates, key));
  await world.remove(machineTemplates, key);
  const { managedFields: _fields, ...metadata } = moved.metadata;
  await world.put(machineTemplates, { ...moved, metadata }, "clusterctl");
  await world.clock.advance(1_000);
  await world.put(widgets, widget("a", { count: 2 }));
  await world.clock.advance(1_000);
  expect((await remaining(world)).filter((name) => name.startsWith("Docker"))).toEqual(["DockerMachineTemplate a-workers"]);
  await world.end();
});

test("an object of another client is not changed, pruned or deleted, with or without a copied label", async () => {
  await using world = await capiWorld();
  await world.put(widgets, widget("a"));
  world.start([capiController()]);
  await world.clock.advance(1_000);
  const { labels = {}, annotations = {} } = (await cluster(world)).metadata;
  await world.put(clusters, capiObject(clusters, "copy", { labels, annotations }), "kubectl");
  await world.put(clusters, capiObject(clusters, "plain"), "kubectl");
  await world.put(widgets, widget("a", { colour: "red" }));
  await world.clock.advance(1_000);
  await world.remove(widgets, a);
  await world.clock.advance(60_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([["Cluster copy", "Cluster plain"], undefined]);
  await world.end();
});

test("a teardown by function, or none, deletes the labelled objects before the finalizer is removed", async () => {
  for (const teardown of [undefined, () => Promise.resolve({ kind: "settled" as const })]) {
    await using world = await capiWorld();
    await world.put(widgets, widget("a"));
    const { teardown: _ordered, ...rest } = defineCapiController();
    const finalizer = "lattice.dev/capi";
    world.start([bindController({ ...rest, finalizer, ...(teardown === undefined ? {} : { teardown }) }, {})]);
    await world.clock.advance(1_000);
    world.intercept({ verb: "list", resource: "kubeadmcontrolplanes" }, failWith("server-error"));
    await world.remove(widgets, a);
    await world.clock.advance(30_000);
    expect([await remaining(world), await world.widget("a")]).toEqual([[], undefined]);
    await world.end();
  }
});

test("an owner reference in a plan is kept unless it points at the owner; an object in another namespace has another owner of that name", () => {
  const object = { ...widget("a"), metadata: { ...widget("a").metadata, uid: "1" } };
  const own = { apiVersion: "lattice.dev/v1", kind: "Widget", name: "a", uid: "1" };
  const wanted = (namespace: string) => capiObject(clusters, "a", { namespace, ownerReferences: [OTHER_OWNER, own] });
  const owner = { controller: "capi", object, ownerReferences: "none" as const };
  expect(stamp(wanted("shop"), owner).metadata.ownerReferences).toEqual([OTHER_OWNER]);
  expect(withoutOwner(wanted("other"), object)).toEqual([OTHER_OWNER, own]);
  expect(stamp(capiObject(clusters, "a"), owner).metadata.ownerReferences).toBeUndefined();
});

test("without owner references the finalizers subresource of the owner is not granted", () => {
  const rules = JSON.stringify(rbacFor([defineCapiController()], { name: "x", namespace: "y" }));
  expect([rules.includes("widgets/status"), rules.includes("widgets/finalizers")]).toEqual([true, false]);
});

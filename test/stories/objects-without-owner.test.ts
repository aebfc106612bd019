/**
 * Objects without owner references beside a garbage collector, as on both sides of `clusterctl move`: they outlive their owner, and references to
 * owners of kinds that this cluster does not serve change nothing.
 */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import type { KubeObject, OwnerReference } from "#kube";
import {
  capiController,
  capiObject,
  capiObjects,
  capiWorld,
  clusters,
  controlPlanes,
  freeCluster,
  remaining,
} from "../builders/capi-controller.ts";
import { widget, widgets, type ControllerWorld } from "../builders/controller-world.ts";

const ALL = [
  "Cluster a",
  "ConfigMap a-addons",
  "DockerMachineTemplate a-control-plane",
  "DockerMachineTemplate a-workers",
  "KubeadmControlPlane a",
];
const a = { namespace: "shop", name: "a" };
const ABSENT: OwnerReference = {
  apiVersion: "fleet.example.org/v1",
  kind: "Fleet",
  name: "all",
  uid: "0e4b1f2c-0000-4000-8000-000000000001",
};

async function settle(world: ControllerWorld): Promise<void> {
  await world.clock.advance(2_000);
  await world.cluster.settled();
}

async function deployed(): Promise<ControllerWorld> {
  const world = await capiWorld({ controllers: true });
  await world.put(widgets, widget("a"));
  world.start([capiController()]);
  await settle(world);
  return world;
}

/** The owner disappears without its teardown: an administrator removes the finalizer. */
async function loseOwner(world: ControllerWorld): Promise<void> {
  await world.end();
  expectOk(await world.cluster.client.patch(widgets, a, { type: "merge", patch: { metadata: { finalizers: [] } } }));
  await world.remove(widgets, a);
}

test("the garbage collector leaves the objects alone when their owner is deleted, and a new owner of that name finds them", async () => {
  await using world = await deployed();
  expect(await remaining(world)).toEqual(ALL);
  const uids = (await capiObjects(world)).map(({ metadata }) => metadata.uid);
  await loseOwner(world);
  await settle(world);
  await world.clock.advance(120_000);
  expect([await world.widget("a"), await remaining(world)]).toEqual([undefined, ALL]);
  await world.put(widgets, widget("a"));
  world.restart([capiController()]);
  await settle(world);
  expect((await capiObjects(world)).map(({ metadata }) => metadata.uid)).toEqual(uids);
  await freeCluster(world, "a");
  await world.remove(widgets, a);
  await settle(world);
  expect([await world.widget("a"), await remaining(world)]).toEqual([undefined, []]);
  await world.end();
});

test("with owner references the garbage collector would have deleted them", async () => {
  await using world = await capiWorld({ controllers: true });
  const owner = await world.put(widgets, widget("a"));
  const reference = { apiVersion: owner.apiVersion, kind: owner.kind, name: "a", uid: owner.metadata.uid ?? "" };
  await world.put(clusters, capiObject(clusters, "a", { ownerReferences: [reference] }));
  await settle(world);
  await world.remove(widgets, a);
  await settle(world);
  expect(await remaining(world)).toEqual([]);
});

test("a graph for a move has no reference to the owner, and references to kinds that are not installed stay and delete nothing", async () => {
  await using world = await deployed();
  const cluster = expectOk(await world.cluster.client.get<KubeObject>(clusters, a));
  const { apiVersion, kind, metadata } = cluster;
  const toCluster = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" };
  // Cluster API itself sets references between its objects
  const link = (ownerReferences: readonly OwnerReference[]) => ({ type: "merge" as const, patch: { metadata: { ownerReferences } } });
  expectOk(await world.cluster.client.patch(controlPlanes, a, link([toCluster])));
  expectOk(await world.cluster.client.patch(clusters, a, link([ABSENT])));
  await settle(world);
  await world.clock.advance(120_000);
  const objects = await capiObjects(world);
  expect(objects.map((object) => `${object.kind} ${object.metadata.name}`).toSorted()).toEqual(ALL);
  const uids = new Set(objects.map((object) => object.metadata.uid));
  const outside = objects.flatMap((object) => object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
  expect(outside).toEqual([ABSENT]);
  await world.end();
});

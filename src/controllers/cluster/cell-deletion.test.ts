/** The deletion of a cell's own LatticeCluster while it has children: they need its link and its tunnel until they are deleted. */
import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { stamp } from "#controller-runtime";
import { latticeClusters } from "#crds";
import { capiClusters, findCondition, namespaces, services, type Service } from "#kube";
import { MOVE_RECORD } from "#pivot";
import { CellWorld, HOME } from "../../../test/builders/cell-world.ts";
import { CONNECTED } from "../../../test/builders/observed-child.ts";

const REGISTERED = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: Date.UTC(2100, 0) }] };
const SELF = { ...CONNECTED, health: { readyNodes: 3, totalNodes: 3, kubernetesVersion: "v1.36.3", ownershipEpoch: 1 } };
const inProd = (name: string) => ({ namespace: "capi-prod", name });

/** A cell with a child that owns itself; then the deletion of the cell. The garbage collector runs. */
async function openDeleted(propagation: "Background" | "Foreground" = "Background"): Promise<CellWorld> {
  const world = await CellWorld.openCell(undefined, [], undefined, true);
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell("mgmt", { host: "127.0.0.1", service: { type: "ClusterIP" } });
  world.startCell();
  world.access.records.set("prod", REGISTERED);
  world.link.set("prod", { ...SELF, lastHeartbeat: world.clock.now() });
  world.start(world.controllers());
  await world.addCluster("prod", { cellRef: "mgmt" });
  await world.pass();
  expectOk(await world.cluster.client.delete(latticeClusters, { name: "mgmt" }, { propagation }));
  await world.pass();
  return world;
}

const ready = async (world: CellWorld, name: string) => findCondition((await world.latticeCluster(name))?.status?.conditions, "Ready");

test("a Service that an earlier version applied for the LatticeCluster of the cell is taken over", async () => {
  const world = await CellWorld.openCell();
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell("mgmt", { host: "127.0.0.1", service: { type: "ClusterIP" } });
  const object = await world.latticeCluster("mgmt");
  if (object === undefined) throw new Error("there is no LatticeCluster");
  const spec = { type: "ClusterIP", selector: { "lattice.dev/leader": "true" }, ports: [{ name: "grpc", port: 1 }] };
  const former = { apiVersion: "v1", kind: "Service", metadata: { namespace: HOME, name: "lattice-cell" }, spec };
  const stamped = stamp(former, { controller: "self-manager", object });
  expectOk(await world.cluster.client.apply(services, stamped as Service, { fieldManager: "lattice" }));
  world.startCell();
  world.start(world.controllers());
  await world.pass();
  const service = await world.object<Service>(services, { namespace: HOME, name: "lattice-cell" });
  expect(service?.spec?.ports?.map(({ port }) => port)).toEqual([50_051, 8_443, 8_444]);
  expect(service?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(["ConfigMap"]);
});

/** What the end of a move back leaves here. */
async function takeBack(world: CellWorld): Promise<void> {
  const object = await world.latticeCluster("prod");
  if (object === undefined) throw new Error("there is no LatticeCluster");
  const cluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: inProd("prod") };
  const moved = stamp(cluster, { controller: "cluster", object, ownerReferences: "none" });
  expectOk(await world.cluster.client.apply(capiClusters, moved, { fieldManager: "lattice" }));
  const data = { id: "a", state: "committed", epoch: "2", source: "s", startedAt: "", objects: "1", digest: "", finishedAt: "" };
  await world.cluster.add({ apiVersion: "v1", kind: "ConfigMap", metadata: inProd(MOVE_RECORD), data });
  const now = world.clock.now();
  world.pivots.set("prod", { direction: "to-parent", state: "done", startedAt: now, progressAt: now, finishedAt: now });
}

describe("the deletion of a cell with children", () => {
  test.each(["Background", "Foreground"] as const)(
    "in the %s is refused with their names, and the Service in front of the cell stays",
    async (policy) => {
      const world = await openDeleted(policy);
      await world.pass();
      expect(await ready(world, "mgmt")).toMatchObject({
        status: "False",
        reason: "HasChildren",
        message: expect.stringContaining("the parent of prod;") as string,
      });
      expect(await world.object(services, { namespace: HOME, name: "lattice-cell" })).toBeDefined();
      expect(await ready(world, "prod")).toMatchObject({ status: "True", reason: "SelfManaged" });
    },
  );

  test("puts back a Service that was deleted meanwhile, and deletes it when the cell is gone", async () => {
    const world = await openDeleted("Foreground");
    const service = { namespace: HOME, name: "lattice-cell" };
    await world.remove(services, service);
    await world.pass();
    expect(await world.object(services, service)).toBeDefined();
    await world.remove(latticeClusters, { name: "prod" });
    await world.pass();
    await takeBack(world);
    for (let pass = 0; pass < 6; pass += 1) await world.pass();
    expect(await world.latticeCluster("mgmt")).toBeUndefined();
    expect(await world.object(services, service)).toBeUndefined();
  });

  test("lets a child that owns itself be taken back and deleted, and then continues at once", async () => {
    const world = await openDeleted();
    await world.remove(latticeClusters, { name: "prod" });
    await world.pass();
    expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
    expect(world.pivots.asked).toContain("unpivot prod");
    await takeBack(world);
    for (let pass = 0; pass < 4; pass += 1) await world.pass();
    expect(world.writes().some((write) => /^DELETE .*capi-prod\/clusters\/prod/.test(write))).toBe(true);
    expect(await world.latticeCluster("prod")).toBeUndefined();
    expect(await world.latticeCluster("mgmt")).toBeUndefined();
  });

  test("begins no other child, whose machines would be left, and continues when that is deleted too", async () => {
    const world = await openDeleted();
    await world.addCluster("late");
    await world.pass();
    expect(await ready(world, "late")).toMatchObject({ status: "False", reason: "CellDeleting" });
    expect(await world.object(namespaces, { name: "capi-late" })).toBeUndefined();
    expect((await ready(world, "mgmt"))?.message).toContain("late, prod");
    await world.remove(latticeClusters, { name: "late" });
    await world.pass();
    expect(await world.latticeCluster("late")).toBeUndefined();
    expect((await ready(world, "mgmt"))?.message).toContain("the parent of prod;");
  });
});

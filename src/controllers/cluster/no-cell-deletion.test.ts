/** The deletion of children while their parent is no cell, or none yet. Only a cell takes their objects back; their machines must not be left. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { configMaps, customResourceDefinitions, fieldAt, findCondition, groupResourceOf } from "#kube";
import { CellWorld, HOME, identity } from "../../../test/builders/cell-world.ts";
import { CONNECTED } from "../../../test/builders/observed-child.ts";
import { openCrd } from "../../../test/builders/open-crd.ts";

const REGISTERED = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: Date.UTC(2100, 0) }] };
const SELF = { ...CONNECTED, health: { readyNodes: 3, totalNodes: 3, kubernetesVersion: "v1.36.3", ownershipEpoch: 1 } };

/** A cell with a child that has registered and owns its objects. */
async function openCell(): Promise<CellWorld> {
  const world = await CellWorld.openCell();
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell();
  world.startCell();
  world.access.records.set("prod", REGISTERED);
  world.link.set("prod", { ...SELF, lastHeartbeat: world.clock.now() });
  world.start(world.controllers());
  await world.addCluster("prod", { cellRef: "mgmt" });
  await world.pass();
  return world;
}

const patchOf = async (world: CellWorld, name: string, patch: object) =>
  expectOk(await world.cluster.client.patch(latticeClusters, { name }, { type: "merge", patch: patch as never }));

/** With the record of the addresses that it has served: otherwise it would go on serving them. */
async function loseEndpoints(world: CellWorld): Promise<void> {
  await patchOf(world, "mgmt", { spec: { endpoints: null } });
  await world.remove(configMaps, { namespace: HOME, name: "lattice-cell-endpoints" });
}

/** As the definition of a release whose specs this one does not know. */
async function allowAnySpec(world: CellWorld): Promise<void> {
  const patch = { spec: fieldAt(openCrd(latticeClusters), "spec") ?? null };
  expectOk(
    await world.cluster.client.patch(customResourceDefinitions, { name: groupResourceOf(latticeClusters) }, { type: "merge", patch }),
  );
  await world.pass();
}

const readyOf = async (world: CellWorld) => findCondition((await world.latticeCluster("prod"))?.status?.conditions, "Ready");

const lost: readonly { name: string; lose: (world: CellWorld) => Promise<unknown>; restore: (world: CellWorld) => Promise<unknown> }[] = [
  {
    name: "has no endpoints",
    lose: loseEndpoints,
    restore: (world) => patchOf(world, "mgmt", { spec: { endpoints: { host: "127.0.0.1" } } }),
  },
  {
    name: "has no identity",
    lose: (world) => world.remove(configMaps, { namespace: HOME, name: "lattice-identity" }),
    restore: (world) => world.cluster.add(identity("mgmt")),
  },
  {
    name: "has a LatticeCluster of its own that this release cannot read",
    lose: async (world) => {
      await allowAnySpec(world);
      await patchOf(world, "mgmt", { spec: { nodes: { controlPlane: 2 } } });
    },
    restore: (world) => patchOf(world, "mgmt", { spec: { nodes: { controlPlane: 1 } } }),
  },
];

test.each(lost)("a child that owns itself is not dropped while its parent $name, and taken back after that", async ({ lose, restore }) => {
  const world = await openCell();
  await lose(world);
  world.slot.set(undefined);
  await world.pass();
  await world.remove(latticeClusters, { name: "prod" });
  for (let pass = 0; pass < 4; pass += 1) await world.pass(60_000);
  expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Unpivoting", ownedBy: "self" });
  const ready = await readyOf(world);
  expect(ready).toMatchObject({ status: "False", reason: "NotACell" });
  expect(ready?.message).toMatch(/taken back.*this cluster is no cell.*spec\.endpoints\.host.*or set spec\.deletion\.unpivot to false/);
  await restore(world);
  world.startCell();
  await world.pass();
  await world.pass();
  expect(world.pivots.asked).toContain("unpivot prod");
});

test("with spec.deletion.unpivot: false it is released there", async () => {
  const world = await openCell();
  await loseEndpoints(world);
  world.slot.set(undefined);
  await patchOf(world, "prod", { spec: { deletion: { unpivot: false } } });
  await world.remove(latticeClusters, { name: "prod" });
  for (let pass = 0; pass < 2; pass += 1) await world.pass();
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(world.pivots.asked.filter((asked) => asked.startsWith("unpivot"))).toEqual([]);
});

test("a resource for which nothing was made is deleted at once by a cluster that is no cell", async () => {
  const world = await openCell();
  await loseEndpoints(world);
  world.slot.set(undefined);
  await world.addCluster("late");
  await world.pass();
  await world.remove(latticeClusters, { name: "late" });
  await world.pass();
  expect(await world.latticeCluster("late")).toBeUndefined();
});

test.each([
  { name: "with its status", erase: {} },
  { name: "with a status that was erased", erase: { ownedBy: null } },
])("a child with a spec that is invalid here waits for the start of the cell, $name", async ({ erase }) => {
  const world = await openCell();
  await world.end(0);
  world.slot.set(undefined);
  await allowAnySpec(world);
  await patchOf(world, "prod", { spec: { nodes: { controlPlane: 2 } } });
  const patch = { status: erase };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }, { subresource: "status" }));
  await world.remove(latticeClusters, { name: "prod" });
  world.restart(world.controllers());
  for (let pass = 0; pass < 3; pass += 1) await world.pass();
  expect(await world.latticeCluster("prod")).toBeDefined();
  world.startCell();
  for (let pass = 0; pass < 3; pass += 1) await world.pass();
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
  expect(world.pivots.asked).toContain("unpivot prod");
});

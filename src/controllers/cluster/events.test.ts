/** What an event of a LatticeCluster costs: a cell may have thousands, and each of them writes its status. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { CellWorld } from "../../../test/builders/cell-world.ts";
import { SELF_OWNED } from "../../../test/builders/observed-child.ts";

const CHILDREN = 20;
const REGISTERED = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: Date.UTC(2100, 0) }] };

/** A cell with children that own themselves. */
async function openFleet(): Promise<CellWorld> {
  const world = await CellWorld.openCell();
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell("mgmt", { host: "127.0.0.1", service: { type: "ClusterIP" } });
  world.startCell();
  for (let at = 0; at < CHILDREN; at += 1) {
    world.access.records.set(`child-${at}`, REGISTERED);
    world.link.set(`child-${at}`, { ...SELF_OWNED.agent, lastHeartbeat: world.clock.now() });
    await world.addCluster(`child-${at}`, { cellRef: "mgmt" });
  }
  world.start(world.controllers());
  for (let pass = 0; pass < 3; pass += 1) await world.pass();
  return world;
}

/** Passes of the cluster controller, and requests of the operator. */
function cost(world: CellWorld) {
  const passes = [...world.metrics.render().matchAll(/^lattice_reconcile_total\{controller="cluster".*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  return { passes: passes.reduce((sum, count) => sum + count, 0), requests: world.requests().length };
}

/** Another client writes what no controller reads. */
async function costOfStatus(world: CellWorld, name: string) {
  const before = cost(world);
  for (let write = 0; write < 5; write += 1) {
    const patch = { status: { message: `write ${write}` } };
    expectOk(await world.cluster.client.patch(latticeClusters, { name }, { type: "merge", patch }, { subresource: "status" }));
    await world.pass(10);
  }
  const after = cost(world);
  return { passes: after.passes - before.passes, requests: after.requests - before.requests };
}

test("the status of a cluster costs no pass: of a child, of the cell itself, or of a child while the cell is being deleted", async () => {
  const world = await openFleet();
  const costs = [await costOfStatus(world, "child-0"), await costOfStatus(world, "mgmt")];
  await world.remove(latticeClusters, { name: "mgmt" });
  await world.pass();
  costs.push(await costOfStatus(world, "child-0"));
  const none = { passes: 0, requests: 0 };
  expect(costs).toEqual([none, none, none]);
});

/** The address of a cell that has children changes, or is removed: they know only the one that they were made with. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { findCondition, services } from "#kube";
import { CellWorld, HOME } from "../../../test/builders/cell-world.ts";
import { SELF_OWNED } from "../../../test/builders/observed-child.ts";

const REGISTERED = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: Date.UTC(2100, 0) }] };
const SERVICE = { namespace: HOME, name: "lattice-cell" };
const addresses = (host: string) => [`${host}:50051`, `https://${host}:8443`];

class AddressWorld {
  readonly world: CellWorld;

  private constructor(world: CellWorld) {
    this.world = world;
  }

  /** Cell `mgmt` at 10.0.0.1 with child `prod`, which owns itself; its agents have been back for long. */
  static async open(): Promise<AddressWorld> {
    const world = await CellWorld.openCell();
    onTestFinished(async () => {
      await world.end();
      await world[Symbol.asyncDispose]();
    });
    await world.becomeCell("mgmt", { host: "10.0.0.1", service: { type: "ClusterIP" } });
    world.startCell();
    world.access.records.set("prod", REGISTERED);
    await world.addCluster("prod", { cellRef: "mgmt" });
    world.start(world.controllers());
    const opened = new AddressWorld(world);
    opened.report("10.0.0.1");
    await world.pass();
    await world.pass(120_000);
    return opened;
  }

  report(host: string): void {
    const { agent } = SELF_OWNED;
    this.world.link.set("prod", {
      ...agent,
      lastHeartbeat: this.world.clock.now(),
      health: { ...agent.health, parentAddresses: addresses(host) },
    });
  }

  async setEndpoints(endpoints: { readonly host: string } | null): Promise<void> {
    const patch = { spec: { endpoints } };
    expectOk(await this.world.cluster.client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch }));
    await this.world.pass();
  }

  async condition(cluster = "mgmt", type = "EndpointsCurrent") {
    return findCondition((await this.world.latticeCluster(cluster))?.status?.conditions, type);
  }
}

test("an address that was removed is served until the last child is gone, and the condition names the children", async () => {
  const cell = await AddressWorld.open();
  const { world } = cell;
  expect(await cell.condition()).toBeUndefined();
  await cell.setEndpoints(null);
  expect(await world.object(services, SERVICE)).toBeDefined();
  const removed = await cell.condition();
  expect(removed).toMatchObject({ status: "False", reason: "EndpointsRemoved" });
  expect(removed?.message).toMatch(
    /^spec\.endpoints was removed, and prod connect to this cell: it goes on serving them at 10\.0\.0\.1, ports 50051, 8443 and 8444/,
  );
  expect(await cell.condition("prod", "Ready")).toMatchObject({ status: "True", reason: "SelfManaged" });

  await world.addCluster("late");
  await world.pass();
  expect(await cell.condition("late", "Ready")).toMatchObject({
    reason: "NotACell",
    message: expect.stringContaining("takes no others") as string,
  });
  await world.remove(latticeClusters, { name: "late" });
  await world.pass();

  const released = { spec: { deletion: { unpivot: false } } };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: released }));
  await world.remove(latticeClusters, { name: "prod" });
  for (let pass = 0; pass < 4; pass += 1) await world.pass();
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(await world.object(services, SERVICE)).toBeUndefined();
});

test("a changed address is served beside the former one until each child has it, and the condition names the rest with the command", async () => {
  const cell = await AddressWorld.open();
  const { world } = cell;
  await cell.setEndpoints({ host: "10.0.0.2" });
  const changed = await cell.condition();
  expect(changed).toMatchObject({ status: "False", reason: "FormerEndpointsInUse" });
  expect(changed?.message).toMatch(
    /^prod may have a former address of this cell \(10\.0\.0\.1, ports .*lattice reparent NAME .* --to <kubeconfig of mgmt>$/,
  );
  await world.pass(600_000);
  expect(await cell.condition()).toMatchObject({ reason: "FormerEndpointsInUse" });
  cell.report("10.0.0.2");
  await world.pass(120_000);
  expect(await cell.condition()).toMatchObject({ status: "True", reason: "EndpointsCurrent" });
});

test("an address that was removed and set again is an ordinary one", async () => {
  const cell = await AddressWorld.open();
  await cell.setEndpoints(null);
  await cell.setEndpoints({ host: "10.0.0.1" });
  expect(await cell.condition()).toMatchObject({ status: "True", reason: "EndpointsCurrent" });
});

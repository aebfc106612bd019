import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk, silentLogger } from "#base";
import { bindController } from "#controller-runtime";
import { clusterController } from "#controllers";
import { latticeClusters } from "#crds";
import { configMaps, secrets } from "#kube";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { CellWorld, HOME } from "../../../test/builders/cell-world.ts";
import { followRoles } from "./follow-roles.ts";
import { rolesOf } from "./roles-of.ts";

describe("the roles of an operator", () => {
  const own = childCluster();
  const cell = childCluster({ endpoints: { host: "10.0.0.1" } });
  const { endpoints: current } = cell.spec;
  const endpoints = current === undefined ? undefined : { current, former: [], isRemoved: false };

  test.each([
    { name: "none without an identity", given: { name: undefined, own: undefined, hasParent: false, endpoints: undefined }, want: [] },
    {
      name: "self-manager with a name alone",
      given: { name: "prod", own: undefined, hasParent: false, endpoints: undefined },
      want: ["self-manager"],
    },
    {
      name: "self-manager with a cluster of its own",
      given: { name: "prod", own, hasParent: false, endpoints: undefined },
      want: ["self-manager"],
    },
    { name: "cell with endpoints", given: { name: "prod", own: cell, hasParent: false, endpoints }, want: ["cell", "self-manager"] },
    {
      name: "agent with a parent",
      given: { name: "prod", own: undefined, hasParent: true, endpoints: undefined },
      want: ["agent", "self-manager"],
    },
    {
      name: "all of them in the middle of a tree",
      given: { name: "prod", own: cell, hasParent: true, endpoints },
      want: ["cell", "agent", "self-manager"],
    },
  ])("are $name", ({ given, want }) => {
    expect([...rolesOf(given)]).toEqual(want);
  });

  test("start and stop while the operator runs", async () => {
    const world = await CellWorld.openCell();
    const changes: string[] = [];
    const manager = world.start([bindController(clusterController, world.shared)]);
    const setActive = (role: string, active: boolean) => void changes.push(`${role} ${active ? "on" : "off"}`);
    const end = followRoles({ manager: { cache: manager.cache, setActive }, home: HOME, logger: silentLogger });
    onTestFinished(async () => {
      end();
      await world.end();
      await world[Symbol.asyncDispose]();
    });
    await world.pass();
    expect(changes).toEqual([]);
    await world.becomeCell();
    await world.pass();
    expect(changes.splice(0)).toEqual(["self-manager on", "cell on"]);
    await world.cluster.add({ apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: HOME } });
    await world.pass();
    expect(changes.splice(0)).toEqual(["agent on"]);
    expectOk(await world.cluster.client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch: { spec: { endpoints: null } } }));
    await world.remove(secrets, { namespace: HOME, name: "lattice-parent-config" });
    await world.pass();
    expect(changes.splice(0)).toEqual(["cell off", "agent off"]);
    await world.remove(configMaps, { namespace: HOME, name: "lattice-identity" });
    await world.pass();
    expect(changes).toEqual(["self-manager off"]);
  });

  test("run until the cluster's own resource is gone, which waits for its children", async () => {
    const world = await CellWorld.openCell();
    const changes: string[] = [];
    await world.becomeCell();
    await world.addCluster("prod");
    const manager = world.start([bindController(clusterController, world.shared)]);
    const setActive = (role: string, active: boolean) => void changes.push(`${role} ${active ? "on" : "off"}`);
    const end = followRoles({ manager: { cache: manager.cache, setActive }, home: HOME, logger: silentLogger });
    onTestFinished(async () => {
      end();
      await world.end();
      await world[Symbol.asyncDispose]();
    });
    world.startCell();
    await world.pass();
    expect(changes.splice(0)).toEqual(["cell on", "self-manager on"]);
    await world.remove(latticeClusters, { name: "mgmt" });
    await world.pass();
    expect(changes).toEqual([]);
    await world.remove(latticeClusters, { name: "prod" });
    for (let pass = 0; pass < 3; pass += 1) await world.pass();
    expect(await world.latticeCluster("mgmt")).toBeUndefined();
    expect(changes).toEqual(["cell off"]);
  });
});

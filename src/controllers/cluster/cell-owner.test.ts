/** New children of a cell that has a parent: as long as it does not own itself, its parent deletes its machines without regard to clusters in it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { capiClusters, configMaps, findCondition, namespaces, secrets } from "#kube";
import { MOVE_JOURNAL, MOVE_RECORD } from "#pivot";
import { CellWorld, HOME, localCluster } from "../../../test/builders/cell-world.ts";

const OWN = "capi-hub";
const PARENT = { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: HOME } };
const JOURNAL = { apiVersion: "v1", kind: "Secret", metadata: { namespace: OWN, name: MOVE_JOURNAL }, type: "lattice.dev/move-journal" };
const record = (state: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: OWN, name: MOVE_RECORD },
  data: { id: "a", state, epoch: "1", source: "s", startedAt: "", objects: "1", digest: "", finishedAt: "" },
});

/** Cell `hub`, a child of another cell; what moves have left in it. */
async function openHub(...traces: readonly object[]): Promise<CellWorld> {
  const world = await CellWorld.openCell(undefined, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: OWN } }]);
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell("hub");
  await world.cluster.add(PARENT, ...(traces as []));
  world.startCell();
  world.start(world.controllers());
  await world.pass();
  return world;
}

const ready = async (world: CellWorld, name: string) => findCondition((await world.latticeCluster(name))?.status?.conditions, "Ready");
const begun = async (world: CellWorld, name: string) => (await world.object(namespaces, { name: `capi-${name}` })) !== undefined;

describe("a cell with a parent", () => {
  test.each([
    { name: "before its pivot", traces: [] },
    { name: "while its objects arrive", traces: [record("receiving")] },
    { name: "while its objects leave", traces: [record("committed"), JOURNAL] },
  ])("begins no cluster $name", async ({ traces }) => {
    const world = await openHub(...traces);
    await world.addCluster("leaf");
    await world.pass();
    expect((await world.latticeCluster("leaf"))?.status?.phase).toBe("Pending");
    const refused = await ready(world, "leaf");
    expect(refused).toMatchObject({ status: "False", reason: "CellNotOwner" });
    expect(refused?.message).toMatch(/^the cell hub does not own itself.*lattice pivot resume hub/);
    expect([await begun(world, "leaf"), world.access.issued]).toEqual([false, 0]);
    await world.remove(latticeClusters, { name: "leaf" });
    await world.pass();
    expect(await world.latticeCluster("leaf")).toBeUndefined();
  });

  test("adopts no cluster while its objects leave, and says so; before its pivot it may", async () => {
    const adopted = (name: string) => {
      const cluster = localCluster(name, { cellRef: "hub" });
      return { ...cluster, metadata: { ...(cluster.metadata as object), name, annotations: { "lattice.dev/adopted": "uid-of-it" } } };
    };
    const leaving = await openHub(record("committed"), JOURNAL);
    await leaving.cluster.add(adopted("leaf"));
    await leaving.pass();
    const refused = await ready(leaving, "leaf");
    expect(refused).toMatchObject({ status: "False", reason: "CellNotOwner" });
    expect(refused?.message).toMatch(
      /are being moved away, as in its deletion, and it adopts no clusters; set spec\.deletion\.unpivot to false/,
    );
    const early = await openHub();
    await early.cluster.add(adopted("leaf"));
    await early.pass();
    expect(await ready(early, "leaf")).toMatchObject({ status: "False", reason: "Disconnected" });
  });

  test("begins the clusters that wait as soon as it owns itself", async () => {
    const world = await openHub();
    await world.addCluster("leaf");
    await world.pass();
    expect(await begun(world, "leaf")).toBe(false);
    await world.cluster.add(record("committed"));
    await world.pass();
    expect(await world.object(capiClusters, { namespace: "capi-leaf", name: "leaf" })).toBeDefined();
  });

  test("adopts clusters, whose machines it does not make", async () => {
    const world = await openHub();
    await world.addCluster("leaf");
    const patch = { metadata: { annotations: { "lattice.dev/adopted": "uid-1" } } };
    expectOk(await world.cluster.client.patch(latticeClusters, { name: "leaf" }, { type: "merge", patch }));
    await world.pass();
    expect((await ready(world, "leaf"))?.reason).not.toBe("CellNotOwner");
  });

  test("goes on with clusters that it has begun", async () => {
    const world = await openHub(record("committed"));
    await world.addCluster("leaf");
    await world.pass();
    await world.remove(configMaps, { namespace: OWN, name: MOVE_RECORD });
    await world.pass();
    expect((await ready(world, "leaf"))?.reason).not.toBe("CellNotOwner");
    expect((await world.latticeCluster("leaf"))?.status?.phase).toBe("Provisioning");
  });
});

test("a cell without a parent begins clusters, also before it owns itself: the bootstrap cluster of an installation is one", async () => {
  const world = await openHub();
  await world.remove(secrets, { namespace: HOME, name: "lattice-parent-config" });
  await world.addCluster("leaf");
  await world.pass();
  expect(await begun(world, "leaf")).toBe(true);
});

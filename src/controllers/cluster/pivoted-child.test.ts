/** Children from their pivot on, in a cell whose moves are replaced: what the controller asks for, and what it costs. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { stamp } from "#controller-runtime";
import { latticeClusters } from "#crds";
import { capiClusters, configMaps, fieldAt, findCondition, secrets, type KubeObject } from "#kube";
import { MOVE_JOURNAL, MOVE_RECORD } from "#pivot";
import { CellWorld, HOME } from "../../../test/builders/cell-world.ts";
import { CONNECTED } from "../../../test/builders/observed-child.ts";
import { decoded } from "../../../test/builders/two-clusters.ts";
import { MIRROR_ANNOTATION, specDigest } from "./spec-mirror.ts";

const inProd = (name: string) => ({ namespace: "capi-prod", name });
const REGISTERED = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: Date.UTC(2100, 0) }] };
const SELF = { ...CONNECTED, health: { readyNodes: 3, totalNodes: 3, kubernetesVersion: "v1.36.3", ownershipEpoch: 1 } };

/** A cell with a child that has registered and owns its objects. */
async function openCell(name = "prod"): Promise<CellWorld> {
  const world = await CellWorld.openCell();
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.becomeCell();
  world.startCell();
  world.access.records.set(name, REGISTERED);
  world.link.set(name, { ...SELF, lastHeartbeat: world.clock.now() });
  world.start(world.controllers());
  await world.addCluster(name, { cellRef: "mgmt" });
  await world.pass();
  return world;
}

async function mirrored(world: CellWorld): Promise<string> {
  const cluster = await world.latticeCluster("prod");
  if (cluster === undefined) throw new Error("there is no LatticeCluster");
  const digest = specDigest(cluster);
  const patch = { metadata: { annotations: { [MIRROR_ANNOTATION]: digest } } };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
  world.link.set("prod", { ...SELF, health: { ...SELF.health, specDigest: digest } });
  await world.pass();
  return digest;
}

const conditionOf = async (world: CellWorld, type: string) => {
  const found = findCondition((await world.latticeCluster("prod"))?.status?.conditions, type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};

/** Of committed moves, as the mover leaves it at the target. */
function record(epoch: number): KubeObject {
  const data = { id: "a", state: "committed", epoch: String(epoch), source: "s", startedAt: "", objects: "1", digest: "", finishedAt: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: inProd(MOVE_RECORD), data } as KubeObject;
}

const capiCluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { ...inProd("prod"), labels: {} } };

/** The move has ended: the objects are here, with the record. */
async function takeBack(world: CellWorld): Promise<void> {
  const owner = await world.latticeCluster("prod");
  if (owner === undefined) throw new Error("there is no LatticeCluster");
  const moved = stamp(capiCluster, { controller: "cluster", object: owner, ownerReferences: "none" });
  expectOk(await world.cluster.client.apply(capiClusters, moved, { fieldManager: "lattice" }));
  await world.cluster.add(record(2));
  const now = world.clock.now();
  world.pivots.set("prod", { direction: "to-parent", state: "done", startedAt: now, progressAt: now, finishedAt: now });
}

test("a child that owns itself is Ready, and a pass over it sends no request", async () => {
  const world = await openCell();
  await mirrored(world);
  expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Ready", ownedBy: "self" });
  expect(await conditionOf(world, "Ready")).toBe("True SelfManaged");
  expect(await world.objects(capiClusters)).toEqual([]);
  const before = world.requests().length;
  for (let pass = 0; pass < 3; pass += 1) {
    world.link.set("prod", { ...SELF, state: `state-${pass}`, health: { ...SELF.health, specDigest: await digestOf(world) } });
    await world.pass();
  }
  // but for the reads of this test itself
  const sent = world
    .requests()
    .slice(before)
    .filter(({ path }) => !/latticeclusters|events/.test(path));
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

async function digestOf(world: CellWorld): Promise<string> {
  const cluster = await world.latticeCluster("prod");
  return cluster === undefined ? "" : specDigest(cluster);
}

test("a spec that changed in the child is asked for, and an edit in the parent is reported", async () => {
  const world = await openCell();
  const digest = await mirrored(world);
  world.pivots.asked.length = 0;
  world.link.set("prod", { ...SELF, health: { ...SELF.health, specDigest: "b".repeat(64) } });
  await world.pass();
  expect(world.pivots.asked).toEqual(["mirror prod"]);
  world.link.set("prod", { ...SELF, health: { ...SELF.health, specDigest: digest } });
  const patch = { spec: { nodes: { workers: 9 } } };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
  await world.pass();
  expect(await conditionOf(world, "SpecIgnored")).toBe("True SpecEdited");
  expect(await world.objects(capiClusters)).toEqual([]);
});

test("a journal that an earlier process left is continued, and nothing is applied meanwhile", async () => {
  const world = await openCell("other");
  world.access.records.set("prod", REGISTERED);
  world.link.set("prod", CONNECTED);
  await world.cluster.add(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-prod" } },
    { apiVersion: "v1", kind: "Secret", metadata: inProd(MOVE_JOURNAL), type: "lattice.dev/move-journal" },
  );
  await world.addCluster("prod");
  await world.pass();
  expect(world.pivots.asked).toContain("start prod");
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Pivoting");
  expect(await world.objects(capiClusters)).toEqual([]);
});

test("a Cluster that is gone from the server is not created again, although the cache has it still", async () => {
  const world = await openCell("other");
  await world.addCluster("prod");
  await world.pass();
  expect(await world.object(capiClusters, inProd("prod"))).toBeDefined();
  world.access.records.set("prod", REGISTERED);
  const applied = () => world.writes().filter((write) => write.includes("/clusters/prod") && !write.includes("lattice")).length;
  const before = applied();
  // the server has moved it; the watch of the cache is late
  world.cluster.intercept({ verb: "get", resource: "clusters.cluster.x-k8s.io", times: Number.POSITIVE_INFINITY }, () =>
    Promise.resolve({ error: { code: 404, reason: "NotFound", message: "gone" } } as never),
  );
  world.link.set("prod", CONNECTED);
  await world.pass();
  expect(applied()).toBe(before);
});

test("a deleted child that owns itself is taken back with a kubeconfig of its own, then deleted as any other", async () => {
  const world = await openCell();
  await mirrored(world);
  await world.remove(latticeClusters, { name: "prod" });
  await world.pass();
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
  expect(world.pivots.asked).toContain("unpivot prod");
  const kubeconfig = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
  expect(decoded(fieldAt(kubeconfig, "data", "value"))).toContain("token: proxy-1");
  expect(await world.object(secrets, { namespace: HOME, name: "lattice-bootstrap-prod" })).toBeUndefined();
  await takeBack(world);
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  // marked first: without its Cluster it would be taken for a child that owns itself
  const writes = world.writes().filter((write) => /clusters\/prod(\?|$)/.test(write));
  const deletion = writes.findIndex((write) => /^DELETE .*capi-prod\/clusters\/prod/.test(write));
  expect(writes[deletion - 1]).toMatch(/^PATCH .*latticeclusters\/prod/);
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(world.access.records.has("prod")).toBe(false);
});

test("a Cluster whose take-back was interrupted right after its commit is unpaused before it is deleted", async () => {
  const world = await openCell();
  await mirrored(world);
  await world.remove(latticeClusters, { name: "prod" });
  await world.pass();
  const object = await world.latticeCluster("prod");
  if (object === undefined) throw new Error("there is no LatticeCluster");
  const paused = { ...capiCluster, spec: { paused: true } } as KubeObject;
  const moved = stamp(paused, { controller: "cluster", object, ownerReferences: "none" });
  expectOk(await world.cluster.client.apply(capiClusters, moved, { fieldManager: "lattice" }));
  const committed = record(2) as KubeObject & { readonly data: object };
  await world.cluster.add({ ...committed, data: { ...committed.data, stillPaused: "" } });
  // the agent is away, so the move does not continue
  world.link.set("prod", { ...CONNECTED, connected: false });
  const now = world.clock.now();
  world.pivots.set("prod", { direction: "to-parent", state: "waiting", startedAt: now, progressAt: now, retryAt: now });
  const deleted: unknown[] = [];
  world.cluster.intercept({ verb: "delete", resource: "clusters.cluster.x-k8s.io", times: 1 }, (_action, next) => {
    deleted.push(fieldAt(world.cluster.peek<KubeObject>(capiClusters, inProd("prod")), "spec", "paused"));
    return next();
  });
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect([deleted, await world.latticeCluster("prod")]).toEqual([[undefined], undefined]);
});

async function release(world: CellWorld, unpivot = false): Promise<void> {
  const patch = { spec: { deletion: { unpivot } } };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
}

test("a child whose objects were taken back before its release gets them again, and its machines stay", async () => {
  const world = await openCell();
  await mirrored(world);
  await world.remove(latticeClusters, { name: "prod" });
  await world.pass();
  await release(world);
  await takeBack(world);
  const asked = world.pivots.asked.length;
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect(world.pivots.asked.slice(asked)).toContain("unpivot prod");
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
  const pivoting = findCondition((await world.latticeCluster("prod"))?.status?.conditions, "Pivoting");
  expect(pivoting?.message).toBe("the cluster is released: what is moving of its Cluster API objects goes back to it");
  // the child owns them again
  expectOk(await world.cluster.client.delete(capiClusters, inProd("prod")));
  expectOk(await world.cluster.client.delete(configMaps, inProd(MOVE_RECORD)));
  world.link.set("prod", { ...SELF, health: { ...SELF.health, ownershipEpoch: 3 } });
  const deletions = world.writes().filter((write) => /^DELETE .*capi-prod\/clusters\/prod/.test(write)).length;
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(world.writes().filter((write) => /^DELETE .*capi-prod\/clusters\/prod/.test(write))).toHaveLength(deletions);
});

test("a release that waits for the agent for too long says how to delete the machines instead, and does it", async () => {
  const world = await openCell();
  await mirrored(world);
  await world.remove(latticeClusters, { name: "prod" });
  await world.pass();
  await release(world);
  await takeBack(world);
  world.link.set("prod", { ...CONNECTED, connected: false });
  await world.pass(3 * 3_600_000);
  const ready = findCondition((await world.latticeCluster("prod"))?.status?.conditions, "Ready");
  expect(ready).toMatchObject({ reason: "UnpivotTimedOut" });
  expect(ready?.message).toMatch(/spec\.deletion\.unpivot to true: the machines are then deleted$/);
  await release(world, true);
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(await world.objects(capiClusters)).toEqual([]);
});

test("a released child loses its resource, its access and its namespace in the parent, and nothing is asked of it", async () => {
  const world = await openCell();
  await mirrored(world);
  await release(world);
  await world.remove(latticeClusters, { name: "prod" });
  await world.pass();
  await world.pass();
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(world.pivots.asked.filter((asked) => asked.startsWith("unpivot"))).toEqual([]);
  expect(world.link.forgotten).toHaveLength(1);
});

test("a start of the operator changes nothing about children that own themselves", async () => {
  const world = await openCell();
  await mirrored(world);
  const before = (await world.latticeCluster("prod"))?.metadata.resourceVersion;
  await world.end(0);
  world.slot.set(undefined);
  world.restart(world.controllers());
  await world.pass();
  expect((await world.latticeCluster("prod"))?.metadata.resourceVersion).toBe(before);
  expect(await world.objects(capiClusters)).toEqual([]);
});

test("a child that is deleted while the cell starts is taken back once it runs, and never released", async () => {
  const world = await openCell();
  await mirrored(world);
  await world.end(0);
  world.slot.set(undefined);
  await world.remove(latticeClusters, { name: "prod" });
  // the cell starts between the first and the last request of the pass
  world.cluster.intercept({ verb: "get", resource: "configmaps", times: 1 }, (_request, next) => {
    world.startCell();
    return next();
  });
  world.restart(world.controllers());
  await world.pass();
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
  expect(world.pivots.asked.some((asked) => asked.startsWith("unpivot"))).toBe(true);
});

/** The operator starts again, without a record of the child's access: its agent is refused. */
async function loseAccess(world: CellWorld): Promise<void> {
  await world.end(0);
  world.slot.set(undefined);
  world.access.records.delete("prod");
  world.link.views.delete("prod");
  world.restart(world.controllers());
  await world.pass();
  world.startCell();
  for (let pass = 0; pass < 4; pass += 1) await world.pass();
}

test("a child that owns itself is not made a second time when its access record is lost, and its condition has what to do", async () => {
  const world = await openCell();
  await mirrored(world);
  await loseAccess(world);
  const after = await world.latticeCluster("prod");
  expect(after?.status).toMatchObject({ phase: "Ready", ownedBy: "self" });
  expect(await world.objects(capiClusters)).toEqual([]);
  expect(world.access.issued).toBe(0);
  const ready = findCondition(after?.status?.conditions, "Ready");
  expect(ready).toMatchObject({ status: "False", reason: "AccessMissing" });
  expect(ready?.message).toMatch(/Secret lattice-access-prod .*restore it from a backup.*spec\.deletion\.unpivot.*lattice reparent prod/);
});

test("its deletion waits with the same reason, and ends after the record was restored and the objects were taken back, also if the record is lost again", async () => {
  const world = await openCell();
  await mirrored(world);
  await loseAccess(world);
  await world.remove(latticeClusters, { name: "prod" });
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Unpivoting");
  expect(await conditionOf(world, "Ready")).toBe("False AccessMissing");
  expect(world.access.issued).toBe(0);
  world.access.records.set("prod", REGISTERED);
  world.link.set("prod", SELF);
  await world.pass();
  expect(world.pivots.asked).toContain("unpivot prod");
  world.access.records.delete("prod");
  await takeBack(world);
  for (let pass = 0; pass < 3; pass += 1) await world.pass(6_000);
  expect(await world.latticeCluster("prod")).toBeUndefined();
  expect(world.pivots.asked).not.toContain("start prod");
});

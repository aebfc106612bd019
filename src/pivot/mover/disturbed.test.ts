/** Moves that meet what they must not touch, what blocks them, and changes while they run; and the way back. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { err, expectOk, seededRandom, systemClock, type Result } from "#base";
import { failWith } from "#embedded-cluster";
import {
  capiClusters,
  capiMachineDeployments,
  capiMachines,
  capiProviders,
  configMaps,
  fieldAt,
  secrets,
  type Json,
  type KubeObject,
  type Resource,
} from "#kube";
import { contextFor } from "./move-crashes.test-support.ts";
import { JumpClock } from "../../../test/builders/jump-clock.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { contentsOf, isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { abortMove } from "./abort.ts";
import type { ApiSide } from "./api-side.ts";
import type { MoveFailure } from "./failure.ts";
import { runMove } from "./move.ts";
import { moveNamespace, planNamespaceMove, type MoveOptions } from "./move-namespace.ts";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
});

const options = (more: Partial<MoveOptions> = {}): MoveOptions => ({
  source: world.source.client,
  target: world.target.client,
  namespace: "c1",
  identity: "test-1",
  clock: systemClock,
  random: seededRandom(1),
  signal: new AbortController().signal,
  waitMs: 200,
  leaseMs: 600_000,
  onWait: () => {},
  report: () => {},
  ...more,
});

const alive = () => new MortalProcess(undefined);
const change = async (side: "source" | "target", resource: Resource, name: string, patch: Json) =>
  expectOk(
    await world[side].client.patch<KubeObject>(resource, { namespace: "c1", name }, { type: "merge", patch }, { fieldManager: "person" }),
  );
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure =>
  result.ok ? expect.fail("the move was not refused") : result.error;
const ourObjects = async () => [...(await contentsOf(world.target.client, "c1")).keys()];

/** Stops a move at the first write that `when` names. */
async function stopAt(matches: (line: string) => boolean): Promise<void> {
  const process = alive();
  const context = contextFor(world.source, world.target, process, 1);
  const stopped = await runMove({
    ...context,
    report: ({ step, done }) => void (matches(`${step} ${done ?? ""}`.trim()) && (process.dead = true)),
  });
  expect(stopped.ok).toBe(false);
}

test("a dry run changes nothing and lists what is not moved", async () => {
  const plan = expectOk(await planNamespaceMove(options()));
  expect(plan.left.map(({ metadata }) => metadata.name)).toEqual(["unrelated"]);
  expect(isUnpaused(world.source, "c1")).toBe(true);
  expect(await ourObjects()).toEqual([]);
});

const taken: readonly { name: string; resource: Resource; object: object }[] = [
  { name: "a Cluster", resource: capiClusters, object: { spec: {} } },
  { name: "a Secret", resource: secrets, object: { data: {} } },
];

test.for(taken)("the target has $name of that name: refused before anything is written", async ({ resource, object }) => {
  const name = resource === secrets ? "c1-ca" : "c1";
  const { group, version, kind } = resource;
  await world.target.add({
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, namespace: "c1" },
    ...object,
  });
  const failure = failureOf(await moveNamespace(options()));
  expect(failure).toMatchObject({
    kind: "refused",
    message: `${kind} c1/${name} exists at the target already; delete it there, or move into another API server`,
  });
  expect(isUnpaused(world.source, "c1")).toBe(true);
});

test("a provider that is older in the target: refused, with the reason", async () => {
  await world.target.client.patch(
    capiProviders,
    { namespace: "capd-system", name: "infrastructure-docker" },
    { type: "merge", patch: { version: "v1.0.0" } },
  );
  expect(failureOf(await moveNamespace(options())).message).toContain("provider infrastructure-docker is older in the target (v1.0.0)");
});

test("both kubeconfigs lead to one cluster: refused", async () => {
  expect(failureOf(await moveNamespace(options({ target: world.source.client }))).message).toContain("the same cluster");
});

test("a namespace without clusters: nothing to move, and nothing is left behind", async () => {
  const report = expectOk(await moveNamespace(options({ namespace: "default" })));
  expect(report).toMatchObject({ objects: 0 });
  expect(report.id).toBeUndefined();
});

test("what was paused before the move stays paused, and is reported", async () => {
  await change("source", capiClusters, "c1", { spec: { paused: true } });
  const report = expectOk(await moveNamespace(options()));
  expect(report.stillPaused).toEqual(["Cluster c1"]);
  const moved = expectOk(await world.target.client.get<KubeObject>(capiClusters, { namespace: "c1", name: "c1" }));
  expect(fieldAt(moved, "spec", "paused")).toBe(true);
});

test("an object that blocks the move for too long: refused, and the source is unpaused again", async () => {
  await change("source", capiMachines, "c1-cp-1", { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": "" } } });
  const failure = failureOf(await moveNamespace(options()));
  expect(failure.message).toContain("Machine c1/c1-cp-1 still has annotation clusterctl.cluster.x-k8s.io/block-move");
  expect(failure.message).toContain("the move was rolled back");
  expect(isUnpaused(world.source, "c1")).toBe(true);
  expect(await ourObjects()).toEqual([]);
  expect((await world.source.client.get(secrets, { namespace: "c1", name: "lattice-move-journal" })).ok).toBe(false);
});

test("a move that replaces one that was killed before it registered is rolled back too when it is refused", async () => {
  {
    using _refusing = world.target.intercept({ resource: "configmaps", verb: ["create", "update", "patch"] }, failWith("unavailable"));
    expect(failureOf(await moveNamespace(options())).kind).toBe("failed");
  }
  expect((await world.source.client.get(secrets, { namespace: "c1", name: "lattice-move-journal" })).ok).toBe(true);
  await change("source", capiMachines, "c1-cp-1", { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": "" } } });
  expect(failureOf(await moveNamespace(options())).message).toContain("the move was rolled back");
  expect(isUnpaused(world.source, "c1")).toBe(true);
  expect((await world.source.client.get(secrets, { namespace: "c1", name: "lattice-move-journal" })).ok).toBe(false);
});

test.each([
  {
    way: "aborted",
    end: async (process: MortalProcess): Promise<Result<unknown, MoveFailure>> =>
      abortMove(contextFor(world.source, world.target, process, 2)),
  },
  {
    way: "run again",
    end: async (process: MortalProcess): Promise<Result<unknown, MoveFailure>> =>
      runMove(contextFor(world.source, world.target, process, 2)),
  },
])("a move whose target loses its record while an object blocks it leaves nothing paused when it is $way", async ({ end }) => {
  const block = { "clusterctl.cluster.x-k8s.io/block-move": "" };
  await change("source", capiMachines, "c1-cp-1", { metadata: { annotations: block } });
  expect(failureOf(await runMove(contextFor(world.source, world.target, alive(), 1))).kind).toBe("refused");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  expectOk(await world.target.client.delete(configMaps, { namespace: "c1", name: "lattice-move-record" }));
  const annotations = Object.fromEntries(Object.keys(block).map((name) => [name, null]));
  await change("source", capiMachines, "c1-cp-1", { metadata: { annotations } });
  expectOk(await end(alive()));
  const owner = world.target.peek(capiClusters, { namespace: "c1", name: "c1" }) === undefined ? world.source : world.target;
  expect(isUnpaused(owner, "c1")).toBe(true);
});

test("an object that is being deleted is not copied; a deleted Cluster is refused at once", async () => {
  await world.source.client.delete(capiMachines, { namespace: "c1", name: "c1-md-1-1" });
  expect(failureOf(await moveNamespace(options())).message).toContain(
    "Machine c1/c1-md-1-1 is still being deleted; it is finished at the source",
  );
  expect(isUnpaused(world.source, "c1")).toBe(true);
  await world.source.client.delete(capiClusters, { namespace: "c1", name: "c1" });
  expect(failureOf(await moveNamespace(options())).message).toContain("Cluster c1/c1 is being deleted");
});

test("a controller that has not observed the pause is waited for", async () => {
  const conditions = (status: string) => ({
    status: { conditions: [{ type: "Paused", status, reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }] },
  });
  const observe = (status: string) =>
    world.source.client.patch(
      capiMachines,
      { namespace: "c1", name: "c1-cp-1" },
      { type: "merge", patch: conditions(status) },
      { subresource: "status" },
    );
  expectOk(await observe("False"));
  const notes: string[] = [];
  const report: MoveOptions["report"] = ({ note }) => {
    if (note === undefined) return;
    if (notes.length === 0) void observe("True");
    notes.push(note);
  };
  expectOk(await moveNamespace(options({ waitMs: 60_000, report })));
  expect(notes[0]).toBe("the controller of Machine c1/c1-cp-1 has not observed the pause yet");
});

test("a namespace that the source does not have: refused", async () => {
  expect(failureOf(await moveNamespace(options({ namespace: "absent" })))).toMatchObject({
    kind: "refused",
    message: "the source has no namespace absent; name another one with -n",
  });
});

test("an account that may not write the lease: the move ends and names the permission", async () => {
  const clock = new JumpClock();
  const refused = failWith("forbidden");
  world.source.intercept({ verb: "create", resource: "leases", times: 1_000 }, (...call) => {
    clock.jump(5_000);
    return refused(...call);
  });
  expect(failureOf(await moveNamespace(options({ clock })))).toMatchObject({
    kind: "failed",
    message: expect.stringContaining("grant create and update of leases") as unknown,
  });
});

test("a deletion that ends in time is waited for, and the rest is moved", async () => {
  await world.source.client.delete(capiMachines, { namespace: "c1", name: "c1-md-1-1" });
  const notes: string[] = [];
  const report: MoveOptions["report"] = ({ note }) => {
    if (note === undefined) return;
    if (notes.length === 0) void change("source", capiMachines, "c1-md-1-1", { metadata: { finalizers: [] } });
    notes.push(note);
  };
  expectOk(await moveNamespace(options({ waitMs: 60_000, report })));
  expect(notes[0]).toBe("Machine c1/c1-md-1-1 is being deleted");
  expect((await ourObjects()).filter((name) => name.startsWith("Machine "))).toEqual(["Machine c1/c1-cp-1"]);
});

test("an edit at the source after it was copied is copied, too", async () => {
  await stopAt((line) => line.startsWith("verify"));
  await change("source", capiMachineDeployments, "c1-md", { spec: { replicas: 7 }, metadata: { labels: { late: "yes" } } });
  expectOk(await runMove(contextFor(world.source, world.target, alive(), 2)));
  const moved = expectOk(await world.target.client.get<KubeObject>(capiMachineDeployments, { namespace: "c1", name: "c1-md" }));
  expect([fieldAt(moved, "spec", "replicas"), moved.metadata.labels?.["late"]]).toEqual([7, "yes"]);
});

test("an object that is gone from the source after it was copied is gone from the target", async () => {
  await stopAt((line) => line.startsWith("verify"));
  await world.source.client.delete(secrets, { namespace: "c1", name: "c1-proxy" });
  expectOk(await runMove(contextFor(world.source, world.target, alive(), 2)));
  expect(await ourObjects()).not.toContain("Secret c1/c1-proxy");
});

test("a Cluster that appears during the move: refused, and the move can be undone", async () => {
  await stopAt((line) => line.startsWith("verify"));
  await world.source.add({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "c2", namespace: "c1" }, spec: {} });
  expect(failureOf(await runMove(contextFor(world.source, world.target, alive(), 2))).message).toContain(
    "Cluster c1/c2 has appeared since the move began",
  );
  expect(expectOk(await abortMove(contextFor(world.source, world.target, alive(), 3)))).toBe(true);
  expect(isUnpaused(world.source, "c1")).toBe(true);
  expect(await ourObjects()).toEqual([]);
});

test("a source that a person unpauses during the move is paused again before the commit", async () => {
  await stopAt((line) => line.startsWith("announce-commit"));
  await change("source", capiClusters, "c1", { spec: { paused: null } });
  expectOk(await runMove(contextFor(world.source, world.target, alive(), 2)));
  expect([isUnpaused(world.source, "c1"), isUnpaused(world.target, "c1")]).toEqual([false, true]);
});

test("an unfinished move to another target is refused", async () => {
  await stopAt((line) => line.startsWith("transfer"));
  const other = await startMoveWorld(0, 11);
  onTestFinished(() => other.close());
  const message = "an unfinished move of this namespace goes to another target; finish or abort that one first";
  expect(failureOf(await runMove(contextFor(world.source, other.source, alive(), 2))).message).toBe(message);
  expect(failureOf(await abortMove(contextFor(world.source, other.source, alive(), 2))).message).toContain("goes to another target");
});

test("two sources cannot move into one namespace of a target", async () => {
  await stopAt((line) => line.startsWith("transfer"));
  const other = await startMoveWorld(0, 11);
  onTestFinished(() => other.close());
  const failure = failureOf(await moveNamespace(options({ source: other.source.client, target: world.target.client })));
  expect(failure.message).toMatch(/the target is receiving another move \([0-9a-f]{16}\); finish or abort that one first/);
  expect(isUnpaused(other.source, "c1")).toBe(true);
});

test("after the commit was sent, an abort is refused when the target owns, and the next run finishes", async () => {
  await stopAt((line) => line.startsWith("note-commit"));
  expect(failureOf(await abortMove(contextFor(world.source, world.target, alive(), 2))).message).toContain(
    "the target owns the clusters already",
  );
  expect(isUnpaused(world.source, "c1")).toBe(false);
  expectOk(await runMove(contextFor(world.source, world.target, alive(), 2)));
  expect(isUnpaused(world.target, "c1")).toBe(true);
});

test("a commit that was announced but not made can be undone once the target answers", async () => {
  await stopAt((line) => line === "commit");
  expect(expectOk(await abortMove(contextFor(world.source, world.target, alive(), 2)))).toBe(true);
  expect([isUnpaused(world.source, "c1"), await ourObjects()]).toEqual([true, []]);
});

test("a target that has lost its record after the commit was announced: in doubt, and the source stays paused", async () => {
  await stopAt((line) => line === "commit");
  await world.target.client.delete(configMaps, { namespace: "c1", name: "lattice-move-record" });
  for (const run of [runMove, abortMove]) {
    const failure = failureOf(await run(contextFor(world.source, world.target, alive(), 2)));
    expect(failure).toMatchObject({ kind: "refused", message: expect.stringContaining("in doubt") as unknown });
  }
  expect(isUnpaused(world.source, "c1")).toBe(false);
});

test("a target that does not answer after the commit was announced: in doubt, the source stays paused, and an abort is refused", async () => {
  await stopAt((line) => line === "commit");
  const absent: ApiSide = {
    ...contextFor(world.source, world.target, alive(), 2).target,
    get: () => Promise.resolve(err({ kind: "failed", message: "refused" })),
  };
  const context = { ...contextFor(world.source, world.target, alive(), 2), target: absent };
  expect(failureOf(await runMove(context))).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("the target does not answer") as unknown,
  });
  expect(failureOf(await abortMove(context)).message).toContain("the target does not answer, so whether it owns the clusters is in doubt");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  expectOk(await runMove(contextFor(world.source, world.target, alive(), 3)));
});

test("a journal that something else has changed stops the move", async () => {
  await stopAt((line) => line.startsWith("transfer"));
  await change("source", secrets, "lattice-move-journal", { data: { journal: "AAAA" } });
  expect(failureOf(await runMove(contextFor(world.source, world.target, alive(), 2))).message).toContain("is no journal of a move");
});

test("an abort that is killed on its way is finished by the next one, and no move starts in between", async () => {
  await stopAt((line) => line.startsWith("verify"));
  for (const write of [1, 2, 5, 9]) {
    const killed = await abortMove(contextFor(world.source, world.target, new MortalProcess({ write, when: "after" }), write));
    expect(killed.ok).toBe(false);
    expect(failureOf(await runMove(contextFor(world.source, world.target, alive(), 2))).message).toContain("this move is being aborted");
  }
  expect(expectOk(await abortMove(contextFor(world.source, world.target, alive(), 3)))).toBe(true);
  expect([isUnpaused(world.source, "c1"), await ourObjects()]).toEqual([true, []]);
  expect(expectOk(await abortMove(contextFor(world.source, world.target, alive(), 4)))).toBe(false);
});

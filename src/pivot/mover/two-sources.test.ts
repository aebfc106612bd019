/** Moves of one namespace from several sources, or onwards, at the same time: none reports what it has not done, and each can be ended. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Result } from "#base";
import { failWith, type EmbeddedCluster } from "#embedded-cluster";
import { capiClusters, configMaps, fieldAt, secrets, type KubeObject } from "#kube";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import {
  contentsOf,
  isUnpaused,
  makeProvisioned,
  startManagementCluster,
  startMoveWorld,
  type MoveWorld,
} from "../../../test/builders/move-world.ts";
import { runExport } from "./export.ts";
import type { MoveFailure } from "./failure.ts";
import { exportContext, importAll } from "./folder-world.test-support.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { moveNamespace, type MoveOptions } from "./move-namespace.ts";
import { runMove } from "./move.ts";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(0);
  onTestFinished(() => world.close());
});

const options = (source: EmbeddedCluster, target: EmbeddedCluster, seed = 1): MoveOptions => ({
  source: source.client,
  target: target.client,
  namespace: "c1",
  identity: `test-${seed}`,
  clock: systemClock,
  random: seededRandom(seed),
  signal: new AbortController().signal,
  waitMs: 200,
  leaseMs: 600_000,
  onWait: () => {},
  report: () => {},
});

const HEAD = { namespace: "c1", name: "lattice-move-journal" };
const RECORD = { namespace: "c1", name: "lattice-move-record" };
const isHead = ({ name }: { readonly name?: string | undefined }) => name === HEAD.name;
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);
const movedNames = async ({ client }: EmbeddedCluster) =>
  [...(await contentsOf(client, "c1")).keys()].filter((name) => !name.endsWith("/unrelated")).toSorted();

/** Another cluster with the namespace: of one Cluster that the first one does not have. */
async function startOther(seed = 21): Promise<EmbeddedCluster> {
  const cluster = await startManagementCluster(seed);
  onTestFinished(() => cluster.close());
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } });
  await cluster.add({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "d1", namespace: "c1" }, spec: {} });
  const initialized = {
    type: "ControlPlaneInitialized",
    status: "True",
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true }, conditions: [initialized] };
  const key = { namespace: "c1", name: "d1" };
  expectOk(await cluster.client.patch(capiClusters, key, { type: "merge", patch: { status } }, { subresource: "status" }));
  return cluster;
}

test("another move that ends between the plan of a move and its journal: the move is made all the same, and reports itself", async () => {
  const other = await startOther();
  const before = await movedNames(world.source);
  let first: string | undefined;
  world.source.intercept({ verb: "create", resource: "secrets", when: isHead, times: 1 }, async (_action, next) => {
    first = expectOk(await moveNamespace(options(other, world.target, 2))).id;
    return next();
  });
  const report = expectOk(await moveNamespace(options(world.source, world.target)));
  expect(first).toBeDefined();
  expect([report.id === first, report.objects]).toEqual([false, before.length]);
  expect(await movedNames(world.source)).toEqual([]);
  expect(await movedNames(world.target)).toEqual([...before, "Cluster c1/d1"].toSorted());
  expect([isUnpaused(world.target, "c1"), isUnpaused(world.target, "d1", "c1")]).toEqual([true, true]);
});

test("another move of the same names that ends then: the move is refused, and the source keeps its clusters", async () => {
  const other = await startManagementCluster(21);
  onTestFinished(() => other.close());
  await makeProvisioned(other.client, "c1", 0);
  const before = await movedNames(world.source);
  world.source.intercept({ verb: "create", resource: "secrets", when: isHead, times: 1 }, async (_action, next) => {
    expectOk(await moveNamespace(options(other, world.target, 2)));
    return next();
  });
  expect(failureOf(await moveNamespace(options(world.source, world.target))).message).toContain("exists at the target already");
  expect([isUnpaused(world.source, "c1"), isUnpaused(world.target, "c1")]).toEqual([true, true]);
  expect(await movedNames(world.source)).toEqual(before);
});

const deletions = [
  { step: "verify", want: "before the commit: the source owns the clusters" },
  { step: "delete-source", want: "after the commit: the target owns the clusters" },
];

test.for(deletions)("a journal that a person deletes at $step is no success: refused, with what is left", async ({ step, want }) => {
  let deleted: Promise<unknown> | undefined;
  const report: MoveOptions["report"] = (progress) => {
    if (progress.step === step) deleted ??= world.source.client.delete(secrets, HEAD);
  };
  const failure = failureOf(await moveNamespace({ ...options(world.source, world.target), report }));
  await deleted;
  expect(failure.kind).toBe("refused");
  expect(failure.message).toContain("Secret c1/lattice-move-journal of the source was deleted while the move ran");
  expect(failure.message).toContain(want);
});

test("a namespace without clusters after a journal was discarded: nothing was moved", async () => {
  expectOk(await moveNamespace(options(world.source, world.target)));
  const report = expectOk(await moveNamespace(options(world.source, world.target, 2)));
  expect([report.id, report.objects, report.epoch]).toEqual([undefined, 0, 0]);
});

/** A run that is killed when it reports the step. */
async function killAt(step: string, source: EmbeddedCluster, target: EmbeddedCluster): Promise<void> {
  const process = new MortalProcess(undefined);
  const report = (progress: { readonly step: string }) => void (process.dead ||= progress.step === step);
  expect((await runMove({ ...contextFor(source, target, process, 1), report })).ok).toBe(false);
}

const UNFINISHED = "the target has not finished receiving another move";
const WINDOW = ["note-commit", "resume-target", "delete-source", "finish"];

test.for(WINDOW)("another source waits until a committed move has finished: killed at %s, both moves are made", async (step) => {
  const other = await startOther();
  await killAt(step, world.source, world.target);
  const failure = failureOf(await moveNamespace(options(other, world.target, 2)));
  expect(failure.message).toContain(UNFINISHED);
  expect(failure.message).toContain("the move was rolled back");
  expect(isUnpaused(other, "d1", "c1")).toBe(true);
  expectOk(await moveNamespace(options(world.source, world.target, 3)));
  expectOk(await moveNamespace(options(other, world.target, 4)));
  expect([await movedNames(world.source), await movedNames(other)]).toEqual([[], []]);
  expect([isUnpaused(world.target, "c1"), isUnpaused(world.target, "d1", "c1")]).toEqual([true, true]);
});

test("another source waits while a move of a running process is unpausing the target", async () => {
  const other = await startOther();
  const during: string[] = [];
  world.target.intercept(
    { verb: "patch", resource: "clusters", when: () => true, times: Number.POSITIVE_INFINITY },
    async (_action, next) => {
      const journal = fieldAt(world.source.peek<KubeObject>(secrets, HEAD), "data", "journal");
      const phase = typeof journal === "string" ? Buffer.from(journal, "base64").toString() : "";
      if (during.length === 0 && phase.includes('"committed"'))
        during.push(failureOf(await moveNamespace(options(other, world.target, 2))).message);
      return next();
    },
  );
  expectOk(await moveNamespace(options(world.source, world.target)));
  expect(during).toEqual([expect.stringContaining(UNFINISHED)]);
  expectOk(await moveNamespace(options(other, world.target, 3)));
});

test("an import waits until a committed move has finished", async () => {
  const other = await startOther();
  const directory = new MemoryFolder();
  expectOk(await runExport(exportContext(other, directory)));
  await killAt("delete-source", world.source, world.target);
  expect(failureOf(await importAll(world.target, directory)).message).toContain(UNFINISHED);
  expectOk(await moveNamespace(options(world.source, world.target, 2)));
  expectOk(await importAll(world.target, directory, { seed: 3 }));
  expect([isUnpaused(world.target, "c1"), isUnpaused(world.target, "d1", "c1")]).toEqual([true, true]);
});

test("what arrives is not moved on before its move has finished", async () => {
  const third = await startManagementCluster(31);
  onTestFinished(() => third.close());
  await killAt("delete-source", world.source, world.target);
  const onwards = await moveNamespace(options(world.target, third, 2));
  expect(failureOf(onwards).message).toContain("the source has not finished receiving namespace c1 (move ");
  expect(isUnpaused(world.target, "c1")).toBe(true);
  expectOk(await moveNamespace(options(world.source, world.target, 3)));
  expectOk(await moveNamespace(options(world.target, third, 4)));
  expect([await movedNames(world.source), await movedNames(world.target), isUnpaused(third, "c1")]).toEqual([[], [], true]);
});

test("a new parent takes objects back whose move from the former one has not ended; what still arrives is not taken", async () => {
  const parent = await startManagementCluster(31);
  onTestFinished(() => parent.close());
  await killAt("commit", world.source, world.target);
  const arriving = await moveNamespace({ ...options(world.target, parent, 2), supersedes: true });
  expect(failureOf(arriving).message).toContain("the source is itself receiving namespace c1");
  await killAt("note-commit", world.source, world.target);
  await killAt("delete-source", world.source, world.target);
  expectOk(await moveNamespace({ ...options(world.target, parent, 3), supersedes: true }));
  expect([await movedNames(world.target), isUnpaused(parent, "c1")]).toEqual([[], true]);
  // the former parent that returns is in doubt, and stays paused
  expect(failureOf(await moveNamespace(options(world.source, world.target, 4))).message).toContain("the target has lost its record");
  expect(isUnpaused(world.source, "c1")).toBe(false);
});

test("what came from a source that is gone is moved on once a person has ended the record, as the refusal says", async () => {
  const third = await startManagementCluster(31);
  onTestFinished(() => third.close());
  await killAt("delete-source", world.source, world.target);
  expect(failureOf(await moveNamespace(options(world.target, third, 2))).message).toContain(
    "set data.finishedAt of its ConfigMap c1/lattice-move-record",
  );
  const patch = { data: { finishedAt: "2026-01-01T00:00:00Z" } };
  expectOk(await world.target.client.patch<KubeObject>(configMaps, RECORD, { type: "merge", patch }));
  expectOk(await moveNamespace(options(world.target, third, 3)));
  expect(isUnpaused(third, "c1")).toBe(true);
  // the source that returns is in doubt, and stays paused
  expect(failureOf(await moveNamespace(options(world.source, world.target, 4))).message).toContain("the target has lost its record");
  expect(isUnpaused(world.source, "c1")).toBe(false);
});

test("a move back is made although its record is not finished, when the first source has no journal of it any more", async () => {
  await killAt("finish", world.source, world.target);
  expectOk(await world.source.client.delete(secrets, HEAD));
  expectOk(await moveNamespace(options(world.target, world.source, 2)));
  expect([isUnpaused(world.source, "c1"), await movedNames(world.target)]).toEqual([true, []]);
});

test("a move that is killed before its journal goes has ended, whatever follows it", async () => {
  const third = await startManagementCluster(31);
  onTestFinished(() => third.close());
  const process = new MortalProcess(undefined);
  world.source.intercept({ verb: "delete", resource: "secrets", when: isHead, times: 1 }, (...call) => {
    process.dead = true;
    return failWith("unavailable")(...call);
  });
  expect((await runMove(contextFor(world.source, world.target, process, 1))).ok).toBe(false);
  expectOk(await moveNamespace(options(world.target, third, 2)));
  expect(expectOk(await moveNamespace(options(world.source, world.target, 3))).objects).toBe(0);
  expect([world.source.peek(secrets, HEAD), isUnpaused(third, "c1")]).toEqual([undefined, true]);
});

const AT_PLAN = [
  { at: "before the plan", on: { verb: "list", resource: "clusters", times: 1 } },
  { at: "after the plan", on: { verb: "create", resource: "secrets", when: isHead, times: 1 } },
] as const;

test.for(AT_PLAN)(
  "a namespace that begins to receive $at of a move onwards is not moved on: what arrives has one owner",
  async ({ on }) => {
    const [middle, third] = [await startOther(21), await startManagementCluster(31)];
    onTestFinished(() => third.close());
    // A -> B stops after it has copied, between the traces that B -> C has read and its journal
    middle.intercept(on, async (_action, next) => {
      await killAt("verify", world.source, middle);
      return next();
    });
    const failure = failureOf(await moveNamespace(options(middle, third, 2)));
    expect(failure.message).toContain("the source is itself receiving namespace c1 (move ");
    expect(failure.message).toContain("the move was rolled back");
    expect([middle.peek(secrets, HEAD), isUnpaused(middle, "d1", "c1")]).toEqual([undefined, true]);
    expectOk(await moveNamespace(options(world.source, middle, 3)));
    expectOk(await moveNamespace(options(middle, third, 4)));
    expect([isUnpaused(third, "c1"), isUnpaused(third, "d1", "c1"), await movedNames(middle)]).toEqual([true, true, []]);
  },
);

test("a move that came and ended while a move onwards was planned: that plan is made again", async () => {
  const [middle, third] = [await startOther(21), await startManagementCluster(31)];
  onTestFinished(() => third.close());
  middle.intercept({ verb: "create", resource: "secrets", when: isHead, times: 1 }, async (_action, next) => {
    expectOk(await moveNamespace(options(world.source, middle, 3)));
    return next();
  });
  const failure = failureOf(await moveNamespace(options(middle, third, 2)));
  expect(failure.message).toContain("the source has received namespace c1 while this move was planned; run the command again");
  expectOk(await moveNamespace(options(middle, third, 4)));
  expect([isUnpaused(third, "c1"), isUnpaused(third, "d1", "c1"), await movedNames(middle)]).toEqual([true, true, []]);
});

test("a target that begins a move onwards before this one has registered: this one is rolled back", async () => {
  const [middle, third] = [await startOther(21), await startManagementCluster(31)];
  onTestFinished(() => third.close());
  // A -> B has its journal, and has not registered; B -> C is stopped with its journal
  world.source.intercept({ verb: "create", resource: "secrets", when: isHead, times: 1 }, async (_action, next) => {
    await killAt("pause", middle, third);
    return next();
  });
  const failure = failureOf(await moveNamespace(options(world.source, middle, 2)));
  expect(failure.message).toContain("the target has an unfinished move of namespace c1 (move ");
  expect(failure.message).toContain("the move was rolled back");
  expect([world.source.peek(secrets, HEAD), isUnpaused(world.source, "c1"), await movedNames(middle)]).toEqual([
    undefined,
    true,
    ["Cluster c1/d1"],
  ]);
  expectOk(await moveNamespace(options(middle, third, 3)));
  expectOk(await moveNamespace(options(world.source, middle, 4)));
  expect([isUnpaused(third, "d1", "c1"), isUnpaused(middle, "c1")]).toEqual([true, true]);
});

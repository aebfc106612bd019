/** Moves of one namespace from several sources, or onwards, at the same time: none reports what it has not done, and each can be ended. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Result } from "#base";
import type { EmbeddedCluster } from "#embedded-cluster";
import { capiClusters, secrets } from "#kube";
import {
  contentsOf,
  isUnpaused,
  makeProvisioned,
  startManagementCluster,
  startMoveWorld,
  type MoveWorld,
} from "../../../test/builders/move-world.ts";
import type { MoveFailure } from "./failure.ts";
import { moveNamespace, type MoveOptions } from "./move-namespace.ts";

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
  const initialized = { type: "ControlPlaneInitialized", status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
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

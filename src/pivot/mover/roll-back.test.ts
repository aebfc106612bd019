/** A move that is refused before its commit leaves both sides as they were before it began, also when an earlier run of it was killed. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Result } from "#base";
import { failWith } from "#embedded-cluster";
import { capiClusters, capiMachines, configMaps, secrets, type Json, type KubeObject, type Resource } from "#kube";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { comparable, contentsOf, isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { abortMove } from "./abort.ts";
import type { MoveFailure } from "./failure.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { abortNamespaceMove, moveNamespace, type MoveOptions } from "./move-namespace.ts";
import { runMove } from "./move.ts";

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
  waitMs: 50,
  leaseMs: 600_000,
  onWait: () => {},
  report: () => {},
  ...more,
});

const key = (name: string) => ({ namespace: "c1", name });
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);
const changeSource = async (resource: Resource, name: string, patch: Json) =>
  expectOk(await world.source.client.patch<KubeObject>(resource, key(name), { type: "merge", patch }, { fieldManager: "person" }));
const deleteMachine = async () => expectOk(await world.source.client.delete(capiMachines, key("c1-md-1-1")));
const blockMachine = () =>
  changeSource(capiMachines, "c1-md-1-1", { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": "" } } });

/** The first run is killed when it reports this line. */
async function killAt(line: string): Promise<void> {
  const process = new MortalProcess(undefined);
  const context = contextFor(world.source, world.target, process, 1);
  const report = ({ step, done }: { readonly step: string; readonly done?: number }) => {
    if (`${step} ${done ?? ""}`.trim().startsWith(line)) process.dead = true;
  };
  expect((await runMove({ ...context, report })).ok).toBe(false);
}

/** What a move has changed and has not undone. */
async function traces(): Promise<readonly string[]> {
  const copies = [...(await contentsOf(world.target.client, "c1")).keys()].map((name) => `${name} is left at the target`);
  const lists = [
    { side: "source", client: world.source.client, resource: secrets },
    { side: "target", client: world.target.client, resource: configMaps },
  ];
  const notes = await Promise.all(
    lists.map(async ({ side, client, resource }) => {
      const { items } = expectOk(await client.list<KubeObject>(resource, { namespace: "c1" }));
      const names = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("lattice-move"));
      return names.map((name) => `${name} is left at the ${side}`);
    }),
  );
  return [...copies, ...notes.flat()];
}

const LINES = ["pause", "transfer", "transfer 1", "verify", "announce-commit", "commit"];
const reasons = [
  {
    reason: "an object is being deleted",
    appears: deleteMachine,
    want: "Machine c1/c1-md-1-1 is being deleted; it is finished at the source",
  },
  { reason: "an object blocks the move", appears: blockMachine, want: "Machine c1/c1-md-1-1 still has annotation" },
];

test.for(LINES.flatMap((line) => reasons.map((row) => ({ line, ...row }))))(
  "$reason when a move that was killed at '$line' continues: it is rolled back as a whole",
  async ({ line, appears, want }) => {
    await killAt(line);
    await appears();
    const failure = failureOf(await moveNamespace(options()));
    expect(failure.kind).toBe("refused");
    expect(failure.message).toContain(want);
    expect(failure.message).toContain("the move was rolled back");
    expect(isUnpaused(world.source, "c1")).toBe(true);
    expect(await traces()).toEqual([]);
  },
);

test("a Cluster that was paused before the move is paused after it was rolled back", async () => {
  await changeSource(capiClusters, "c1", { spec: { paused: true } });
  const before = comparable([...(await contentsOf(world.source.client, "c1"))]);
  await killAt("verify");
  await blockMachine();
  expect(failureOf(await moveNamespace(options())).message).toContain("the move was rolled back");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  await changeSource(capiMachines, "c1-md-1-1", { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": null } } });
  expect(withoutPerson(comparable([...(await contentsOf(world.source.client, "c1"))]))).toBe(withoutPerson(before));
  expect(await traces()).toEqual([]);
});

const unpausedAt = ["register", "transfer", "verify", "announce-commit"];

test.for(unpausedAt)(
  "a Cluster that was paused before the move, and that a person unpauses at '%s', is unpaused after it was rolled back",
  async (line) => {
    await changeSource(capiClusters, "c1", { spec: { paused: true } });
    await killAt(line);
    await changeSource(capiClusters, "c1", { spec: { paused: null } });
    await blockMachine();
    expect(failureOf(await moveNamespace(options())).message).toContain("the move was rolled back");
    expect([isUnpaused(world.source, "c1"), await traces()]).toEqual([true, []]);
  },
);

test.for(unpausedAt)(
  "a Cluster that was paused before the move, and that a person unpauses at '%s', is unpaused at the target",
  async (line) => {
    await changeSource(capiClusters, "c1", { spec: { paused: true } });
    await killAt(line);
    await changeSource(capiClusters, "c1", { spec: { paused: null } });
    await killAt("transfer");
    expect(isUnpaused(world.source, "c1")).toBe(false);
    expect(expectOk(await moveNamespace(options())).stillPaused).toEqual([]);
    expect(isUnpaused(world.target, "c1")).toBe(true);
  },
);

/** Without the field managers of the test itself. */
const withoutPerson = (text: string) => text.replaceAll(/"managedFields":\[.*?\](?=,"name)/g, "");

test("a way back that was killed is finished by the next run, and the move can begin again", async () => {
  await killAt("verify");
  expect((await abortMove(contextFor(world.source, world.target, new MortalProcess({ write: 3, when: "after" }), 2))).ok).toBe(false);
  const failure = failureOf(await moveNamespace(options()));
  expect(failure.message).toBe("this move is being aborted; the move was rolled back");
  expect([isUnpaused(world.source, "c1"), await traces()]).toEqual([true, []]);
  expectOk(await moveNamespace(options()));
  expect(isUnpaused(world.target, "c1")).toBe(true);
});

test("a target that does not answer for a time is no reason to roll back: the next run continues", async () => {
  await killAt("verify");
  const copies = [...(await contentsOf(world.target.client, "c1")).keys()];
  {
    using _absent = world.target.intercept({ verb: ["get", "list"], times: Number.POSITIVE_INFINITY }, failWith("forbidden"));
    expect(failureOf(await moveNamespace(options())).message).toMatch(
      /^the target does not answer; nothing is changed until it does[^;]+$/,
    );
  }
  expect([...(await contentsOf(world.target.client, "c1")).keys()]).toEqual(copies);
  expectOk(await moveNamespace(options()));
});

test("a target that the move does not go to is refused, and nothing is undone", async () => {
  await killAt("verify");
  const other = await startMoveWorld(0, 11);
  onTestFinished(() => other.close());
  const copies = [...(await contentsOf(world.target.client, "c1")).keys()];
  for (const target of [other.source.client, world.source.client]) {
    const { message } = failureOf(await moveNamespace(options({ target })));
    expect(message).toMatch(/goes to another target; finish or abort that one first$|the same cluster; there is nothing to move$/);
  }
  expect([isUnpaused(world.source, "c1"), [...(await contentsOf(world.target.client, "c1")).keys()]]).toEqual([false, copies]);
});

const recordIsLeft = async () => (await traces()).filter((name) => name.includes("record"));

test("an abort that is killed before its last write leaves a record, which the next abort deletes", async () => {
  await killAt("verify");
  const process = new MortalProcess(undefined);
  world.target.intercept(
    { verb: "delete", resource: "configmaps", when: ({ name }) => name === "lattice-move-record", times: 1 },
    (...call) => {
      process.dead = true;
      return failWith("unavailable")(...call);
    },
  );
  expect((await abortMove(contextFor(world.source, world.target, process, 2))).ok).toBe(false);
  expect(await traces()).toEqual(["lattice-move-record is left at the target"]);
  expect(expectOk(await abortNamespaceMove(options()))).toBe(true);
  expect([await traces(), isUnpaused(world.source, "c1")]).toEqual([[], true]);
  expect(expectOk(await abortNamespaceMove(options()))).toBe(false);
});

test.each([
  { what: "of another source", change: { source: "another" } },
  { what: "that is committed", change: { state: "committed" } },
  { what: "that is receiving", change: { state: "receiving" } },
])("an abort without a journal leaves a record $what", async ({ change }) => {
  await killAt("verify");
  const patch = { data: { state: "revoked", ...change } };
  expectOk(await world.target.client.patch<KubeObject>(configMaps, key("lattice-move-record"), { type: "merge", patch }));
  expectOk(await world.source.client.delete(secrets, key("lattice-move-journal")));
  expect(expectOk(await abortNamespaceMove(options()))).toBe(false);
  expect(await recordIsLeft()).toEqual(["lattice-move-record is left at the target"]);
});

test("an abort deletes the copies also when the target has lost its record", async () => {
  await killAt("announce-commit");
  expectOk(await world.target.client.delete(configMaps, key("lattice-move-record")));
  expect(expectOk(await abortNamespaceMove(options()))).toBe(true);
  expect([await traces(), isUnpaused(world.source, "c1")]).toEqual([[], true]);
  expectOk(await moveNamespace(options()));
  expect(isUnpaused(world.target, "c1")).toBe(true);
});

/** The target of a committed move whose mover is gone: it unpauses its Cluster itself, and nothing that a person has paused. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { capiClusters, configMaps, fieldAt, secrets, type Json, type KubeObject } from "#kube";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { runMove } from "./move.ts";
import { resumeOwned } from "./resume-owned.ts";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
});

const C1 = { namespace: "c1", name: "c1" };
const { signal } = new AbortController();
type Side = "source" | "target";
const resume = (side: Side) => resumeOwned({ client: world[side].client, ...C1, signal });
const pause = async (side: Side, paused: boolean) => {
  const patch: Json = { spec: { paused } };
  expectOk(await world[side].client.patch<KubeObject>(capiClusters, C1, { type: "merge", patch }, { fieldManager: "person" }));
};
const unpaused = () => ({ source: isUnpaused(world.source, "c1"), target: isUnpaused(world.target, "c1") });
const recordOf = () => world.target.peek<KubeObject>(configMaps, { namespace: "c1", name: "lattice-move-record" });

/** The mover is killed when it begins this step. */
async function moveUntil(step: string): Promise<void> {
  const process = new MortalProcess(undefined);
  const context = contextFor(world.source, world.target, process, 1);
  const report = (progress: { readonly step: string }) => void (progress.step === step && (process.dead = true));
  expect((await runMove({ ...context, report })).ok).toBe(false);
}

const continueMove = async () => expectOk(await runMove(contextFor(world.source, world.target, new MortalProcess(undefined), 2)));

test.for(["note-commit", "resume-target"])("a Cluster whose mover was lost before %s is unpaused by its owner", async (step) => {
  await moveUntil(step);
  expect(unpaused()).toEqual({ source: false, target: false });
  expect(await resume("source")).toEqual({ ok: true, value: true });
  expect(unpaused()).toEqual({ source: false, target: false });
  expect(await resume("target")).toEqual({ ok: true, value: true });
  expect(unpaused()).toEqual({ source: false, target: true });
  await continueMove();
  expect(unpaused()).toEqual({ source: false, target: true });
  expect(fieldAt(recordOf(), "data", "finishedAt")).not.toBe("");
});

test.for(["register", "pause", "transfer", "announce-commit", "commit"])("before the commit, at %s, nothing is unpaused", async (step) => {
  await moveUntil(step);
  const before = unpaused();
  for (const side of ["source", "target"] as const) expect(await resume(side)).toEqual({ ok: true, value: true });
  expect(unpaused()).toEqual(before);
});

test("a Cluster that a person had paused before the move stays paused", async () => {
  await pause("source", true);
  await moveUntil("note-commit");
  await resume("target");
  expect(unpaused()).toEqual({ source: false, target: false });
});

test("a Cluster that a person pauses afterwards stays paused, although the move never ends", async () => {
  await moveUntil("finish");
  expect(unpaused()).toEqual({ source: false, target: true });
  await resume("target");
  await pause("target", true);
  await resume("target");
  expect(unpaused().target).toBe(false);
});

test("nothing is unpaused by a record that does not say what was paused before", async () => {
  await moveUntil("note-commit");
  const { stillPaused: _unknown, ...data } = (recordOf() as unknown as { readonly data: Record<string, string> }).data;
  const metadata = { namespace: "c1", name: "lattice-move-record" };
  expectOk(await world.target.client.update(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data } as KubeObject));
  expect(await resume("target")).toEqual({ ok: true, value: true });
  expect(unpaused().target).toBe(false);
});

test("nothing is unpaused once a move away has begun", async () => {
  await moveUntil("note-commit");
  await world.target.add({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "c1", name: "lattice-move-journal" } });
  expect(await resume("target")).toEqual({ ok: true, value: true });
  expect(unpaused().target).toBe(false);
});

test("a move away that pauses the Cluster while its owner decides is not undone", async () => {
  await moveUntil("finish");
  world.target.intercept({ verb: "get", resource: secrets, times: 1 }, async (_action, next) => {
    const answer = await next();
    await pause("target", true);
    return answer;
  });
  expect(await resume("target")).toEqual({ ok: true, value: false });
  expect(unpaused().target).toBe(false);
});

test("the note on the Cluster is not moved on", async () => {
  await moveUntil("resume-target");
  await resume("target");
  await continueMove();
  const annotations = () => world.target.peek<KubeObject>(capiClusters, C1)?.metadata.annotations ?? {};
  expect(Object.keys(annotations())).toContain("lattice.dev/resumed-after-move");
  expectOk(await runMove(contextFor(world.target, world.source, new MortalProcess(undefined), 3)));
  expect(Object.keys(world.source.peek<KubeObject>(capiClusters, C1)?.metadata.annotations ?? {})).toEqual(["example.com/team"]);
});

/** Objects that each side makes itself: the kubeconfig of a Cluster is not copied, and never read into the target's. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import type { EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, secrets, type KubeObject } from "#kube";
import { contentsOf, observeInvariants, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { roundsOf } from "../../../test/builders/rounds.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { abortNamespaceMove, moveNamespace, planNamespaceMove, type MoveOptions } from "./move-namespace.ts";
import { runMove } from "./move.ts";

const KEY = { namespace: "c1", name: "c1-kubeconfig" };
const leftToTarget = ({ kind, metadata: { name } }: ObjectOutline) => kind === "Secret" && name === KEY.name;

async function openWorld(machines = 1): Promise<MoveWorld> {
  const made = await startMoveWorld(machines);
  onTestFinished(() => made.close());
  return made;
}

function options({ source, target }: MoveWorld, more: Partial<MoveOptions> = {}): MoveOptions {
  return {
    source: source.client,
    target: target.client,
    namespace: "c1",
    identity: "test-1",
    clock: systemClock,
    random: seededRandom(1),
    signal: new AbortController().signal,
    waitMs: 1_000,
    leaseMs: 600_000,
    onWait: () => {},
    report: () => {},
    leftToTarget,
    ...more,
  };
}

/** What each side makes itself, before a move to it. */
async function makeOwn(cluster: EmbeddedCluster, text: string): Promise<void> {
  await cluster.client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: KEY,
    type: "Opaque",
    data: { value: Buffer.from(text).toString("base64") },
  } as KubeObject);
}

async function prepare(cluster: EmbeddedCluster, text: string): Promise<void> {
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } });
  await makeOwn(cluster, text);
}

const ownText = (cluster: EmbeddedCluster) => {
  const value = fieldAt(cluster.peek<KubeObject>(secrets, KEY), "data", "value");
  return typeof value === "string" ? Buffer.from(value, "base64").toString() : undefined;
};

test("a plan is refused while the target lacks its own", async () => {
  const world = await openWorld();
  const missing = expect.stringContaining("the target has no Secret c1/c1-kubeconfig; it is not copied") as string;
  expect(expectOk(await planNamespaceMove(options(world))).problems).toEqual([missing]);
  expect(await moveNamespace(options(world))).toMatchObject({ error: { kind: "refused", reasons: [missing] } });
  expect(ownText(world.source)).toBe("kubeconfig");
});

test("the target keeps its own, the source's goes with the rest, and it is not counted", async () => {
  const world = await openWorld();
  const before = await contentsOf(world.source.client, "c1");
  await prepare(world.target, "of the target");
  const progress: (number | undefined)[] = [];
  const report = expectOk(await moveNamespace(options(world, { report: ({ total }) => void progress.push(total) })));
  expect([ownText(world.source), ownText(world.target)]).toEqual([undefined, "of the target"]);
  expect(report.objects).toBe(before.size - 2);
  expect(Math.max(...progress.map((total) => total ?? 0))).toBe(before.size - 1);
});

test("an aborted move leaves both sides their own", async () => {
  const world = await openWorld();
  await prepare(world.target, "kubeconfig");
  const whole = new MortalProcess({ write: 12, when: "after" });
  await runMove(contextFor(world.source, world.target, whole, 1, leftToTarget));
  expect(whole.dead).toBe(true);
  expect(expectOk(await abortNamespaceMove(options(world)))).toBe(true);
  expect([ownText(world.source), ownText(world.target)]).toEqual(["kubeconfig", "kubeconfig"]);
  expect((await contentsOf(world.target.client, "c1")).size).toBe(1);
});

test("a move that is killed at any write is finished in both directions, and each side has its own", { timeout: 600_000 }, async () => {
  const world = await openWorld();
  await prepare(world.target, "of the target");
  const expected = [...(await contentsOf(world.source.client, "c1")).keys()].filter((name) => !/unrelated|kubeconfig/.test(name));
  const observer = observeInvariants(world, expected);
  const whole = new MortalProcess(undefined);
  expectOk(await runMove(contextFor(world.source, world.target, whole, 0, leftToTarget)));
  let [from, to] = [world.target, world.source];
  const random = seededRandom(7);
  const percent = roundsOf({ sample: 6, long: 100 });
  for (let write = 1; write <= whole.writes; write += 1) {
    if (random() * 100 >= percent) continue;
    const text = to === world.source ? "of the source" : "of the target";
    await makeOwn(to, text);
    const process = new MortalProcess({ write, when: write % 2 === 0 ? "before" : "after" });
    await runMove(contextFor(from, to, process, write, leftToTarget));
    expectOk(await runMove(contextFor(from, to, new MortalProcess(undefined), write + 1_000, leftToTarget)));
    expect([write, ownText(from), ownText(to), observer.wrong]).toEqual([write, undefined, text, []]);
    const moved = [...(await contentsOf(to.client, "c1")).keys()].filter((name) => !/unrelated|kubeconfig/.test(name));
    expect(moved.toSorted()).toEqual(expected.toSorted());
    [from, to] = [to, from];
  }
});

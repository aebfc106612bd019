/**
 * Moves that are killed at one write and run again, forth and back between two embedded API servers, with an observer that checks the
 * invariants of a move after every write on either side.
 */
import { expectOk, seededRandom, systemClock } from "#base";
import type { EmbeddedCluster } from "#embedded-cluster";
import { capiClusters } from "#kube";
import { openSide } from "./api-side.ts";
import type { MoveContext } from "./context.ts";
import { runMove } from "./move.ts";
import { MortalProcess, type Kill } from "../../../test/builders/mortal-process.ts";
import {
  comparable,
  contentsOf,
  danglingOwners,
  isUnpaused,
  observeInvariants,
  type MoveWorld,
} from "../../../test/builders/move-world.ts";

export function contextFor(
  source: EmbeddedCluster,
  target: EmbeddedCluster,
  process: MortalProcess,
  seed: number,
  leftToTarget?: MoveContext["leftToTarget"],
): MoveContext {
  const shared = { clock: systemClock, random: seededRandom(seed), signal: new AbortController().signal };
  return {
    ...shared,
    namespace: "c1",
    waitMs: 1_000,
    report: () => {},
    leftToTarget,
    source: openSide({ ...shared, client: process.client(source.client), side: "source" }),
    target: openSide({ ...shared, client: process.client(target.client), side: "target" }),
  };
}

export type CrashReport = { readonly kills: number; readonly writes: number; readonly wrong: readonly string[] };

/** Kills one move at each of the chosen writes, and lets the next run finish it. */
export async function crashRounds(world: MoveWorld, choose: (writes: number) => readonly Kill[]): Promise<CrashReport> {
  const expected = new Map([...(await contentsOf(world.source.client, "c1"))].filter(([name]) => name !== "Secret c1/unrelated"));
  const observer = observeInvariants(world, expected.keys());
  const whole = new MortalProcess(undefined);
  let [from, to] = [world.source, world.target];
  expectOk(await runMove(contextFor(from, to, whole, 0)));
  const kills = choose(whole.writes);
  for (const [at, kill] of kills.entries()) {
    [from, to] = [to, from];
    const process = new MortalProcess(kill);
    const killed = await runMove(contextFor(from, to, process, at));
    if (killed.ok && process.dead) observer.wrong.push(`write ${kill.write} ${kill.when}: a killed move reports success`);
    const finished = await runMove(contextFor(from, to, new MortalProcess(undefined), at + 1_000));
    if (!finished.ok) observer.wrong.push(`write ${kill.write} ${kill.when}: ${finished.error.message}`);
    observer.wrong.push(...(await compareMoved(from, to, expected)).map((text) => `write ${kill.write} ${kill.when}: ${text}`));
    if (observer.wrong.length > 0) break;
  }
  return { kills: kills.length, writes: whole.writes, wrong: observer.wrong };
}

export async function compareMoved(
  from: EmbeddedCluster,
  to: EmbeddedCluster,
  expected: ReadonlyMap<string, unknown>,
): Promise<readonly string[]> {
  const [left, moved] = [await contentsOf(from.client, "c1"), await contentsOf(to.client, "c1")];
  const wrong = [...left.keys()].filter((name) => name !== "Secret c1/unrelated").map((name) => `${name} is left at the source`);
  for (const [name, object] of expected) {
    if (comparable(moved.get(name)) !== comparable(object)) wrong.push(`${name} is not what it was`);
  }
  const extra = [...moved.keys()].filter((name) => !expected.has(name) && name !== "Secret c1/unrelated");
  return [...wrong, ...extra.map((name) => `${name} is new at the target`), ...(await danglingOwners(to.client, "c1")), ...leftPaused(to)];
}

function leftPaused(cluster: EmbeddedCluster): readonly string[] {
  return cluster.peek(capiClusters, { namespace: "c1", name: "c1" }) !== undefined && !isUnpaused(cluster, "c1")
    ? ["the target is paused"]
    : [];
}

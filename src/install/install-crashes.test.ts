/**
 * The crash matrix of install and uninstall: the command is killed before and after every write, and the same command finishes. A seeded tenth of it here,
 * all of it in `npm run test:long`; LATTICE_CRASH_POINT="install: killed after 3" runs one point.
 */
import { expect, test } from "vitest";
import { seededRandom, sleep, systemClock, type Result } from "#base";
import type { KubeObject } from "#kube";
import { chosenPoints } from "../../test/builders/crash-points.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";
import { MortalProcess, type Kill } from "../../test/builders/mortal-process.ts";
import { InstallWorld, NAME } from "./install-world.test-support.ts";
import type { BootstrapEnd } from "./ports.ts";
import { runInstall, runUninstall, type InstallFailure } from "./run-install.ts";

type Command = "install" | "uninstall";
type Matrix = { readonly command: Command; readonly atEnd: BootstrapEnd };

const SEED = 16;
const JUMP_MS = 250;
const LOOK_MS = 2;
const MOST_LOOKS = 15_000;

/** Undefined: it was killed. */
async function run(
  world: InstallWorld,
  command: Command,
  process: MortalProcess,
  identity: string,
): Promise<Result<void, InstallFailure> | undefined> {
  const stop = new AbortController();
  let isMoving = false;
  const options = {
    name: NAME,
    host: world.host(process),
    management: world.access(process),
    clock: world.clock,
    random: seededRandom(1),
    signal: stop.signal,
    identity,
    patienceMs: 600_000,
    report: () => (isMoving = false),
    onMove: () => (isMoving = true),
  };
  let ended: Result<void, InstallFailure> | undefined;
  const running =
    command === "install"
      ? runInstall({ ...options, cluster: rawCluster({}, NAME) as unknown as KubeObject, beside: [] })
      : runUninstall({ ...options, orphanChildren: false });
  const watching = running.then((result) => (ended = result));
  for (let look = 0; look < MOST_LOOKS && ended === undefined && !process.dead; look += 1) {
    await world.advance();
    // not while the move holds its lease
    if (!isMoving) world.clock.jump(JUMP_MS);
    await sleep(systemClock, LOOK_MS, stop.signal);
  }
  stop.abort();
  await watching;
  return process.dead ? undefined : ended;
}

/** What is wrong after a run that was killed and the same command again; undefined as the kill counts the writes of one that was not. */
async function runKilled(
  { command, atEnd }: Matrix,
  kill: Kill | undefined,
): Promise<{ readonly writes: number; readonly wrong: readonly string[] }> {
  const world = await InstallWorld.open({ atEnd, hasManagement: command === "uninstall" });
  const process = new MortalProcess(kill);
  try {
    const first = await run(world, command, process, "first");
    const last = first ?? (await run(world, command, new MortalProcess(undefined), "second"));
    const failed = last === undefined ? ["it does not end"] : last.ok ? [] : [last.error.message];
    return { writes: process.writes, wrong: [...failed, ...(command === "install" ? await world.installed() : await world.uninstalled())] };
  } finally {
    await world.close();
  }
}

const MATRICES: readonly (Matrix & { readonly name: string })[] = [
  { name: "install", command: "install", atEnd: "removed" },
  { name: "install from a cluster that stays", command: "install", atEnd: "kept" },
  { name: "install from a cluster that is prepared and cleaned", command: "install", atEnd: "cleaned" },
  { name: "uninstall", command: "uninstall", atEnd: "removed" },
  { name: "uninstall to a cluster that stays", command: "uninstall", atEnd: "kept" },
  { name: "uninstall to a cluster that is prepared and cleaned", command: "uninstall", atEnd: "cleaned" },
];

test.each(MATRICES)("$name: killed at any write, the same command finishes", { timeout: 3_600_000 }, async ({ name, ...matrix }) => {
  const whole = await runKilled(matrix, undefined);
  expect(whole.wrong).toEqual([]);
  const points = Array.from({ length: whole.writes }, (_, at) =>
    (["before", "after"] as const).map((when) => ({ write: at + 1, when })),
  ).flat();
  const describe = ({ write, when }: Kill) => `${name}: killed ${when} ${write}`;
  const chosen = chosenPoints(points, describe, SEED);
  for (const kill of chosen) {
    const { wrong } = await runKilled(matrix, kill);
    expect(wrong, `replay with LATTICE_CRASH_POINT="${describe(kill)}"`).toEqual([]);
  }
});

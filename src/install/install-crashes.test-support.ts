/** An installation, or its reverse, that is killed at one write and run again. */
import { seededRandom, sleep, systemClock, type Result } from "#base";
import type { LatticeCluster } from "#crds";
import { MortalProcess, type Kill } from "../../test/builders/mortal-process.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";
import { InstallWorld, NAME, type MachineDeletion } from "./install-world.test-support.ts";
import type { BootstrapEnd } from "./ports.ts";
import { runInstall, runUninstall, type InstallFailure } from "./run-install.ts";

/** What a mutant replaces. */
export type Commands = { readonly runInstall: typeof runInstall; readonly runUninstall: typeof runUninstall };

type Command = "install" | "uninstall";
export type InstallMatrix = {
  readonly command: Command;
  readonly atEnd: BootstrapEnd;
  /** The file is another one after the crash: it is applied, or the installation ends and it is refused. */
  readonly changesFile?: boolean;
};
export type KilledRun = { readonly writes: number; readonly wrong: readonly string[] };
export type KilledOptions = {
  readonly commands?: Commands;
  /** Before a run counts as one that does not end. */ readonly mostLooks?: number;
  readonly machineDeletion?: MachineDeletion;
};

const JUMP_MS = 250;
const LOOK_MS = 2;
const MOST_LOOKS = 15_000;

type RunOf = { readonly command: Command; readonly identity: string; /** Of the file. */ readonly workers: number };

/** Undefined: it was killed. */
async function run(
  world: InstallWorld,
  process: MortalProcess,
  { command, identity, workers, commands, mostLooks }: RunOf & Required<Omit<KilledOptions, "machineDeletion">>,
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
  const cluster = rawCluster({ nodes: { controlPlane: 1, workers } }, NAME) as unknown as LatticeCluster;
  let ended: Result<void, InstallFailure> | undefined;
  const running =
    command === "install"
      ? commands.runInstall({ ...options, cluster, beside: [], file: { cluster, beside: [] } })
      : commands.runUninstall({ ...options, orphanChildren: false });
  const watching = running.then((result) => (ended = result));
  for (let look = 0; look < mostLooks && ended === undefined && !process.dead; look += 1) {
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
export async function runKilled(
  { command, atEnd, changesFile = false }: InstallMatrix,
  kill: Kill | undefined,
  { commands = { runInstall, runUninstall }, mostLooks = MOST_LOOKS, machineDeletion = "once observed twice" }: KilledOptions = {},
): Promise<KilledRun> {
  const world = await InstallWorld.open({ atEnd, hasManagement: command === "uninstall", machineDeletion });
  const process = new MortalProcess(kill);
  try {
    const options = { command, commands, mostLooks };
    const first = await run(world, process, { ...options, identity: "first", workers: 1 });
    const isKilled = first === undefined && process.dead;
    const last = isKilled
      ? await run(world, new MortalProcess(undefined), { ...options, identity: "second", workers: changesFile ? 2 : 1 })
      : first;
    const isRefusedAtEnd = changesFile && last?.ok === false && last.error.message.includes("spec.nodes.workers is 1, and 2 in the file");
    const failed = last === undefined ? ["it does not end"] : last.ok || isRefusedAtEnd ? [] : [last.error.message];
    return { writes: process.writes, wrong: [...failed, ...(command === "install" ? await world.installed() : await world.uninstalled())] };
  } finally {
    await world.close();
  }
}

/**
 * `lattice down`: stops a `lattice up` that runs elsewhere on this machine, or ends the processes of one that was killed; with `--purge` it also
 * deletes its folder.
 */
import { resolve } from "node:path";
import { nodeProcesses, sleep } from "#base";
import { endFolder, fleetFolder, runningUp, type EndedFolder, type UpRecord } from "#fleet";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { shortPath } from "./short-path.ts";

export type DownFlags = { readonly dataDir: string; readonly purge?: boolean; readonly output?: "text" | "json" };

const CHECK_EVERY_MS = 100;
const MAX_CHECKS = 300;

export async function down(io: CliIo, { dataDir, purge = false, output = "text" }: DownFlags): Promise<ExitCode> {
  const folder = fleetFolder(resolve(io.cwd, dataDir));
  const shown = shortPath(io.cwd, folder.path);
  const running = await runningUp(folder);
  if (running !== undefined && !(await stop(io, running)))
    return reportFailure(io, `process ${running.pid} got a signal to stop and still runs`);
  const { clock, signal } = io;
  const ended = await endFolder(folder, { purge, clock, signal, processes: nodeProcesses });
  const stopped = describeStopped({ shown, running, left: ended.ok ? ended.value.ended.length : 0 });
  if (output === "text") io.stdout(`${stopped}${ended.ok ? describePurged(shown, ended.value) : ""}`);
  if (!ended.ok) return reportFailure(io, ended.error);
  const result = {
    folder: folder.path,
    stopped: running !== undefined,
    ended: ended.value.ended.length,
    deleted: ended.value.purged === "deleted",
  };
  if (output === "json") io.stdout(`${JSON.stringify(result, null, 2)}\n`);
  return 0;
}

type Stopped = { readonly shown: string; readonly running: UpRecord | undefined; readonly left: number };

function describeStopped({ shown, running, left }: Stopped): string {
  const first = running === undefined ? `no lattice up runs in ${shown}\n` : `stopped lattice up in ${shown} (process ${running.pid})\n`;
  return left === 0 ? first : `${first}ended processes of a lattice up that was killed: ${left}\n`;
}

function describePurged(shown: string, { purged }: EndedFolder): string {
  if (purged === undefined) return "";
  return purged === "deleted" ? `deleted ${shown}\n` : `there is no folder ${shown}\n`;
}

/** The supervisor is never killed: clusters store their state while they end. */
async function stop(io: CliIo, { pid, process: identity }: UpRecord): Promise<boolean> {
  if (!nodeProcesses.signal(pid, "SIGTERM")) return false;
  for (let check = 0; check < MAX_CHECKS; check += 1) {
    if (nodeProcesses.identify(pid) !== identity) return true;
    if (!(await sleep(io.clock, CHECK_EVERY_MS, io.signal))) return false;
  }
  return false;
}

/** `lattice down`: stops a `lattice up` that runs elsewhere on this machine, and with `--purge` deletes its folder. */
import { resolve } from "node:path";
import { describeThrown, fromThrowing, nodeProcesses, sleep } from "#base";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { shortPath } from "./short-path.ts";
import { purgeFolder, runningUp, upFolder, type UpRecord } from "./up-folder.ts";

export type DownFlags = { readonly dataDir: string; readonly purge?: boolean; readonly output?: "text" | "json" };

const CHECK_EVERY_MS = 100;
const MAX_CHECKS = 300;

export async function down(io: CliIo, { dataDir, purge = false, output = "text" }: DownFlags): Promise<ExitCode> {
  const folder = upFolder(resolve(io.cwd, dataDir));
  const shown = shortPath(io.cwd, folder.path);
  const print = (text: string) => (output === "text" ? io.stdout(text) : undefined);
  const running = await runningUp(folder);
  if (running === undefined) print(`no lattice up runs in ${shown}\n`);
  else if (!(await stop(io, running))) return reportFailure(io, `process ${running.pid} got a signal to stop and still runs`);
  else print(`stopped lattice up in ${shown} (process ${running.pid})\n`);
  const purged = purge ? await purgeFolder(folder) : undefined;
  if (purged?.ok === false) return reportFailure(io, purged.error);
  if (purged !== undefined) print(purged.value === "deleted" ? `deleted ${shown}\n` : `there is no folder ${shown}\n`);
  const result = { folder: folder.path, stopped: running !== undefined, deleted: purged?.value === "deleted" };
  if (output === "json") io.stdout(`${JSON.stringify(result, null, 2)}\n`);
  return 0;
}

/** The same signal as Ctrl-C. The process is never killed: it stores its state while it ends. */
async function stop(io: CliIo, { pid, process: identity }: UpRecord): Promise<boolean> {
  const sent = fromThrowing(() => process.kill(pid, "SIGTERM"), describeThrown);
  if (!sent.ok) return false;
  for (let check = 0; check < MAX_CHECKS; check += 1) {
    if (nodeProcesses.identify(pid) !== identity) return true;
    if (!(await sleep(io.clock, CHECK_EVERY_MS, io.signal))) return false;
  }
  return false;
}

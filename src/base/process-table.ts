/**
 * Which processes are alive, as a port. A pid alone does not identify a process: in a container the restarted program often has the
 * pid of the one that was killed. Where /proc exists, the start time of a process distinguishes the two.
 */
import { readFileSync } from "node:fs";
import { fromThrowing } from "./result.ts";

export interface ProcessTable {
  readonly pid: number;
  /** A text that stays the same for the lifetime of the process; undefined when there is no such process. */
  identify(pid: number): string | undefined;
}

/** Can also end processes. */
export interface ProcessControl extends ProcessTable {
  /** False: there is no such process, or it belongs to another user. */
  signal(pid: number, name: "SIGTERM" | "SIGKILL"): boolean;
}

/** Used where /proc cannot be read: all processes with this pid count as the same. */
export const UNKNOWN_PROCESS = "unknown";
const STATE = 0;
const START_TIME = 19;

export const nodeProcesses: ProcessControl = {
  get pid() {
    return process.pid;
  },
  identify(pid) {
    if (!acceptsSignals(pid)) return undefined;
    const details = fromThrowing(
      () => ({ boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), stat: readFileSync(`/proc/${pid}/stat`, "utf8") }),
      () => undefined,
    );
    return details.ok ? identityFrom(details.value.boot, details.value.stat) : UNKNOWN_PROCESS;
  },
  signal(pid, name) {
    return fromThrowing(
      () => process.kill(pid, name),
      () => undefined,
    ).ok;
  },
};

/** "pid (any name) S ppid …"; the name may contain anything, even brackets. A zombie has ended and counts as no process. */
export function identityFrom(boot: string, stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[STATE] === "Z" || fields[STATE] === "X" ? undefined : `${boot} ${fields[START_TIME]}`;
}

function acceptsSignals(pid: number): boolean {
  const signalled = fromThrowing(
    () => process.kill(pid, 0),
    (thrown) => thrown instanceof Error && "code" in thrown && thrown.code === "EPERM", // the process of another user
  );
  return signalled.ok || signalled.error;
}

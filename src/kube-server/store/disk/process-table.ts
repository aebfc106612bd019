/**
 * Which processes are alive, as a port. A pid alone does not say: in a container the restarted program often has the very pid
 * of the one that was killed. Where there is /proc, the moment at which a process began tells them apart.
 */
import { readFileSync } from "node:fs";
import { fromThrowing } from "#base";

export interface ProcessTable {
  readonly pid: number;
  /** A text that is the same as long as it is the same process; undefined when there is no such process. */
  identify(pid: number): string | undefined;
}

/** Where /proc cannot be read: all processes with this pid are the same. */
const NO_DETAILS = "unknown";
const STATE = 0;
const START_TIME = 19;

export const nodeProcesses: ProcessTable = {
  pid: process.pid,
  identify(pid) {
    if (!answersSignals(pid)) return undefined;
    const details = fromThrowing(
      () => ({ boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), stat: readFileSync(`/proc/${pid}/stat`, "utf8") }),
      () => undefined,
    );
    return details.ok ? identityFrom(details.value.boot, details.value.stat) : NO_DETAILS;
  },
};

/** "pid (any name) S ppid …"; the name may hold anything, even brackets. A zombie has ended; only its parent has not noticed. */
export function identityFrom(boot: string, stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[STATE] === "Z" || fields[STATE] === "X" ? undefined : `${boot} ${fields[START_TIME]}`;
}

function answersSignals(pid: number): boolean {
  const signalled = fromThrowing(
    () => process.kill(pid, 0),
    (thrown) => thrown instanceof Error && "code" in thrown && thrown.code === "EPERM", // somebody else's process, but one
  );
  return signalled.ok || signalled.error;
}

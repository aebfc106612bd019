/** CPU time and memory of processes, from /proc: Linux only. */
import { readFileSync } from "node:fs";

/** Of the kernel's interface, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The CPU time that a process has used so far, with all of its threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // after the name of the program, which is in brackets and may contain spaces: fields 14 and 15 are the times in user and kernel mode
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export type MemorySum = { readonly bytes: number; readonly kind: "PSS" | "RSS" };

/** PSS counts memory that processes share, such as the code of Node, once. A kernel without it has RSS only, which counts it for each. */
export function memoryOf(pids: readonly number[]): MemorySum {
  const shared = sumOf(pids, "smaps_rollup", /^Pss: +(\d+) kB$/m);
  return shared === undefined ? { bytes: sumOf(pids, "status", /^VmRSS:\s+(\d+) kB$/m) ?? 0, kind: "RSS" } : { bytes: shared, kind: "PSS" };
}

function sumOf(pids: readonly number[], file: string, value: RegExp): number | undefined {
  try {
    return pids.reduce((sum, pid) => sum + 1024 * Number(value.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1]), 0);
  } catch {
    return undefined;
  }
}

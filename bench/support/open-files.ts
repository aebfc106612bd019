/** The limit of open files of this process and its children. Linux only. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Raises it if it is too low and this user may; throws with what to do otherwise. Node itself raises the soft limit to the hard one. */
export function ensureOpenFiles(needed: number): void {
  if (hardLimit() >= needed) return;
  spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${needed}:${needed}`], { stdio: "ignore" });
  const limit = hardLimit();
  if (limit >= needed) return;
  throw new Error(
    `a process may open ${limit} files, and this bench needs ${needed}: raise the hard limit, for example with ulimit -Hn ${needed} as root`,
  );
}

function hardLimit(): number {
  const [, hard = ""] = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}

/** The program as a group of processes, as a terminal starts it: signals go to one process or to all, and none may be left. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sleep, systemClock } from "#base";

export type ProcessGroup = {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves when the output has `text`; rejects if the process ends before. */
  readonly untilPrinted: (text: string) => Promise<void>;
  /** The exit code of the first process; a signal that ended it is 128 + its number, as in a shell. */
  readonly exited: Promise<number>;
  /** The processes that this one started and that still run, after at most `withinMs`. */
  readonly leftAfter: (withinMs: number) => Promise<readonly string[]>;
};

export type GroupOptions = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv };

const MARK = "LATTICE_TEST_GROUP";
const SIGNALS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/** Starts a process that leads a group and a session of its own. */
export function startGroup(command: string, args: readonly string[], { cwd, env = process.env }: GroupOptions = {}): ProcessGroup {
  const mark = randomUUID();
  const child = spawn(command, args, { cwd, env: { ...env, [MARK]: mark }, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const { pid = 0 } = child;
  let output = "";
  const changed = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      for (const notify of changed) notify();
    });
  }
  const exited = new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (SIGNALS[signal ?? ""] ?? 0)));
  });
  const untilPrinted = async (text: string) => {
    const printed = new Promise<void>((resolve) => {
      const look = () => output.includes(text) && resolve();
      changed.add(look);
      look();
    });
    const early = await Promise.race([printed.then(() => undefined), exited.then((code) => ({ code }))]);
    if (early !== undefined && !output.includes(text)) throw new Error(`ended with ${early.code} before it printed "${text}":\n${output}`);
  };
  const leftAfter = async (withinMs: number) => {
    const until = systemClock.monotonic() + withinMs;
    for (;;) {
      const left = processesOf(pid, `${MARK}=${mark}`);
      if (left.length === 0 || systemClock.monotonic() >= until) return left;
      await sleep(systemClock, 50, new AbortController().signal);
    }
  };
  return { pid, child, output: () => output, untilPrinted, exited, leftAfter };
}

/** Those of the session, and those with the variable in their environment: some processes of a fleet have only one of the two. */
function processesOf(session: number, variable: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, , , sid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const named = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(variable);
        const ours = state !== "Z" && (named || Number(sid) === session);
        return ours ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`] : [];
      } catch {
        return []; // it has ended
      }
    });
}

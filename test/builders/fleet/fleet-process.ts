/** `lattice up` as a child process in a process group of its own, as a shell starts it, and all processes that belong to its folder. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { PROGRAM } from "../program.ts";

export type ListedCluster = {
  readonly name: string;
  readonly parent?: string;
  readonly kubeconfig: string;
  readonly pids: readonly number[];
  readonly state: string;
};

const LOOK_MS = 50;
/** Much longer than any start takes on a loaded machine. */
const PATIENCE_MS = 120_000;

/** Of a process that a signal ended, as a SIGINT does before a program has a handler for it: 128 and the number of the signal. */
function shellCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** A folder for the fleet, deleted by `remove`. */
export function fleetFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "lattice-fleet-"));
  return { path: join(path, "fleet"), remove: () => rmSync(path, { recursive: true, force: true }) };
}

export class FleetProcess {
  readonly folder: string;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<number>;
  #output = "";

  constructor(folder: string, flags: readonly string[] = ["--empty"]) {
    this.folder = folder;
    const args = [PROGRAM, "up", "--data-dir", folder, ...flags];
    this.#child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], detached: true, cwd: tmpdir() });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    }
    this.#ended = new Promise((resolve) => this.#child.once("close", (code, signal) => resolve(shellCode(code, signal))));
  }

  get output(): string {
    return this.#output;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The exit code, as a shell reports it. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** As Ctrl-C in a terminal: every process of the group gets the signal. */
  signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch {
      // the group has ended
    }
  }

  clusters(): readonly ListedCluster[] {
    return listedClusters(this.folder);
  }

  /** Fails with the output of `lattice up` when the condition does not become true, or when the process ends before. */
  async until(what: string, condition: () => boolean | Promise<boolean>, patienceMs: number = PATIENCE_MS): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!(await condition())) {
      if (!this.alive) throw new Error(`lattice up ended before ${what}:\n${this.#output}`);
      if (performance.now() > deadline) throw new Error(`${what}: not seen\n${this.#output}\n${JSON.stringify(this.clusters())}`);
      await wait(LOOK_MS);
    }
  }

  async untilRunning(count: number): Promise<void> {
    await this.until(`${count} clusters run`, () => {
      const clusters = this.clusters();
      return clusters.length === count && clusters.every(({ state, pids }) => state === "Running" && pids.length >= 2);
    });
  }

  /** Ends everything, whatever state it is in. */
  async end(): Promise<void> {
    if (this.alive) this.signal("SIGTERM");
    const killed = setTimeout(() => this.signal("SIGKILL"), 15_000);
    await this.#ended;
    clearTimeout(killed);
    for (const pid of processesOf(this.folder)) process.kill(pid, "SIGKILL");
  }
}

/** What fleet.json lists; empty while there is none. */
export function listedClusters(folder: string): readonly ListedCluster[] {
  try {
    return (JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8")) as { clusters: readonly ListedCluster[] }).clusters;
  } catch {
    return [];
  }
}

/** All processes with the folder in their arguments or environment, recorded or not. Linux only. */
export function processesOf(folder: string): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid);
  return pids.filter((pid) => ["cmdline", "environ"].some((file) => contentOf(`/proc/${pid}/${file}`).includes(folder))).map(Number);
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // the process has ended, or is a zombie
  }
}

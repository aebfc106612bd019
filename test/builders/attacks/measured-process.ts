/**
 * `lattice` as a child process whose event-loop stalls and peak memory are measured: what a story of an attack runs against.
 *
 * Start-up is not part of an attack: call `reset()` when the process is ready. `report()` rejects when the process has ended.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { expect } from "vitest";
import { PROGRAM } from "../program.ts";
import type { Measurement } from "./measure-process.ts";

const PRELOAD = new URL("measure-process.ts", import.meta.url).href;

/** The limits of every attack in the default lane; that of stalls is for a machine of the speed in measure-process.ts. */
export const STALL_LIMIT_MS = 250;
export const MEMORY_LIMIT_MB = 512;

export class MeasuredProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}) {
    this.#child = spawn(process.execPath, ["--import", PRELOAD, PROGRAM, ...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      ...options,
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#ended = new Promise((resolve) => this.#child.once("close", () => resolve()));
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The first match in what it printed to stdout or stderr; rejects when the process ends without it. */
  async untilPrinted(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
      if (found !== null) return found;
      if (!this.alive) throw new Error(`the process ended before it printed ${String(pattern)}: ${this.#stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The exit code of a process that ends by itself; null when a signal ended it. */
  async exited(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Begins the measurement anew; memory is the peak since the process started. */
  async reset(): Promise<void> {
    await this.#measure("reset");
  }

  report(): Promise<Measurement> {
    return this.#measure("report");
  }

  /** Prints the measurement in one line and holds it to the limits. */
  async expectWithinLimits(attack: string): Promise<Measurement> {
    const measured = await this.report();
    const stallLimit = Math.round(STALL_LIMIT_MS * measured.slowness);
    console.log(
      `attack "${attack}": longest event-loop stall ${measured.longestStallMs} ms (limit ${stallLimit}), ` +
        `peak memory ${measured.peakMemoryMb} MB (limit ${MEMORY_LIMIT_MB})`,
    );
    expect(measured.longestStallMs, "longest event-loop stall in ms").toBeLessThanOrEqual(stallLimit);
    expect(measured.peakMemoryMb, "peak memory in MB").toBeLessThanOrEqual(MEMORY_LIMIT_MB);
    return measured;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #measure(message: "reset" | "report"): Promise<Measurement> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`the process ended: ${this.#stderr.slice(-2_000)}`));
      if (!this.alive) {
        ended();
        return;
      }
      this.#child.once("close", ended);
      this.#child.once("message", (measured) => {
        this.#child.off("close", ended);
        resolve(measured as Measurement);
      });
      this.#child.send(message);
    });
  }
}

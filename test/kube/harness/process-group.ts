/**
 * The client of the supervisor in the test process: starts and stops named programs, reports how they ended, and ends them all.
 *
 * `close` resolves when the supervisor has ended, which happens after its children have ended and the folder is removed.
 */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "#base";
import type { Order, Report } from "./supervisor.ts";

export type Program = { readonly name: string; readonly path: string; readonly args: readonly string[]; readonly log: string };

export class ProcessGroup {
  readonly #supervisor: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #pids = new Map<string, number>();
  readonly #endings = new Map<string, string>();
  readonly #listeners = new Set<() => void>();

  private constructor(supervisor: ChildProcess) {
    this.#supervisor = supervisor;
    this.#gone = new Promise((resolve) => supervisor.once("exit", () => resolve()));
    supervisor.once("exit", () => this.#tellListeners());
    supervisor.on("message", (report: Report) => this.#hear(report));
  }

  /** Creates the folder, which must not exist, and the process that will remove it. */
  static async open(folder: string): Promise<Result<ProcessGroup, string>> {
    const supervisor = fork(fileURLToPath(new URL("supervisor.ts", import.meta.url)), [folder], {
      // a separate session: Ctrl-C at the terminal reaches only the test process, which then stops the rest in order
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
      // Go programs and kubectl read settings from HOME; the caller's settings must not affect a story
      env: { PATH: process.env["PATH"], HOME: folder },
    });
    return new Promise((resolve) => {
      supervisor.once("error", (error) => resolve(err(`cannot start the supervisor: ${error.message}`)));
      supervisor.once("exit", () => resolve(err("the supervisor ended before it was ready")));
      supervisor.once("message", () => resolve(ok(new ProcessGroup(supervisor))));
    });
  }

  /** Process ids of the running programs, by name. */
  get pids(): ReadonlyMap<string, number> {
    return this.#pids;
  }

  /** A description of how the program ended, or undefined while it runs. */
  endingOf(name: string): string | undefined {
    return this.#endings.get(name);
  }

  async start(program: Program): Promise<void> {
    this.#endings.delete(program.name);
    this.#order({ kind: "start", name: program.name, program: program.path, args: program.args, log: program.log });
    await this.#until(() => this.#pids.has(program.name) || this.#endings.has(program.name));
  }

  /** Sends SIGTERM, and SIGKILL after `graceMs`; resolves when the program has ended. */
  async stop(name: string, graceMs: number): Promise<void> {
    this.#order({ kind: "stop", name, graceMs });
    await this.#until(() => this.#endings.has(name));
  }

  async close(): Promise<void> {
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await this.#gone;
  }

  #order(order: Order): void {
    if (this.#supervisor.connected) this.#supervisor.send(order);
  }

  #hear(report: Report): void {
    if (report.kind === "started") this.#pids.set(report.name, report.pid);
    if (report.kind === "exited") {
      this.#pids.delete(report.name);
      this.#endings.set(report.name, report.how);
    }
    this.#tellListeners();
  }

  #tellListeners(): void {
    for (const listener of this.#listeners) listener();
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds() && this.#supervisor.connected) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      look();
    });
  }
}

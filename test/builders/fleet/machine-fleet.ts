/** Starts machine-supervisor.ts, sends messages as an API server does, and follows the states of machines. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { LocalMachineRun } from "#kube-controllers";
import { projectRoot } from "../../../scripts/process/project.ts";
import type { MachineReport, ToApiServer } from "../../../src/fleet/messages/messages.ts";
import { PROGRAM } from "../program.ts";

const SUPERVISOR = join(projectRoot, "test/builders/fleet/machine-supervisor.ts");

export class MachineFleet {
  /** By id, as the API server of cluster mgmt has them. */
  readonly states = new Map<string, MachineReport>();
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;

  constructor(folder: string) {
    this.#child = spawn(process.execPath, [SUPERVISOR, folder, PROGRAM], { stdio: ["pipe", "pipe", "inherit"], cwd: projectRoot });
    this.#child.stdin.on("error", () => {}); // it was killed
    this.#ended = new Promise((resolve) => this.#child.once("exit", resolve));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#receive(JSON.parse(line) as ToApiServer));
  }

  ensure(machine: LocalMachineRun): void {
    this.#child.stdin.write(`${JSON.stringify({ kind: "machine-ensure", machine })}\n`);
  }

  remove(id: string): void {
    this.#child.stdin.write(`${JSON.stringify({ kind: "machine-remove", id })}\n`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }

  #receive(message: ToApiServer): void {
    if (message.kind === "begin") for (const machine of message.machines) this.states.set(machine.id, machine);
    if (message.kind === "machine-state") this.states.set(message.machine.id, message.machine);
    if (message.kind === "machine-gone") this.states.delete(message.id);
  }
}

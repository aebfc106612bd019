/** Starts machine-owner.ts, sends messages as the API server of cluster mgmt does, and follows the states of machines. */
import { spawn, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LocalMachineRun, LocalMachineState } from "#kube-controllers";
import { projectRoot } from "../../../scripts/process/project.ts";

const SUPERVISOR = join(projectRoot, "test/builders/fleet/machine-owner.ts");

type ReportedMachine = LocalMachineState & { readonly id: string };
type MachineMessage =
  | { readonly kind: "begin"; readonly machines: readonly ReportedMachine[] }
  | { readonly kind: "machine-state"; readonly machine: ReportedMachine }
  | { readonly kind: "machine-gone"; readonly id: string };

export class MachineFleet {
  /** By id, as the API server of cluster mgmt has them. */
  readonly states = new Map<string, ReportedMachine>();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #server: Server;
  #owner: Socket | undefined;
  readonly #early: string[] = [];

  constructor(folder: string) {
    const socket = `${folder}.sock`;
    rmSync(socket, { force: true });
    this.#server = createServer((owner) => {
      this.#owner = owner.on("error", () => {});
      createInterface({ input: owner }).on("line", (line) => this.#receive(JSON.parse(line) as MachineMessage));
      for (const line of this.#early.splice(0)) owner.write(line);
    }).listen(socket);
    const env = { ...process.env, LATTICE_STORY_SOCKET: socket };
    this.#child = spawn(process.execPath, [SUPERVISOR, "up", folder], { stdio: ["ignore", "inherit", "inherit"], cwd: projectRoot, env });
    this.#ended = new Promise((resolve) => this.#child.once("exit", resolve));
  }

  ensure(machine: LocalMachineRun): void {
    this.#send({ kind: "machine-ensure", machine });
  }

  remove(id: string): void {
    this.#send({ kind: "machine-remove", id });
  }

  /** It does nothing any more, until it is killed. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async end(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
    this.#owner?.destroy();
    this.#server.close();
  }

  #send(message: object): void {
    const line = `${JSON.stringify(message)}\n`;
    if (this.#owner === undefined) this.#early.push(line);
    else this.#owner.write(line);
  }

  #receive(message: MachineMessage): void {
    if (message.kind === "begin") for (const machine of message.machines) this.states.set(machine.id, machine);
    if (message.kind === "machine-state") this.states.set(message.machine.id, message.machine);
    if (message.kind === "machine-gone") this.states.delete(message.id);
  }
}

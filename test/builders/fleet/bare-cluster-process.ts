/** A process of bare-cluster.ts: a cluster without Lattice and Cluster API, whose fleet has local machines. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "../../../scripts/process/project.ts";
import { PROGRAM } from "../program.ts";
import { processesOf } from "./fleet-process.ts";

export class BareClusterProcess {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** The file of its kubeconfig, when it runs. */
  readonly kubeconfig: Promise<string>;

  constructor(folder: string, name: string) {
    this.folder = folder;
    const args = [join(projectRoot, "test/builders/fleet/bare-cluster.ts"), folder, PROGRAM, name];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: projectRoot });
    this.#child = child;
    let [output, errors] = ["", ""];
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    this.#ended = new Promise((resolve) => child.once("close", resolve));
    this.kubeconfig = new Promise((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.endsWith("\n")) resolve(output.trim());
      });
      child.once("close", () => reject(new Error(`the bare cluster ended: ${errors}`)));
    });
  }

  /** Ends the cluster alone. */
  stopCluster(): void {
    this.#child.kill("SIGUSR2");
  }

  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    const killed = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
    await this.#ended;
    clearTimeout(killed);
    for (const pid of processesOf(this.folder)) process.kill(pid, "SIGKILL");
  }
}

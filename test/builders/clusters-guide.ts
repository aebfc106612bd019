/** Runs the commands of docs/guides/clusters.md as written, in a folder with the examples: `lattice up` as a process, kubectl as the caller provides it. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#base";
import { projectRoot } from "../../scripts/process/project.ts";
import { runCli } from "./cli-io.ts";
import { shellSteps } from "./console-steps.ts";
import { FleetProcess } from "./fleet/fleet-process.ts";

export const clustersGuide = readFileSync(join(projectRoot, "docs/guides/clusters.md"), "utf8");

/** Output of a kubectl with these arguments; fails when kubectl fails. */
export type RunKubectl = (args: readonly string[], context: { readonly kubeconfig: string; readonly cwd: string }) => Promise<string>;

/** From `./lattice up` to the end of its block. */
export function fleetCommands(): readonly string[] {
  const commands = shellSteps(clustersGuide).map(({ command }) => command);
  const first = commands.findIndex((command) => command.startsWith("./lattice up"));
  return commands.slice(first, commands.findIndex((command) => command.startsWith("kubectl delete")) + 1);
}

export class GuideRun {
  readonly #cwd = mkdtempSync(join(tmpdir(), "lattice-clusters-guide-"));
  readonly #kubectl: RunKubectl;
  #fleet: FleetProcess | undefined;
  #kubeconfig = "";

  constructor(kubectl: RunKubectl) {
    this.#kubectl = kubectl;
    mkdirSync(join(this.#cwd, "work"));
    cpSync(join(projectRoot, "examples"), join(this.#cwd, "work/examples"), { recursive: true });
  }

  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** Resolves with its output. An unknown command fails: it would not be tested. */
  async run(command: string): Promise<string> {
    const words = command.split(" ");
    const setting = /^KUBECONFIG=(\S+)$/.exec(words[0] ?? "")?.[1];
    const kubeconfig = setting === undefined ? this.#kubeconfig : join(this.#folder, setting);
    const [program, ...args] = setting === undefined ? words : words.slice(1);
    if (command === "export KUBECONFIG=$PWD/.lattice/kubeconfig") return this.#exportKubeconfig();
    if (program === "kubectl") return this.#kubectl(args, { kubeconfig, cwd: this.#folder });
    if (program === "./lattice" && args[0] === "up") return this.#up(args.slice(1));
    if (program === "./lattice") return this.#lattice(args);
    throw new Error(`the test cannot run this command of the guide: ${command}`);
  }

  async end(): Promise<void> {
    await this.#fleet?.end();
    rmSync(this.#cwd, { recursive: true, force: true });
  }

  get #folder(): string {
    return join(this.#cwd, "work");
  }

  #exportKubeconfig(): string {
    this.#kubeconfig = join(this.#folder, ".lattice/kubeconfig");
    return "";
  }

  async #up(flags: readonly string[]): Promise<string> {
    const fleet = new FleetProcess(join(this.#folder, ".lattice"), flags);
    this.#fleet = fleet;
    await fleet.until("lattice up has printed what to try", () => fleet.output.includes("Try, in another terminal:"));
    return fleet.output;
  }

  async #lattice(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runCli(args, { cwd: this.#folder, env: { KUBECONFIG: this.#kubeconfig }, clock: systemClock });
    if (code !== 0) throw new Error(`lattice ${args.join(" ")} ended with code ${code}: ${stderr}`);
    return stdout;
  }
}

/** A laptop fleet as a user sees it: its clusters by their kubeconfigs, the program's commands, and what each cluster reports about itself. */
import { spawn } from "node:child_process";
import { expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { capiClusters, capiMachines, fieldAt, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf } from "../../builders/fleet/fleet-client.ts";
import type { FleetProcess } from "../../builders/fleet/fleet-process.ts";
import { PROGRAM } from "../../builders/program.ts";

export type CommandResult = { readonly code: number | null; readonly output: string };

/** Runs a command of the program, as a user does in another terminal. */
export function runLattice(...args: readonly string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], HOME: "/nonexistent" } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

/** One cluster of a fleet, asked directly and never through its parent. */
export class RunCluster {
  readonly name: string;
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly #fleet: FleetProcess;

  private constructor(fleet: FleetProcess, name: string, kubeconfig: string, client: KubeClient) {
    this.#fleet = fleet;
    this.name = name;
    this.kubeconfig = kubeconfig;
    this.client = client;
  }

  /** Waits until the fleet lists the cluster with its kubeconfig. */
  static async open(fleet: FleetProcess, name: string): Promise<RunCluster> {
    const find = () => fleet.clusters().find((cluster) => cluster.name === name && cluster.state === "Running");
    await fleet.until(`cluster ${name} runs`, () => find() !== undefined);
    const kubeconfig = find()?.kubeconfig ?? "";
    return new RunCluster(fleet, name, kubeconfig, await clientOf(kubeconfig));
  }

  until(what: string, condition: () => Promise<boolean>): Promise<void> {
    return this.#fleet.until(`${this.name}: ${what}`, condition);
  }

  /** A LatticeCluster in this cluster; undefined also while the server does not answer. */
  async read(name = this.name): Promise<LatticeCluster | undefined> {
    const found = await this.client.get(latticeClusters, { name });
    return found.ok ? found.value : undefined;
  }

  /** It has its own Cluster API objects, and reports so. */
  async untilOwnsItself(): Promise<void> {
    await this.until("owns itself", async () => {
      const { phase, ownedBy } = (await this.read())?.status ?? {};
      return phase === "Ready" && ownedBy === "self" && (await this.hasClusterApi(this.name));
    });
  }

  async hasClusterApi(cluster: string): Promise<boolean> {
    return (await this.client.get(capiClusters, { namespace: `capi-${cluster}`, name: cluster })).ok;
  }

  async machines(): Promise<readonly KubeObject[]> {
    const listed = await this.client.list<KubeObject>(capiMachines, { namespace: `capi-${this.name}` });
    return listed.ok ? listed.value.items : [];
  }

  /** Names of machines of the control plane, or of workers, that run in this version. */
  async running(controlPlane: boolean, version?: string): Promise<readonly string[]> {
    const isOfPlane = ({ metadata }: KubeObject) => Object.hasOwn(metadata.labels ?? {}, "cluster.x-k8s.io/control-plane") === controlPlane;
    const isRunning = (machine: KubeObject) =>
      fieldAt(machine, "status", "phase") === "Running" &&
      machine.metadata.deletionTimestamp === undefined &&
      (version === undefined || fieldAt(machine, "spec", "version") === version);
    return (await this.machines()).filter((machine) => isOfPlane(machine) && isRunning(machine)).map(({ metadata }) => metadata.name);
  }

  async patch(spec: object): Promise<void> {
    const body = { type: "merge", patch: { spec } } as never;
    expectOk(await this.client.patch(latticeClusters, { name: this.name }, body, { fieldManager: "user" }));
  }

  /** Another machine takes its place. */
  async replace(controlPlane: boolean, version: string): Promise<void> {
    const before = await this.running(controlPlane, version);
    const [victim = ""] = before;
    expectOk(await this.client.delete(capiMachines, { namespace: `capi-${this.name}`, name: victim }));
    await this.until(`another machine replaces ${victim}`, async () => {
      const now = await this.running(controlPlane, version);
      return (
        now.length === before.length && !now.includes(victim) && (await this.machines()).every(({ metadata }) => metadata.name !== victim)
      );
    });
  }
}

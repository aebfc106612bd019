/**
 * What the tools of a machine ask the supervisor: `kubeadm init` for the API server of its cluster, `kubeadm join` for an API server that runs.
 * Only a machine of this fleet can, by the token in its environment.
 */
import { equalInConstantTime, err, ok, type Clock, type Logger, type Result } from "#base";
import type { FleetFolder, MachineControlRequest, MachineView } from "../fleet-types.ts";
import { clusterFolder } from "../folder/layout.ts";
import type { MachineKeeper } from "../machines/machine-keeper.ts";
import type { ClusterKeeper } from "./cluster-keeper.ts";
import { readSettings, writeSettings } from "./cluster-settings.ts";
import type { FleetMachines } from "./fleet-machines.ts";
import type { MachineClusters } from "./machine-clusters.ts";

export type MachineCommandsOptions = {
  readonly folder: FleetFolder;
  readonly machines: FleetMachines;
  readonly clusters: MachineClusters;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends waiting. */
  readonly signal: AbortSignal;
};

const RUNNING_WITHIN_MS = 60_000;
const VERSION = /^v([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})(?:[-+][0-9A-Za-z.+-]{1,40})?$/;

export class MachineCommands {
  readonly #options: MachineCommandsOptions;

  constructor(options: MachineCommandsOptions) {
    this.#options = options;
  }

  async answer(request: MachineControlRequest): Promise<Result<MachineView, string>> {
    const machine = this.#options.machines.findByToken((token) => equalInConstantTime(token, request.token));
    if (machine === undefined || machine.record.removed === true) return err("no machine of this fleet has this token");
    switch (request.command) {
      case "machine-init":
        return this.#init(machine, request);
      case "machine-join":
        return this.#join(machine);
      case "machine-node": {
        const registered = machine.registered(request.node);
        return registered.ok ? ok(viewOf(machine, "")) : registered;
      }
    }
  }

  async #init(machine: MachineKeeper, { cluster, version }: Extract<MachineControlRequest, { command: "machine-init" }>) {
    const { record } = machine;
    if (!record.controlPlane) return err(`machine ${record.name} is no control-plane machine; it can only join`);
    if (cluster !== record.cluster)
      return err(`machine ${record.name} is part of cluster ${record.cluster}, and cannot start cluster ${cluster}`);
    if (!VERSION.test(version)) return err(`"${version}" is not a Kubernetes version such as v1.36.3`);
    const { clusters } = this.#options;
    const known = clusters.find(cluster);
    const keeper = known === undefined ? this.#add(cluster, version) : ok(known);
    return keeper.ok ? this.#untilRunning(machine, keeper.value) : keeper;
  }

  /** Stored before the start: after a restart the cluster is one of the fleet. */
  #add(cluster: string, version: string): Result<ClusterKeeper, string> {
    const { folder, logger, clusters } = this.#options;
    const paths = clusterFolder(folder, cluster);
    const written = writeSettings(paths, { ...readSettings(paths, logger), bare: true, version, provisioning: undefined });
    return written.ok ? clusters.add(cluster) : written;
  }

  async #join(machine: MachineKeeper): Promise<Result<MachineView, string>> {
    const { cluster, controlPlane, version } = machine.record;
    const keeper = this.#options.clusters.find(cluster);
    if (keeper === undefined) return err(`cluster ${cluster} has no API server yet; its first control-plane machine starts it`);
    const running = await this.#untilRunning(machine, keeper);
    return running.ok && controlPlane && isNewer(version, keeper.version) ? this.#upgrade(keeper, version, running.value) : running;
  }

  /** The API server reports the version of its newest control-plane machine. */
  #upgrade(keeper: ClusterKeeper, version: string, view: MachineView): Result<MachineView, string> {
    const written = writeSettings(keeper.folder, { ...readSettings(keeper.folder, this.#options.logger), version });
    if (!written.ok) return written;
    keeper.setVersion(version);
    return ok(view);
  }

  async #untilRunning(machine: MachineKeeper, keeper: ClusterKeeper): Promise<Result<MachineView, string>> {
    const late = new AbortController();
    const cancel = this.#options.clock.after(RUNNING_WITHIN_MS, () => late.abort());
    const running = await keeper.untilRunning(AbortSignal.any([this.#options.signal, late.signal]));
    cancel();
    return running.ok ? ok(viewOf(machine, running.value.kubeconfig)) : running;
  }
}

function viewOf({ record }: MachineKeeper, kubeconfig: string): MachineView {
  const { name, namespace, cluster, controlPlane, version } = record;
  return { name, namespace, cluster, controlPlane, version, kubeconfig };
}

/** An unreadable version is never newer. */
export function isNewer(version: string, than: string | undefined): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than ?? "")];
  if (a === undefined || b === undefined) return a !== undefined;
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

function numbersOf(version: string): readonly number[] | undefined {
  return VERSION.exec(version)?.slice(1, 4).map(Number);
}

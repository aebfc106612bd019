/** All clusters of a fleet: what the commands do with them, and the files that describe them. */
import { readFileSync } from "node:fs";
import { andThen, describeThrown, err, fromThrowing, nodeProcesses, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { writePrivateFile } from "#pki";
import type {
  ClusterFolder,
  ClusterView,
  Fleet,
  FleetCluster,
  FleetOptions,
  FleetProcess,
  MachineControlRequest,
  MachineView,
} from "../fleet-types.ts";
import { clusterFolder } from "../folder/layout.ts";
import type { SpawnProcess } from "../processes/spawn.ts";
import type { ClusterKeeper, MachinePort } from "./cluster-keeper.ts";
import { readSettings, writeSettings } from "./cluster-settings.ts";
import { FleetFile } from "./fleet-file.ts";
import { FleetMachines } from "./fleet-machines.ts";
import type { MachineClusters } from "./machine-clusters.ts";
import { MachineCommands } from "./machine-commands.ts";

export type OpenCluster = (
  cluster: FleetCluster,
  ports: { readonly machines: MachinePort; readonly onChange: () => void },
) => Result<ClusterKeeper, string>;

export type SupervisorOptions = Omit<FleetOptions, "env"> & {
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: SpawnProcess;
  readonly maxClusters: number;
  readonly prepare: (folder: ClusterFolder) => Result<void, string>;
  readonly open: OpenCluster;
};

export class Supervisor implements Fleet {
  readonly #options: SupervisorOptions;
  /** The management cluster first. */
  readonly #keepers = new Map<string, ClusterKeeper>();
  readonly #machines: FleetMachines;
  readonly #commands: MachineCommands;
  readonly #ended = new AbortController();
  readonly #file: FleetFile;
  readonly #listeners = new Set<() => void>();
  #processes: readonly FleetProcess[] = [];
  /** The process whose kubeconfig was copied. */
  #copied: number | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { clock, logger, folder, program, env, socket, spawn, prepare } = options;
    this.#file = new FleetFile({ path: folder.state, clusters: () => this.clusters(), clock, logger });
    const clusters: MachineClusters = {
      find: (name) => this.#keepers.get(name),
      prepare,
      add: (name) => this.#add(name),
      remove: (name) => this.#remove(name),
    };
    this.#machines = new FleetMachines({
      folder,
      program,
      env,
      socket,
      spawn,
      clock,
      logger,
      clusters,
      send: (owner, message) => this.#keepers.get(owner)?.send(message),
      onChange: () => this.changed(),
    });
    this.#commands = new MachineCommands({ folder, machines: this.#machines, clusters, clock, logger, signal: this.#ended.signal });
  }

  /** A cluster of the folder, or a new one. It is not started yet. */
  open(cluster: FleetCluster): Result<ClusterKeeper, string> {
    const { name } = cluster;
    const machines: MachinePort = {
      receive: (message) =>
        message.kind === "machine-ensure" ? this.#machines.ensure(name, message.machine) : this.#machines.remove(name, message.id),
      reports: () => this.#machines.reportsFor(name),
    };
    const opened = this.#options.open(cluster, { machines, onChange: () => this.changed() });
    if (opened.ok) this.#keepers.set(name, opened.value);
    return opened;
  }

  /** Starts the clusters that no user has stopped, and machines that are not complete. */
  begin(): void {
    this.#machines.begin();
    for (const keeper of this.#keepers.values()) if (keeper.state !== "Stopped") keeper.start();
    this.changed();
  }

  readonly clusters = (): readonly ClusterView[] => {
    const views = [...this.#keepers.values()].map((keeper) => keeper.view());
    const management = views.find(({ name }) => name === this.#management);
    return management === undefined ? views : [management, ...views.filter((view) => view !== management)];
  };

  readonly untilRunning = async (name: string, signal: AbortSignal): Promise<Result<ClusterView, string>> => {
    const keeper = this.#find(name);
    return keeper.ok ? keeper.value.untilRunning(signal) : keeper;
  };

  readonly add = async (cluster: FleetCluster): Promise<Result<ClusterView, string>> => {
    const found = this.#keepers.get(cluster.name);
    if (found?.isBare === true) return err(`the name ${cluster.name} is used by a cluster that is made of machines; choose another one`);
    const refused = this.#refusal();
    if (refused !== undefined) return err(refused);
    // its folder may still be deleted
    await this.#machines.removal(cluster.name);
    const opened = found === undefined ? this.open(cluster) : ok(found);
    if (!opened.ok) return opened;
    if (found === undefined || found.state === "Stopped") opened.value.start();
    this.changed();
    return opened.value.untilRunning(AbortSignal.any([this.#options.signal, this.#ended.signal]));
  };

  readonly remove = async (name: string): Promise<Result<void, string>> => {
    const { folder, logger } = this.#options;
    const keeper = this.#find(name);
    if (!keeper.ok) return keeper;
    if (keeper.value.isBare) return err(`cluster ${name} is made of machines; delete it where its Cluster API objects are`);
    for (const child of this.#keepers.values()) {
      if (child.parent !== name) continue;
      const settings = clusterFolder(folder, child.view().name);
      const written = writeSettings(settings, { ...readSettings(settings, logger), parent: undefined });
      if (!written.ok) return written;
      child.forgetParent();
    }
    return this.#machines.removeCluster(name);
  };

  readonly stop = async (name: string): Promise<Result<string, string>> => {
    const keeper = this.#find(name);
    if (!keeper.ok) return keeper;
    if (keeper.value.state === "Stopped") return ok(`cluster ${name} is stopped already`);
    const kept = this.#keepStopped(keeper.value, true);
    if (!kept.ok) return kept;
    await Promise.all([this.#machines.setStopped(name, true), keeper.value.stop()]);
    return ok(`stopped cluster ${name}; its state is kept`);
  };

  readonly start = async (name: string): Promise<Result<string, string>> => {
    const keeper = this.#find(name);
    if (!keeper.ok) return keeper;
    if (keeper.value.state === "Running") return ok(`cluster ${name} runs already`);
    if (keeper.value.state === "Stopping") await keeper.value.stop();
    const kept = this.#keepStopped(keeper.value, false);
    if (!kept.ok) return kept;
    if (keeper.value.state === "Stopped") keeper.value.start();
    const running = await keeper.value.untilRunning(this.#options.signal);
    await this.#machines.setStopped(name, false);
    return running.ok ? ok(`started cluster ${name}`) : running;
  };

  readonly machine = (request: MachineControlRequest): Promise<Result<MachineView, string>> => this.#commands.answer(request);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly close = (): Promise<void> => (this.#closed ??= this.#close());

  /** Called after every change of a cluster. */
  changed(): void {
    this.#copyKubeconfig();
    this.#reportProcesses();
    this.#file.changed();
    for (const listener of this.#listeners) listener();
  }

  /** Reads its settings: a machine has written them. */
  #add(name: string): Result<ClusterKeeper, string> {
    const { folder, logger } = this.#options;
    const refused = this.#refusal();
    if (refused !== undefined) return err(refused);
    const opened = this.open({ name, parent: readSettings(clusterFolder(folder, name), logger).parent });
    if (opened.ok) opened.value.start();
    this.changed();
    return opened;
  }

  /** Why no cluster can be added. */
  #refusal(): string | undefined {
    const { maxClusters } = this.#options;
    if (this.#closed !== undefined) return "lattice up is stopping";
    return this.#keepers.size >= maxClusters ? `at most ${maxClusters} clusters run on one machine` : undefined;
  }

  get #management(): string | undefined {
    const { management, clusters } = this.#options;
    return management ?? clusters[0]?.name;
  }

  async #remove(name: string): Promise<void> {
    await this.#keepers.get(name)?.stop();
    this.#keepers.delete(name);
    this.changed();
  }

  async #close(): Promise<void> {
    this.#ended.abort();
    await Promise.all([this.#machines.close(), ...[...this.#keepers.values()].map((keeper) => keeper.stop())]);
    this.#file.close();
  }

  #find(name: string): Result<ClusterKeeper, string> {
    if (this.#closed !== undefined) return err("lattice up is stopping");
    const keeper = this.#keepers.get(name);
    if (keeper !== undefined) return ok(keeper);
    const names = [...this.#keepers.keys()];
    return err(`there is no cluster "${name}"${didYouMean(name, names) || `; there are ${names.join(", ")}`}`);
  }

  #keepStopped({ folder }: ClusterKeeper, stopped: boolean): Result<void, string> {
    return writeSettings(folder, { ...readSettings(folder, this.#options.logger), stopped });
  }

  /** `DIR/kubeconfig` is the management cluster's. */
  #copyKubeconfig(): void {
    const { folder, logger } = this.#options;
    const management = this.clusters().find(({ name }) => name === this.#management);
    const pid = management?.pids[0];
    if (management?.state !== "Running" || pid === this.#copied) return;
    this.#copied = pid;
    const text = fromThrowing(() => readFileSync(management.kubeconfig, "utf8"), describeThrown);
    const copied = andThen(text, (kubeconfig) => writePrivateFile(folder.kubeconfig, kubeconfig));
    if (!copied.ok) logger.error("the kubeconfig of the management cluster cannot be written", { reason: copied.error });
  }

  #reportProcesses(): void {
    const before = new Map(this.#processes.map((process) => [process.pid, process]));
    const pids = [...this.clusters().flatMap((cluster) => cluster.pids), ...this.#machines.pids];
    if (pids.length === before.size && pids.every((pid) => before.has(pid))) return;
    this.#processes = pids.map((pid) => before.get(pid) ?? { pid, identity: nodeProcesses.identify(pid) ?? "" });
    this.#options.onProcesses(this.#processes);
  }
}

/** All clusters of a fleet: what the commands do with them, and the files that describe them. */
import { readFileSync } from "node:fs";
import { andThen, describeThrown, err, fromThrowing, nodeProcesses, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { writePrivateFile } from "#pki";
import type { ClusterView, Fleet, FleetOptions, FleetProcess } from "../fleet-types.ts";
import type { ClusterKeeper } from "./cluster-keeper.ts";
import { readSettings, writeSettings } from "./cluster-settings.ts";
import { FleetFile } from "./fleet-file.ts";

export class Supervisor implements Fleet {
  readonly #options: FleetOptions;
  /** The management cluster first. */
  readonly #keepers: ReadonlyMap<string, ClusterKeeper>;
  readonly #file: FleetFile;
  readonly #listeners = new Set<() => void>();
  #processes: readonly FleetProcess[] = [];
  /** The process whose kubeconfig was copied. */
  #copied: number | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: FleetOptions, keepers: ReadonlyMap<string, ClusterKeeper>) {
    this.#options = options;
    this.#keepers = keepers;
    const { clock, logger, folder } = options;
    this.#file = new FleetFile({ path: folder.state, clusters: () => this.clusters(), clock, logger });
  }

  /** Starts the clusters that no user has stopped. */
  begin(): void {
    for (const keeper of this.#keepers.values()) if (keeper.state !== "Stopped") keeper.start();
    this.changed();
  }

  readonly clusters = (): readonly ClusterView[] => [...this.#keepers.values()].map((keeper) => keeper.view());

  readonly untilRunning = async (name: string, signal: AbortSignal): Promise<Result<ClusterView, string>> => {
    const keeper = this.#find(name);
    return keeper.ok ? keeper.value.untilRunning(signal) : keeper;
  };

  readonly stop = async (name: string): Promise<Result<string, string>> => {
    const keeper = this.#find(name);
    if (!keeper.ok) return keeper;
    if (keeper.value.state === "Stopped") return ok(`cluster ${name} is stopped already`);
    const kept = this.#keepStopped(keeper.value, true);
    if (!kept.ok) return kept;
    await keeper.value.stop();
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
    return running.ok ? ok(`started cluster ${name}`) : running;
  };

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

  async #close(): Promise<void> {
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.stop()));
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
    const [management] = this.clusters();
    const pid = management?.pids[0];
    if (management?.state !== "Running" || pid === this.#copied) return;
    this.#copied = pid;
    const text = fromThrowing(() => readFileSync(management.kubeconfig, "utf8"), describeThrown);
    const copied = andThen(text, (kubeconfig) => writePrivateFile(folder.kubeconfig, kubeconfig));
    if (!copied.ok) logger.error("the kubeconfig of the management cluster cannot be written", { reason: copied.error });
  }

  #reportProcesses(): void {
    const before = new Map(this.#processes.map((process) => [process.pid, process]));
    const pids = this.clusters().flatMap((cluster) => cluster.pids);
    if (pids.length === before.size && pids.every((pid) => before.has(pid))) return;
    this.#processes = pids.map((pid) => before.get(pid) ?? { pid, identity: nodeProcesses.identify(pid) ?? "" });
    this.#options.onProcesses(this.#processes);
  }
}

/**
 * All machines of a fleet, by cluster and name. They belong to the cluster that they are part of: its API server starts with the first
 * control-plane machine, and ends with the last one.
 *
 * A machine is requested by the API server that has its LocalMachine, the owner: the parent, or after a move the cluster itself. A machine that
 * is requested again under another id is the same machine.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Clock, type Logger, type Result } from "#base";
import { parseNamespace } from "#kube";
import type { FleetFolder, LatticeProgram } from "../fleet-types.ts";
import { isRemoved } from "../folder/folder-names.ts";
import { clusterFolder } from "../folder/layout.ts";
import { removeTree } from "../folder/remove-tree.ts";
import { createMachine, isMachineName, machineNames, machinePaths, readMachine, type MachineRecord } from "../machines/machine-folder.ts";
import { MachineKeeper } from "../machines/machine-keeper.ts";
import type { MachineReport, MachineRequest, ToApiServer } from "../messages/messages.ts";
import type { SpawnProcess } from "../processes/spawn.ts";
import { clusterFolders, readSettings, writeSettings } from "./cluster-settings.ts";
import { deleteClusterFolder } from "./delete-cluster.ts";
import type { MachineClusters } from "./machine-clusters.ts";

export type FleetMachinesOptions = {
  readonly folder: FleetFolder;
  readonly program: LatticeProgram;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: no machine can run. */
  readonly socket: string | undefined;
  readonly spawn: SpawnProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly clusters: MachineClusters;
  readonly send: (owner: string, message: ToApiServer) => void;
  readonly onChange: () => void;
};

/** A process each while its commands run. */
const MAX_MACHINES = 200;

export class FleetMachines {
  readonly #options: FleetMachinesOptions;
  /** By `CLUSTER/NAME`. */
  readonly #machines = new Map<string, MachineKeeper>();
  /** By id: requests that cannot be met, and why. */
  readonly #refused = new Map<string, { readonly owner: string; readonly reason: string }>();
  /** By `CLUSTER/NAME` or `CLUSTER`. */
  readonly #removals = new Map<string, Promise<void>>();
  /** By id: what was reported last. */
  readonly #reported = new Map<string, string>();
  #closing = false;

  constructor(options: FleetMachinesOptions) {
    this.#options = options;
  }

  /** Continues what an earlier supervisor began: machines that were started, and removals. */
  begin(): void {
    const { folder, logger } = this.#options;
    const names = fromThrowing(() => readdirSync(folder.clusters), describeThrown);
    for (const name of names.ok ? names.value.filter(isRemoved) : []) void removeTree(join(folder.clusters, name));
    for (const { name, settings } of clusterFolders(folder, logger)) {
      if (settings.removing === true) this.#remember(name, this.#deleteCluster(name));
      else this.#open(name, settings.stopped !== true);
    }
  }

  ensure(owner: string, request: MachineRequest): void {
    const key = keyOf(request);
    const removal = this.#removals.get(request.cluster) ?? this.#removals.get(key);
    if (this.#closing) return;
    if (removal !== undefined) return void removal.then(() => this.ensure(owner, request));
    const ensured = this.#ensure(owner, request);
    if (ensured.ok) this.#refused.delete(request.id);
    else this.#refuse(owner, request.id, ensured.error);
  }

  /** With the last control-plane machine the whole cluster is removed. */
  remove(owner: string, id: string): void {
    this.#refused.delete(id);
    const keeper = [...this.#machines.values()].find((machine) => machine.record.id === id);
    if (keeper === undefined) return this.#options.send(owner, { kind: "machine-gone", id });
    const marked = keeper.markRemoved();
    if (!marked.ok) return this.#refuse(owner, id, marked.error);
    this.#remove(keeper);
  }

  /** For the API server of an owner, when it starts. */
  reportsFor(owner: string): readonly MachineReport[] {
    const refused = [...this.#refused].filter(([, one]) => one.owner === owner);
    return [
      ...[...this.#machines.values()].filter(({ record }) => record.owner === owner).map((machine) => machine.report()),
      ...refused.map(([id, { reason }]) => ({ id, phase: "failed" as const, message: reason })),
    ];
  }

  get pids(): readonly number[] {
    return [...this.#machines.values()].flatMap(({ pid }) => pid ?? []);
  }

  findByToken(matches: (token: string) => boolean): MachineKeeper | undefined {
    return [...this.#machines.values()].find((machine) => matches(machine.token));
  }

  /** Removes a cluster with its machines, also after a crash: what was begun is continued. */
  async removeCluster(cluster: string): Promise<Result<void, string>> {
    if (!this.#removals.has(cluster)) this.#remember(cluster, this.#deleteCluster(cluster));
    await this.#removals.get(cluster);
    const { path } = clusterFolder(this.#options.folder, cluster);
    return existsSync(path) ? err(`the folder ${path} cannot be deleted`) : ok(undefined);
  }

  /** Resolves when a cluster that is being removed is gone. */
  async removal(cluster: string): Promise<void> {
    await this.#removals.get(cluster);
  }

  /** The cluster is started or stopped by a user. */
  async setStopped(cluster: string, stopped: boolean): Promise<void> {
    if (stopped) await Promise.all(this.#of(cluster).map((machine) => machine.stop()));
    else for (const machine of this.#of(cluster)) machine.start();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...[...this.#machines.values()].map((machine) => machine.stop()), ...this.#removals.values()]);
  }

  #ensure(owner: string, { bootstrapData, ...request }: MachineRequest): Result<void, string> {
    const known = this.#machines.get(keyOf(request));
    if (known?.record.id === request.id && known.record.owner === owner) return ok(undefined);
    if (known !== undefined) return this.#adopt(known, owner, { ...request, bootstrapData });
    const checked = this.#check(owner, request);
    if (!checked.ok) return checked;
    const { folder, clusters } = this.#options;
    const claimed = clusters.find(request.cluster) === undefined ? this.#claim(owner, request.cluster) : ok(undefined);
    if (!claimed.ok) return claimed;
    const record: MachineRecord = { ...request, owner };
    const made = createMachine(machinePaths(clusterFolder(folder, request.cluster), request.name), record, bootstrapData);
    if (!made.ok) return made;
    this.#add(record)?.start();
    return ok(undefined);
  }

  /**
   * A machine belongs to its cluster, which names do not identify: two cells may have children of one name. The cell that made it, the cluster itself,
   * and an owner that has its bootstrap data, which moves with its object, may request it under another id.
   */
  #adopt(keeper: MachineKeeper, owner: string, { id, namespace, cluster, bootstrapData }: MachineRequest): Result<void, string> {
    const { folder, logger } = this.#options;
    const { record } = keeper;
    const { parent = record.owner } = readSettings(clusterFolder(folder, cluster), logger);
    const elsewhere = otherNamespace(record, namespace);
    if (elsewhere !== undefined) return err(elsewhere);
    const isRelated = [record.owner, cluster, parent].includes(owner);
    return isRelated || keeper.hasBootstrapData(bootstrapData) ? keeper.adopt(id, owner) : err(usedBy(cluster, parent));
  }

  #check(owner: string, { name, cluster, namespace }: Pick<MachineRequest, "name" | "cluster" | "namespace">): Result<void, string> {
    const { socket, clusters, folder, logger } = this.#options;
    if (socket === undefined) return err("this fleet cannot run machines: it has no control socket");
    if (!isMachineName(name)) return err(`"${name}" cannot be the name of a machine`);
    if (!parseNamespace(cluster).ok) return err(`"${cluster}" cannot be the name of a cluster`);
    if (this.#machines.size >= MAX_MACHINES) return err(`at most ${MAX_MACHINES} machines run on one computer`);
    const found = clusters.find(cluster);
    if (found !== undefined && !found.isBare) return err(`the name ${cluster} is used by a cluster of lattice up; choose another one`);
    const { parent } = readSettings(clusterFolder(folder, cluster), logger);
    const owners = new Set([parent, ...this.#of(cluster).map(({ record }) => record.owner)]);
    if (parent !== undefined && owner !== cluster && !owners.has(owner)) return err(usedBy(cluster, parent));
    const elsewhere = this.#of(cluster).flatMap(({ record }) => otherNamespace(record, namespace) ?? [])[0];
    if (elsewhere !== undefined) return err(elsewhere);
    return found?.state === "Stopped" ? err(`cluster ${cluster} is stopped; lattice start ${cluster} starts it`) : ok(undefined);
  }

  /** The folder of a cluster that has no API server yet. */
  #claim(owner: string, cluster: string): Result<void, string> {
    const { folder, logger, clusters } = this.#options;
    const paths = clusterFolder(folder, cluster);
    const made = clusters.prepare(paths);
    if (!made.ok) return made;
    return writeSettings(paths, { ...readSettings(paths, logger), parent: owner, bare: true, provisioning: true });
  }

  #open(cluster: string, started: boolean): void {
    const { folder, logger } = this.#options;
    const paths = clusterFolder(folder, cluster);
    for (const name of machineNames(paths)) {
      const record = readMachine(machinePaths(paths, name));
      if (!record.ok) logger.warn("a machine cannot be read, and is not started", { cluster, machine: name, reason: record.error });
      if (!record.ok || record.value.name !== name || record.value.cluster !== cluster) continue;
      const keeper = this.#add(record.value);
      if (record.value.removed !== true && started) keeper?.start();
    }
    for (const keeper of this.#of(cluster)) if (keeper.record.removed === true) this.#remove(keeper);
  }

  #add(record: MachineRecord): MachineKeeper | undefined {
    const { folder, program, env, socket, spawn, clock, logger } = this.#options;
    if (socket === undefined) return undefined;
    const keeper: MachineKeeper = new MachineKeeper({
      record,
      paths: machinePaths(clusterFolder(folder, record.cluster), record.name),
      program,
      env,
      socket,
      token: randomBytes(32).toString("base64url"),
      spawn,
      clock,
      logger: logger.with({ cluster: record.cluster, machine: record.name }),
      onChange: () => this.#changed(keeper),
    });
    this.#machines.set(keyOf(record), keeper);
    return keeper;
  }

  #remove(keeper: MachineKeeper): void {
    const { cluster, controlPlane } = keeper.record;
    if (this.#removals.has(cluster) || this.#removals.has(keyOf(keeper.record))) return;
    const others = this.#of(cluster).some(({ record }) => record.controlPlane && record.removed !== true);
    if (controlPlane && !others) return this.#remember(cluster, this.#deleteCluster(cluster));
    this.#remember(keyOf(keeper.record), this.#deleteMachine(keeper));
  }

  async #deleteMachine(keeper: MachineKeeper): Promise<void> {
    const deleted = await keeper.delete();
    if (!deleted.ok) this.#options.logger.error("a machine cannot be deleted", { machine: keeper.record.name, reason: deleted.error });
    this.#forget(keeper);
  }

  async #deleteCluster(cluster: string): Promise<void> {
    const { folder, clusters, logger } = this.#options;
    const paths = clusterFolder(folder, cluster);
    const marked = writeSettings(paths, { ...readSettings(paths, logger), removing: true });
    if (!marked.ok) logger.error("the removal of a cluster cannot be stored; it is continued", { cluster, reason: marked.error });
    const machines = this.#of(cluster);
    await Promise.all(machines.map((machine) => machine.stop()));
    await clusters.remove(cluster);
    const deleted = await deleteClusterFolder(folder, cluster);
    if (!deleted.ok) logger.error("the folder of a cluster cannot be deleted", { cluster, reason: deleted.error });
    for (const machine of machines) this.#forget(machine);
  }

  #remember(key: string, removal: Promise<void>): void {
    const tracked = removal.finally(() => this.#removals.delete(key));
    this.#removals.set(key, tracked);
  }

  #forget({ record }: MachineKeeper): void {
    this.#machines.delete(keyOf(record));
    this.#reported.delete(record.id);
    this.#options.send(record.owner, { kind: "machine-gone", id: record.id });
    this.#options.onChange();
  }

  #of(cluster: string): readonly MachineKeeper[] {
    return [...this.#machines.values()].filter(({ record }) => record.cluster === cluster);
  }

  #refuse(owner: string, id: string, reason: string): void {
    if (this.#refused.size >= MAX_MACHINES) this.#refused.clear(); // the owners request them again when they start
    this.#refused.set(id, { owner, reason });
    this.#options.send(owner, { kind: "machine-state", machine: { id, phase: "failed", message: reason } });
  }

  #changed(keeper: MachineKeeper): void {
    const { owner, removed } = keeper.record;
    const machine = keeper.report();
    const text = JSON.stringify([owner, machine]);
    if (!this.#closing && removed !== true && this.#reported.get(machine.id) !== text) {
      this.#reported.set(machine.id, text);
      this.#options.send(owner, { kind: "machine-state", machine });
    }
    this.#options.onChange();
  }
}

function usedBy(cluster: string, parent: string): string {
  return `the name ${cluster} is used by a cluster of ${parent}; choose another one`;
}

/** All machines of a cluster are in one namespace, also when they are moved. */
function otherNamespace({ cluster, namespace }: MachineRecord, wanted: string): string | undefined {
  return namespace === wanted ? undefined : `the name ${cluster} is used by a cluster in namespace ${namespace}; choose another one`;
}

function keyOf({ cluster, name }: { readonly cluster: string; readonly name: string }): string {
  return `${cluster}/${name}`;
}

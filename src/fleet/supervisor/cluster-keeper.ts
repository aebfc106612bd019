/**
 * One cluster of the fleet: its API-server process and the processes of its Pods.
 *
 * The Pods' processes are children of the supervisor. They run on while the API server restarts, and the new one adopts them.
 */
import { join } from "node:path";
import { err, ok, type Clock, type Logger, type Result } from "#base";
import type { ClusterFolder, ClusterState, ClusterView, FleetCluster, LatticeProgram } from "../fleet-types.ts";
import {
  parseFromApiServer,
  type FromApiServer,
  type MachineReport,
  type PodProcessRequest,
  type ToApiServer,
} from "../messages/messages.ts";
import { removePodFiles } from "../pod-processes/pod-files.ts";
import { ManagedProcess } from "../processes/managed-process.ts";
import { RotatingLog } from "../processes/rotating-log.ts";
import type { SpawnProcess } from "../processes/spawn.ts";
import { PodProcessKeeper } from "./pod-process-keeper.ts";
import { removeStaleLock } from "./stale-lock.ts";

export type ClusterKeeperOptions = {
  readonly cluster: FleetCluster;
  readonly folder: ClusterFolder;
  readonly program: LatticeProgram;
  readonly repair: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: SpawnProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopped: boolean;
  /** It is made of machines. */
  readonly bare: boolean;
  /** The Kubernetes version that it reports. */
  readonly version?: string | undefined;
  readonly machines: MachinePort;
  readonly onChange: () => void;
};

/** The machines that a cluster has requested, for itself or for a child. */
export type MachinePort = {
  readonly receive: (message: Extract<FromApiServer, { kind: "machine-ensure" | "machine-remove" }>) => void;
  readonly reports: () => readonly MachineReport[];
};

/** Operators release their Leases, then the API server closes; together below the 10 s of `close`. */
const PODS_GRACE_MS = 5_000;
const SERVER_GRACE_MS = 4_000;
/** Starts that fail without a reason, until `untilRunning` gives up. */
const MAX_FAILED_STARTS = 3;

export class ClusterKeeper {
  readonly #options: ClusterKeeperOptions;
  readonly #server: ManagedProcess;
  readonly #log: RotatingLog;
  /** By uid. */
  readonly #pods = new Map<string, PodProcessKeeper>();
  #state: ClusterState;
  #url: string | undefined;
  #message: string | undefined;
  #movedPort: ClusterView["movedPort"];
  #stopping: Promise<void> | undefined;
  readonly #waiting = new Set<() => void>();
  #version: string | undefined;
  #parent: string | undefined;

  constructor(options: ClusterKeeperOptions) {
    this.#options = options;
    this.#version = options.version;
    this.#parent = options.cluster.parent;
    this.#state = options.stopped ? "Stopped" : "Starting";
    const { cluster, folder, program, env, spawn, clock, logger } = options;
    this.#log = new RotatingLog({ path: join(folder.logs, "api-server.log"), logger });
    const args = [...program.args, "__fleet-api-server", "--folder", folder.path, "--name", cluster.name];
    this.#server = new ManagedProcess({
      spec: { command: program.node, args, env, cwd: folder.path },
      openOutput: () => ({ write: (_, chunk) => this.#log.write(chunk), close: () => this.#log.close() }),
      spawn,
      clock,
      onChange: () => this.#serverChanged(),
      onStarted: () => this.send(this.#begin()),
      onMessage: (message) => this.#receive(message),
    });
  }

  get state(): ClusterState {
    return this.#state;
  }

  get folder(): ClusterFolder {
    return this.#options.folder;
  }

  get isBare(): boolean {
    return this.#options.bare;
  }

  get version(): string | undefined {
    return this.#version;
  }

  setVersion(version: string): void {
    this.#version = version;
    this.send({ kind: "version", version });
  }

  get parent(): string | undefined {
    return this.#parent;
  }

  /** Its parent was removed. */
  forgetParent(): void {
    this.#parent = undefined;
  }

  view(): ClusterView {
    const { cluster, folder, bare } = this.#options;
    const pods = [...this.#pods.values()];
    const pids = [this.#server.pid, ...pods.map(({ pid }) => pid)].filter((pid) => pid !== undefined);
    return {
      name: cluster.name,
      parent: this.#parent,
      kubeconfig: folder.kubeconfig,
      url: this.#url,
      pids,
      state: this.#state,
      message: this.#message,
      movedPort: this.#movedPort,
      operators: pods.map((pod) => pod.view()),
      bare,
    };
  }

  start(): void {
    this.#state = "Starting";
    this.#message = undefined;
    this.#server.start();
  }

  /** Ends the Pods' processes, then the API server. A second call waits for the first. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    }));
  }

  /** A process that does not run gets the same with its first message. */
  send(message: ToApiServer): void {
    this.#server.send(message);
  }

  /** Resolves when the API server accepts requests. */
  async untilRunning(signal: AbortSignal): Promise<Result<ClusterView, string>> {
    const { name } = this.#options.cluster;
    const starts = this.#server.run.failures;
    while (this.#state !== "Running") {
      if (signal.aborted) return err(`cluster ${name} has not started yet`);
      if (this.#state === "Stopped" || this.#state === "Stopping")
        return err(`cluster ${name} is stopped; lattice start ${name} starts it`);
      if (this.#message !== undefined) return err(`cluster ${name} cannot start: ${this.#message}`);
      if (this.#server.run.failures - starts >= MAX_FAILED_STARTS) return err(`cluster ${name} cannot start: ${this.#describeFailure()}`);
      await this.#nextChange(signal);
    }
    return ok(this.view());
  }

  #begin(): ToApiServer {
    const { repair, bare, machines } = this.#options;
    const processes = [...this.#pods.values()].map((pod) => pod.report());
    return { kind: "begin", repair, bare, version: this.#version, processes, machines: [...machines.reports()] };
  }

  async #stop(): Promise<void> {
    this.#state = "Stopping";
    this.#changed();
    await Promise.all([...this.#pods.values()].map((pod) => pod.stop(PODS_GRACE_MS)));
    this.#pods.clear();
    await this.#server.stop(SERVER_GRACE_MS);
    removeStaleLock(this.#options.folder.data, this.#options.clock);
    this.#state = "Stopped";
    this.#url = undefined;
    this.#changed();
  }

  #serverChanged(): void {
    const { phase } = this.#server.run;
    if (phase === "waiting" && this.#state === "Running") this.#state = "Restarting";
    this.#changed();
  }

  #describeFailure(): string {
    const { last } = this.#server.run;
    return (
      this.#server.problem ??
      `its API server ended with exit code ${last?.exitCode ?? "unknown"}; its log is ${join(this.folder.logs, "api-server.log")}`
    );
  }

  #receive(raw: unknown): void {
    const { logger, cluster } = this.#options;
    const message = parseFromApiServer(raw);
    if (!message.ok) return logger.warn("a message of an API server cannot be read", { cluster: cluster.name, reason: message.error });
    this.#handle(message.value);
  }

  #handle(message: FromApiServer): void {
    switch (message.kind) {
      case "ready":
        if (this.#state === "Stopping") return;
        this.#state = "Running";
        this.#url = message.url;
        this.#movedPort = message.movedPort;
        this.#message = undefined;
        return this.#changed();
      case "failed":
        this.#message = message.message;
        return this.#changed();
      case "ensure":
        return this.#ensure(message.process);
      case "stop":
        return void this.#pods.get(message.uid)?.stop(message.graceMs);
      case "forget":
        return void this.#forget(message.uid, message.graceMs);
      case "machine-ensure":
      case "machine-remove":
        return this.#options.machines.receive(message);
    }
  }

  #ensure(request: PodProcessRequest): void {
    if (this.#state === "Stopping" || this.#state === "Stopped") return;
    const known = this.#pods.get(request.uid);
    if (known !== undefined && known.phase !== "ended") {
      // it is being stopped: the next one starts when it has ended, because both use the same files
      if (known.phase === "stopping") void known.stop(PODS_GRACE_MS).then(() => this.#ensure(request));
      return;
    }
    const { program, spawn, clock, logger, env } = this.#options;
    const pod = new PodProcessKeeper({ request, program, env, spawn, clock, logger, onChange: () => this.#podChanged(pod) });
    this.#pods.set(request.uid, pod);
    pod.start();
  }

  async #forget(uid: string, graceMs: number): Promise<void> {
    const { folder, logger } = this.#options;
    const pod = this.#pods.get(uid);
    await pod?.stop(graceMs);
    if (this.#pods.get(uid) === pod) this.#pods.delete(uid);
    const removed = removePodFiles(folder, uid);
    if (!removed.ok) logger.warn("files of a Pod cannot be deleted", { uid, reason: removed.error });
    this.#changed();
  }

  /** While the cluster stops, the API server is not informed: the Pods run again at the next start, as after a power cut. */
  #podChanged(pod: PodProcessKeeper): void {
    if (this.#state !== "Stopping") this.send({ kind: "process", process: pod.report() });
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#options.onChange();
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}

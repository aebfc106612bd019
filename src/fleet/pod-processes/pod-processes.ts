/**
 * Pods of the operator as processes: the kubelet's port, filled in the API-server process.
 *
 * It prepares what a container gets (volumes, token, kubeconfig, arguments) and asks the supervisor for a process, which is the supervisor's
 * child: it runs on when the API server is killed, and the next one adopts it.
 */
import { readFileSync } from "node:fs";
import { describeThrown, err, fromThrowing, ok, type Clock, type Logger, type Result } from "#base";
import { configMaps, secrets, type Pod } from "#kube";
import { findContainerLog, readContainerLog, type ContainerLogOptions, type ContainerProcess, type PodProcesses } from "#kube-controllers";
import { writePrivateFile } from "#pki";
import type { ClusterFolder } from "../fleet-types.ts";
import type { FromApiServer, PodProcessReport } from "../messages/messages.ts";
import { containerView, neverStarted, notStarted } from "./container-view.ts";
import { isOperatorPod, type PeekObject } from "./operator-pod.ts";
import { podCommand, type PodCommand } from "./pod-command.ts";
import { createPodFolders, podKubeconfig, podPaths, podsWithFolders, type PodPaths, type ServerAddress } from "./pod-files.ts";
import { TokenRenewal, type RequestToken } from "./pod-tokens.ts";

export type PodProcessesOptions = {
  readonly folder: ClusterFolder;
  /** Processes that run already. */
  readonly adopted: readonly PodProcessReport[];
  readonly peek: PeekObject;
  readonly requestToken: RequestToken;
  /** Resolves when the server listens. */
  readonly address: Promise<ServerAddress>;
  readonly send: (message: FromApiServer) => void;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** A typing error in `replicas` must not use up the memory of a laptop. */
const MAX_PROCESSES = 10;
const RETRY_MS = 2_000;
/** For processes of Pods that no longer exist. */
const LEFTOVER_GRACE_MS = 5_000;

/** A Pod that runs, or is to run. */
type TrackedPod = {
  pod?: Pod;
  /** The supervisor has a process for it. */
  report?: PodProcessReport;
  /** A process was requested, and the supervisor has not answered yet. */
  requested: boolean;
  /** Why it has none. */
  problem?: string | undefined;
  wanted: boolean;
  preparing: boolean;
  renewal?: TokenRenewal;
  cancelRetry?: () => void;
};

export class FleetPodProcesses implements PodProcesses {
  readonly #options: PodProcessesOptions;
  readonly #tracked = new Map<string, TrackedPod>();
  readonly #listeners = new Set<(uid: string) => void>();
  /** Pods that have a folder from before: they run as processes even if their Deployment is deleted meanwhile. */
  readonly #known: Set<string>;
  #closed = false;

  constructor(options: PodProcessesOptions) {
    this.#options = options;
    this.#known = new Set(podsWithFolders(options.folder));
    for (const report of options.adopted) this.#tracked.set(report.uid, { report, wanted: true, preparing: false, requested: false });
  }

  readonly runs = (pod: Pod): boolean => {
    const { uid = "" } = pod.metadata;
    return this.#tracked.has(uid) || this.#known.has(uid) || isOperatorPod(pod, this.#options.peek);
  };

  readonly ensure = (pod: Pod): void => {
    const { uid = "" } = pod.metadata;
    const tracked = this.#track(uid);
    tracked.pod = pod;
    tracked.wanted = true;
    const runs = (tracked.requested || isAlive(tracked)) && tracked.renewal !== undefined;
    if (!runs && !tracked.preparing && tracked.cancelRetry === undefined) void this.#prepare(uid, tracked, pod);
  };

  readonly stop = (pod: Pod, graceMs: number): void => {
    const { uid = "" } = pod.metadata;
    const tracked = this.#track(uid);
    tracked.pod ??= pod;
    tracked.wanted = false;
    this.#endTimers(tracked);
    if (tracked.report !== undefined || tracked.requested) this.#options.send({ kind: "stop", uid, graceMs });
    else this.#changed(uid);
  };

  readonly forget = (uid: string): void => {
    const tracked = this.#tracked.get(uid);
    if (tracked !== undefined) {
      tracked.wanted = false;
      this.#endTimers(tracked);
    }
    this.#tracked.delete(uid);
    this.#known.delete(uid);
    // the supervisor ends the process and deletes the files after it: the process may still write
    this.#options.send({ kind: "forget", uid, graceMs: 0 });
  };

  readonly states = (uid: string): ReadonlyMap<string, ContainerProcess> | undefined => {
    const tracked = this.#tracked.get(uid);
    if (tracked === undefined) return undefined;
    const { pod, report, problem, wanted } = tracked;
    const now = this.#options.clock.now();
    if (report !== undefined) return new Map([[report.container, containerView(report, now)]]);
    const view = wanted ? notStarted(problem) : neverStarted(now);
    return new Map((pod?.spec.containers ?? []).map(({ name }) => [name, view]));
  };

  readonly subscribe = (listener: (uid: string) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly retain = (uids: ReadonlySet<string>): void => {
    for (const uid of new Set([...this.#tracked.keys(), ...this.#known])) {
      if (uids.has(uid)) continue;
      this.#tracked.delete(uid);
      this.#known.delete(uid);
      this.#options.send({ kind: "forget", uid, graceMs: LEFTOVER_GRACE_MS });
    }
  };

  readonly readLog = (uid: string, options: ContainerLogOptions, signal: AbortSignal): AsyncIterable<Uint8Array> | undefined => {
    const { pod, report } = this.#tracked.get(uid) ?? {};
    const folder = report?.folder ?? (pod === undefined ? undefined : this.#logFolder(pod));
    const path = folder === undefined ? undefined : findContainerLog(folder, options);
    if (path === undefined || (report !== undefined && report.container !== options.container)) return undefined;
    const isComplete = () => options.previous || !this.#writes(uid, report?.restarts);
    return readContainerLog({ path, options, clock: this.#options.clock, signal, isComplete });
  };

  /** A report of the supervisor. */
  update(report: PodProcessReport): void {
    const tracked = this.#tracked.get(report.uid);
    if (tracked === undefined) return;
    tracked.report = report;
    tracked.requested = false;
    this.#changed(report.uid);
  }

  close(): void {
    this.#closed = true;
    for (const tracked of this.#tracked.values()) this.#endTimers(tracked);
  }

  #track(uid: string): TrackedPod {
    const tracked = this.#tracked.get(uid) ?? { wanted: false, preparing: false, requested: false };
    this.#tracked.set(uid, tracked);
    return tracked;
  }

  async #prepare(uid: string, tracked: TrackedPod, pod: Pod): Promise<void> {
    tracked.preparing = true;
    const prepared = await this.#attempt(uid, tracked, pod);
    tracked.preparing = false;
    if (this.#closed || !tracked.wanted) return this.#changed(uid);
    tracked.problem = prepared.ok ? undefined : prepared.error;
    if (!prepared.ok) {
      tracked.cancelRetry = this.#options.clock.after(RETRY_MS, () => {
        delete tracked.cancelRetry;
        void this.#prepare(uid, tracked, tracked.pod ?? pod);
      });
    }
    this.#changed(uid);
  }

  async #attempt(uid: string, tracked: TrackedPod, pod: Pod): Promise<Result<void, string>> {
    const { folder, logger, send } = this.#options;
    if (this.#countBefore(uid) >= MAX_PROCESSES)
      return err(`at most ${MAX_PROCESSES} Pods of a Deployment run as processes of this machine; scale it down`);
    const paths = podPaths(folder, pod);
    if (!paths.ok) return paths;
    const command = this.#command(pod, paths.value);
    if (!command.ok) return command;
    const files = await this.#writeFiles(tracked, pod, { paths: paths.value, command: command.value });
    if (!files.ok) return files;
    // adopted: it runs already, and its token is renewed now
    const isRunning = isAlive(tracked);
    if (!tracked.wanted || this.#closed || (isRunning && !files.value.moved)) return ok(undefined);
    const { container, args, env, leftOut } = command.value;
    if (leftOut.length > 0) logger.warn("variables of a Pod are not passed to its process", { pod: pod.metadata.name, names: leftOut });
    const environment = { ...env, HOME: paths.value.folder, KUBECONFIG: paths.value.kubeconfig };
    if (isRunning) send({ kind: "stop", uid, graceMs: LEFTOVER_GRACE_MS });
    const process = {
      uid,
      pod: pod.metadata.name,
      container,
      folder: paths.value.logs,
      args: [...args],
      env: environment,
      cwd: paths.value.folder,
    };
    tracked.requested = true;
    send({ kind: "ensure", process });
    return ok(undefined);
  }

  #command(pod: Pod, { volumes }: PodPaths): Result<PodCommand, string> {
    const { peek } = this.#options;
    const { namespace } = pod.metadata;
    const find = (kind: "ConfigMap" | "Secret", name: string) => peek(kind === "Secret" ? secrets : configMaps, { namespace, name });
    return podCommand(pod, { volumesFolder: volumes, sources: { find } });
  }

  /** `moved`: the kubeconfig was written before, with another address. */
  async #writeFiles(
    tracked: TrackedPod,
    pod: Pod,
    { paths, command }: { readonly paths: PodPaths; readonly command: PodCommand },
  ): Promise<Result<{ readonly moved: boolean }, string>> {
    const { address, requestToken, clock, logger } = this.#options;
    const created = createPodFolders(paths, command.volumes);
    if (!created.ok) return created;
    this.#known.add(pod.metadata.uid ?? "");
    const text = podKubeconfig(paths, await address, pod.metadata.namespace ?? "");
    const before = fromThrowing(() => readFileSync(paths.kubeconfig, "utf8"), describeThrown);
    const written = before.ok && before.value === text ? ok(undefined) : writePrivateFile(paths.kubeconfig, text);
    if (!written.ok) return written;
    tracked.renewal?.close();
    tracked.renewal = new TokenRenewal({ pod, paths, requestToken, clock, logger });
    const renewed = await tracked.renewal.renew();
    if (!renewed.ok || !tracked.wanted || this.#closed) this.#endTimers(tracked);
    return renewed.ok ? ok({ moved: before.ok && before.value !== text }) : renewed;
  }

  /** How many other Pods run, or are to run. */
  #countBefore(uid: string): number {
    return [...this.#tracked].filter(([other, { wanted, report, renewal }]) => other !== uid && wanted && (report ?? renewal) !== undefined)
      .length;
  }

  #logFolder(pod: Pod): string | undefined {
    const paths = podPaths(this.#options.folder, pod);
    return paths.ok ? paths.value.logs : undefined;
  }

  /** Whether the process of this start may still write its log. */
  #writes(uid: string, restarts: number | undefined): boolean {
    const report = this.#tracked.get(uid)?.report;
    return report !== undefined && report.restarts === restarts && (report.phase === "running" || report.phase === "stopping");
  }

  #endTimers(tracked: TrackedPod): void {
    tracked.cancelRetry?.();
    tracked.renewal?.close();
    delete tracked.cancelRetry;
    delete tracked.renewal;
  }

  #changed(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }
}

/** Its process runs, or waits for its next start. */
function isAlive({ report }: TrackedPod): boolean {
  return report !== undefined && report.phase !== "ended";
}

/**
 * Runs the moves of a cell's children beside the passes of the cluster controller, a few at a time. Nothing that counts is remembered here: a runner
 * that is started again learns from both sides where a move is.
 */
import { backoffDelay, describeThrown, fromPromise, type BackoffPolicy, type Clock, type Logger } from "#base";
import { pivotRequestId, type ChildPivots, type PivotProblem, type PivotView } from "#controllers";
import type { LatticeCluster } from "#crds";
import type { KubeClient } from "#kube-client";
import type { MoveReport } from "#pivot";
import { copyFromChild } from "./copy-cluster.ts";
import { isReleased, type PivotContext, type PivotLink, type PivotResult } from "./pivot-context.ts";
import { abortPivot, pivotToChild, takeBack } from "./pivot-steps.ts";
import { WorkSlots } from "./work-slots.ts";

export type PivotRunnerOptions = {
  /** Of this cell; fenced. */
  readonly client: KubeClient;
  /** Of a child, through tunnels; closed by the runner. */
  readonly childClient: (cluster: string) => KubeClient;
  readonly link: PivotLink;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Unique for this process. */
  readonly identity: string;
  /** Of the Lease of a move: how long a killed process blocks the next one. */
  readonly leaseMs: number;
  /** Between attempts; absent: RETRY. */
  readonly retry?: BackoffPolicy | undefined;
};

type Direction = PivotView["direction"];
type Job = {
  readonly direction: Direction;
  readonly stop: AbortController;
  cluster: LatticeCluster;
  view: PivotView;
  failures: number;
  /** The last attempt was for a cluster that keeps its objects. */
  released: boolean;
  /** Resolves when the attempt has ended. */
  running: Promise<void>;
};

const MOST_AT_ONCE = 8;
/** Most problems pass by themselves, such as an API server that starts again, and the cluster waits meanwhile. */
const RETRY: BackoffPolicy = { initialMs: 4_000, maxMs: 20_000, factor: 2 };
/** Counts of a step are reported at most so often. */
const NOTIFY_MS = 1_000;
/** Steps before anything was written: a problem of the attempt before stays visible during them. */
const BEFORE_PLAN: ReadonlySet<string> = new Set(["prepare", "copy-cluster", "wait", "write-intent"]);

const MOVES: Readonly<Record<Direction, (context: PivotContext) => PivotResult<MoveReport | undefined>>> = {
  "to-child": pivotToChild,
  "to-parent": takeBack,
  abort: abortPivot,
};

export class PivotRunner implements ChildPivots {
  readonly #options: PivotRunnerOptions;
  readonly #slots = new WorkSlots(MOST_AT_ONCE);
  readonly #jobs = new Map<string, Job>();
  readonly #mirrors = new Map<string, { running: boolean; failures: number; retryAt: number }>();
  readonly #listeners = new Set<(cluster: string) => void>();
  readonly #closing = new AbortController();

  constructor(options: PivotRunnerOptions) {
    this.#options = options;
  }

  view = (cluster: string): PivotView | undefined => this.#jobs.get(cluster)?.view;

  start = (cluster: LatticeCluster): void => this.#request(cluster, "to-child");

  abort = (cluster: LatticeCluster): void => this.#request(cluster, "abort");

  unpivot = (cluster: LatticeCluster): void => this.#request(cluster, "to-parent");

  subscribe = (listener: (cluster: string) => void): (() => void) => {
    const own = (cluster: string) => listener(cluster);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  };

  forget = (cluster: string): void => {
    this.#jobs.get(cluster)?.stop.abort();
    this.#jobs.delete(cluster);
    this.#mirrors.delete(cluster);
  };

  mirror = (cluster: string): void => void this.#mirror(cluster);

  /** Everything ends; what is unfinished is continued by the next runner. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#listeners.clear();
    await Promise.all([...this.#jobs.values()].map(({ running }) => running));
    await this.#slots.idle();
  }

  #request(cluster: LatticeCluster, direction: Direction): void {
    const { clock } = this.#options;
    const { name } = cluster.metadata;
    const before = this.#jobs.get(name);
    if (this.#closing.signal.aborted) return;
    if (before?.direction === direction) {
      const { state, retryAt = 0, request } = before.view;
      before.cluster = cluster;
      if (state === "queued" || state === "running") return;
      // what an earlier attempt has found is no answer to a later request
      const isAskedAgain =
        (direction === "abort" && pivotRequestId(cluster) !== request) ||
        (direction === "to-parent" && isReleased(cluster) !== before.released);
      if (!isAskedAgain && (state === "done" || clock.now() < retryAt)) return;
      before.view = { ...before.view, state: "queued" };
      before.running = this.#attempt(name, before, before.running);
      return;
    }
    before?.stop.abort();
    const now = clock.now();
    const view: PivotView = { direction, state: "queued", startedAt: now, progressAt: now };
    const job: Job = {
      direction,
      stop: new AbortController(),
      cluster,
      view,
      failures: 0,
      released: isReleased(cluster),
      running: Promise.resolve(),
    };
    this.#jobs.set(name, job);
    job.running = this.#attempt(name, job, before?.running);
  }

  async #attempt(name: string, job: Job, after: Promise<void> | undefined): Promise<void> {
    await after;
    const signal = AbortSignal.any([job.stop.signal, this.#closing.signal]);
    await this.#slots.run(signal, () => this.#run(name, job, signal));
  }

  async #run(name: string, job: Job, signal: AbortSignal): Promise<void> {
    const { logger } = this.#options;
    job.view = { ...job.view, state: "running", request: pivotRequestId(job.cluster) };
    job.released = isReleased(job.cluster);
    const child = this.#options.childClient(name);
    const context = { ...this.#options, cluster: job.cluster, child, signal, report: this.#reporter(name, job) };
    logger.info("move of Cluster API objects", { cluster: name, direction: job.direction });
    const ended = await fromPromise(MOVES[job.direction](context), describeThrown);
    await child.close();
    // stopped: nothing is known about the move, and the next runner asks
    if (signal.aborted) return;
    if (!ended.ok) {
      logger.error("a move failed with a bug", { cluster: name, error: ended.error });
      this.#failed(name, job, { kind: "failed", message: "a bug in Lattice's pivot; its log has more" });
    } else if (ended.value.ok) this.#succeeded(name, job, ended.value.value);
    else this.#failed(name, job, ended.value.error ?? { kind: "failed", message: "the move was stopped; it is continued" });
  }

  #reporter(name: string, job: Job): PivotContext["report"] {
    const { clock } = this.#options;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    return ({ step: code, done, total, note }) => {
      const step = note === undefined ? code : `${code}: ${note}`;
      const { problem, ...view } = job.view;
      const isNew = view.step !== step;
      const moved =
        code === "delete-source" ? {} : { ...(done === undefined ? {} : { moved: done }), ...(total === undefined ? {} : { total }) };
      const advanced = code !== "wait" && (isNew || done !== view.moved);
      const kept = problem !== undefined && BEFORE_PLAN.has(code) ? { problem } : {};
      job.view = { ...view, ...kept, ...moved, step, ...(advanced ? { progressAt: clock.now() } : {}) };
      if (!isNew && clock.monotonic() - notifiedAt < NOTIFY_MS) return;
      notifiedAt = clock.monotonic();
      this.#notify(name, job);
    };
  }

  #succeeded(name: string, job: Job, report: MoveReport | undefined): void {
    const { clock, logger } = this.#options;
    const { problem: _problem, retryAt: _retryAt, ...view } = job.view;
    const now = clock.now();
    const counts =
      report?.id === undefined ? {} : { moved: report.objects, total: report.objects, epoch: report.epoch, report: reportText(report) };
    job.view = { ...view, state: "done", step: "done", finishedAt: now, progressAt: now, ...counts };
    logger.info("move of Cluster API objects has ended", { cluster: name, direction: job.direction, objects: report?.objects ?? 0 });
    this.#notify(name, job);
  }

  #failed(name: string, job: Job, problem: PivotProblem): void {
    const { clock, logger } = this.#options;
    // an agent that returns is not waited for
    job.failures = problem.kind === "unreachable" ? 1 : job.failures + 1;
    const retryAt = clock.now() + this.#wait(job.failures);
    job.view = { ...job.view, state: "waiting", problem, retryAt };
    logger.warn("move of Cluster API objects", { cluster: name, direction: job.direction, problem: problem.kind, reason: problem.message });
    this.#notify(name, job);
  }

  #wait(failures: number): number {
    const { retry = RETRY, random } = this.#options;
    return backoffDelay(retry, failures, random);
  }

  #notify(name: string, job: Job): void {
    if (this.#jobs.get(name) !== job) return;
    for (const listener of this.#listeners) listener(name);
  }

  async #mirror(name: string): Promise<void> {
    const { clock, client, logger } = this.#options;
    const { signal } = this.#closing;
    const state = this.#mirrors.get(name) ?? { running: false, failures: 0, retryAt: 0 };
    if (signal.aborted || state.running || clock.now() < state.retryAt) return;
    this.#mirrors.set(name, state);
    state.running = true;
    await this.#slots.run(signal, async () => {
      const child = this.#options.childClient(name);
      const copied = await copyFromChild(name, { client, child, signal });
      await child.close();
      state.failures = copied.ok ? 0 : state.failures + 1;
      state.retryAt = copied.ok ? 0 : clock.now() + this.#wait(state.failures);
      if (!copied.ok) logger.warn("the spec of a child could not be copied", { cluster: name, reason: copied.error });
    });
    state.running = false;
  }
}

function reportText({ id = "", objects, digest, durations, totalMs, stillPaused }: MoveReport): string {
  const steps = Object.entries(durations).map(([step, ms]) => `${step} ${Math.round(ms)} ms`);
  const paused = stillPaused.length === 0 ? "" : `; still paused, as before: ${stillPaused.join(", ")}`;
  return `move ${id}: ${objects} objects in ${Math.round(totalMs)} ms (${steps.join(", ")}); digest ${digest.slice(0, 16)}${paused}`;
}

/**
 * Runs one controller for one term: changes become keys, workers take keys, and a key is processed by one worker at a time.
 *
 * Two ways to end: `stop` lets passes under way finish in bounded time; `cancel` (the lease is lost) aborts them at
 * once. A pass that ignores its signal is abandoned: its writes are fenced.
 */
import {
  describeThrown,
  fromPromise,
  LATENCY_BUCKETS,
  withJitter,
  type Clock,
  type Counter,
  type Histogram,
  type Logger,
  type Metrics,
  type Tracer,
} from "#base";
import { keyText, parseKey } from "#kube";
import type { KubeClient } from "#kube-client";
import { ApplyEngine } from "./apply/engine.ts";
import type { InformerSet } from "./cache.ts";
import type { EventNote } from "./events/event.ts";
import { failed, handlingOf, REQUEUE, type Handling } from "./outcome.ts";
import type { BoundController } from "./pass.ts";
import { WorkQueue } from "./queue/work-queue.ts";
import { Reconciler } from "./reconciler.ts";
import { safeText } from "./safe-text.ts";
import type { ManagerScope } from "./scope.ts";
import { aborted, linkSignals } from "./signals.ts";
import { subscribeTriggers } from "./triggers.ts";
import { within } from "./within.ts";

export type RunnerLimits = {
  /** Keys in work at once, per controller. */
  readonly concurrency: number;
  /** When a settled object is reconciled again. */
  readonly settledMs: number;
  /** Limit of one pass; its signal fires after that. */
  readonly passMs: number;
  /** Time for passes under way to finish on a stop, and then to react to their signal. */
  readonly drainMs: number;
  readonly cancelMs: number;
};

export const DEFAULT_LIMITS: RunnerLimits = {
  concurrency: 4,
  settledMs: REQUEUE.settledMs,
  passMs: 300_000,
  drainMs: 20_000,
  cancelMs: 5_000,
};

const TURN_MS = 20;

export type RunnerOptions = {
  readonly controller: BoundController;
  readonly informers: InformerSet;
  /** Fenced. */
  readonly client: KubeClient;
  readonly record: (note: EventNote) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly limits: RunnerLimits;
  /** Absent: the whole cluster. */
  readonly scope?: ManagerScope | undefined;
};

export class Runner {
  readonly #options: RunnerOptions;
  readonly #name: string;
  readonly #queue: WorkQueue;
  readonly #reconciler: Reconciler;
  readonly #passes: Counter;
  readonly #errors: Counter;
  readonly #seconds: Histogram;
  readonly #inWork = new Map<string, number>();
  #workers = 0;
  /** Of the present turn of the event loop, if a pass has begun in it. */
  #turnBegan: number | undefined;
  #state: "new" | "running" | "ending" = "new";

  constructor(options: RunnerOptions) {
    const { controller, informers, client, clock, random, metrics, record, limits } = options;
    this.#options = { ...options, logger: options.logger.with({ controller: controller.name }) };
    this.#name = controller.name;
    this.#queue = new WorkQueue({ name: controller.name, clock, random, metrics });
    this.#passes = metrics.counter("lattice_reconcile_total", "Passes, by how they ended");
    this.#errors = metrics.counter("lattice_reconcile_errors_total", "Passes that failed");
    this.#seconds = metrics.histogram("lattice_reconcile_seconds", "How long passes took", LATENCY_BUCKETS);
    const { reconciles: ownerResource, owns = [], access, order, force } = controller;
    const { scope } = options;
    const engine = new ApplyEngine({ client, cache: informers, ownerResource, resources: owns, access, order, force, scope });
    const { logger } = this.#options;
    this.#reconciler = new Reconciler({ controller, client, cache: informers, engine, record, clock, logger, settledMs: limits.settledMs });
  }

  /** Ends on either signal; resolves when the last worker has ended, or after the time limit. */
  async run(stop: AbortSignal, cancel: AbortSignal): Promise<void> {
    const { controller, informers, limits } = this.#options;
    const ending = linkSignals(stop, cancel);
    const inFlight = linkSignals(cancel);
    const unsubscribe = subscribeTriggers(controller, informers, (key) => this.#queue.add(keyText(key)));
    const workers = Promise.all(Array.from({ length: limits.concurrency }, () => this.#work(ending.signal, inFlight.signal)));
    this.#state = "running";
    await aborted(ending.signal);
    this.#state = "ending";
    unsubscribe();
    this.#queue.close();
    await this.#drain(workers, inFlight.abort, cancel);
    ending.release();
    inFlight.release();
  }

  /** Every worker runs, and none has processed one key for twice its time limit. */
  alive(): boolean {
    const { clock, limits } = this.#options;
    const tooLong = clock.monotonic() - 2 * limits.passMs;
    const complete = this.#state !== "running" || this.#workers === limits.concurrency;
    return complete && [...this.#inWork.values()].every((since) => since > tooLong);
  }

  async #drain(workers: Promise<unknown>, cancelPasses: () => void, cancel: AbortSignal): Promise<void> {
    const { clock, limits, logger } = this.#options;
    if (await within(clock, limits.drainMs, workers, cancel)) return;
    cancelPasses();
    if (await within(clock, limits.cancelMs, workers)) return;
    logger.error("passes did not end and are left behind", { keys: [...this.#inWork.keys()] });
  }

  async #work(ending: AbortSignal, inFlight: AbortSignal): Promise<void> {
    this.#workers += 1;
    for (let key = await this.#queue.take(ending); key !== undefined; key = await this.#queue.take(ending)) {
      this.#inWork.set(key, this.#options.clock.monotonic());
      this.#noteTurn();
      this.#requeue(key, await this.#guarded(key, inFlight));
      this.#inWork.delete(key);
      this.#queue.done(key);
      await this.#giveTurn();
    }
    this.#workers -= 1;
  }

  /**
   * Passes that find everything as it should be wait for no request: without a pause, workers would hold the event loop until the queue is empty. With
   * thousands of objects that takes seconds, in which no health check is answered.
   */
  async #giveTurn(): Promise<void> {
    if (this.#turnBegan === undefined || this.#options.clock.monotonic() - this.#turnBegan < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
  }

  #noteTurn(): void {
    if (this.#turnBegan !== undefined) return;
    this.#turnBegan = this.#options.clock.monotonic();
    setImmediate(() => (this.#turnBegan = undefined));
  }

  /** A reconciler does not throw; if it or the tracer does, this pass fails and the worker continues. */
  async #guarded(key: string, inFlight: AbortSignal): Promise<Handling | undefined> {
    const done = await fromPromise(this.#one(key, inFlight), describeThrown);
    if (done.ok) return done.value;
    this.#options.logger.error("runner met a bug", { key, error: safeText(done.error) });
    return handlingOf(failed({ kind: "internal", message: "a bug in the runner" }));
  }

  async #one(key: string, inFlight: AbortSignal): Promise<Handling | undefined> {
    const { clock, tracer, limits } = this.#options;
    const limit = linkSignals(inFlight);
    const cancelTimer = clock.after(limits.passMs, limit.abort);
    const startedAt = clock.monotonic();
    const handling = await tracer.span("reconcile", { controller: this.#name, key }, async (span) => {
      const result = await this.#reconciler.reconcile(parseKey(key), limit.signal);
      span.set({ result: result?.result ?? "gone" });
      if (result?.result === "failed" || result?.result === "bug") span.fail(result.ready?.message ?? result.result);
      return result;
    });
    cancelTimer();
    limit.release();
    this.#count(handling, clock.monotonic() - startedAt);
    return handling;
  }

  #count(handling: Handling | undefined, tookMs: number): void {
    const controller = this.#name;
    const result = handling?.result ?? "gone";
    this.#passes.add(1, { controller, result });
    this.#seconds.observe(tookMs / 1_000, { controller });
    this.#errors.add(result === "failed" || result === "bug" ? 1 : 0, { controller });
  }

  #requeue(key: string, handling: Handling | undefined): void {
    const requeue = handling?.requeue;
    if (requeue?.kind === "backoff") {
      if (requeue.atLeastMs > 0) this.#queue.addAfter(key, requeue.atLeastMs);
      else this.#queue.retry(key);
      return;
    }
    this.#queue.forget(key);
    if (requeue?.kind === "after") this.#queue.addAfter(key, requeue.ms);
    if (requeue?.kind === "spread") this.#queue.addAfter(key, withJitter(requeue.ms, this.#options.random));
  }
}

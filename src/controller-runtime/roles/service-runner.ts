/**
 * Runs one leader-only service: one instance at a time, started again with growing waits when it fails or ends early.
 *
 * An instance that ignores its signal is left behind after a time limit, so that the lease can be released. Until it has ended the service is not
 * started again, also in later terms, and this process is not live.
 */
import {
  andThen,
  backoffDelay,
  describeThrown,
  fromPromise,
  sleep,
  type BackoffPolicy,
  type Clock,
  type Gauge,
  type Logger,
  type Metrics,
  type Result,
} from "#base";
import { aborted, linkSignals, type LinkedSignal } from "../signals.ts";
import { safeText } from "../safe-text.ts";
import { within } from "../within.ts";
import type { BoundLeaderService, LeaderServiceContext, RunningLeaderService } from "./leader-service.ts";

export type ServiceRunnerOptions = {
  readonly service: BoundLeaderService;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Time for an instance to end after its signal. */
  readonly cancelMs: number;
};

/** What an instance needs of its term. */
export type ServiceTerm = Pick<LeaderServiceContext, "cache" | "client" | "record">;

const RETRY: BackoffPolicy = { initialMs: 500, maxMs: 30_000, factor: 2 };
const START_LIMIT_MS = 60_000;
/** An instance that ran this long works: its next failure is the first one. */
const STABLE_MS = 60_000;

type Phase = "stopped" | "starting" | "running" | "stopping" | "failed" | "left behind";

export class ServiceRunner {
  readonly #options: ServiceRunnerOptions;
  readonly #logger: Logger;
  readonly #up: Gauge;
  #phase: Phase = "stopped";
  #failures = 0;
  #cause: string | undefined;
  /** The instance that has not ended yet. */
  #instance: Promise<unknown> | undefined;

  constructor(options: ServiceRunnerOptions) {
    this.#options = options;
    this.#logger = options.logger.with({ service: options.service.name });
    this.#up = options.metrics.gauge("lattice_service_running", "1 while a service of the leader runs");
    this.#enter("stopped");
  }

  get name(): string {
    return this.#options.service.name;
  }

  /** False while an instance of an earlier start ignores its signal. */
  alive(): boolean {
    return this.#phase !== "left behind";
  }

  describe(): string {
    return this.#cause === undefined ? this.#phase : `${this.#phase}, ${this.#failures} failures: ${this.#cause}`;
  }

  /** Ends when the signal has fired and the instance has ended, or after the time limit. */
  async run(term: ServiceTerm, ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      if (!(await this.#previousEnded(ending))) break;
      await this.#runOnce(term, ending);
      if (this.#instance !== undefined) continue;
      if (ending.aborted) break;
      this.#enter("failed");
      await sleep(this.#options.clock, backoffDelay(RETRY, this.#failures, this.#options.random), ending);
    }
    if (this.#instance === undefined) this.#settle();
  }

  /** False when the signal fires first. */
  async #previousEnded(ending: AbortSignal): Promise<boolean> {
    const waiting = linkSignals(ending);
    await Promise.race([this.#instance, aborted(waiting.signal)]);
    waiting.release();
    return this.#instance === undefined && !ending.aborted;
  }

  async #runOnce(term: ServiceTerm, ending: AbortSignal): Promise<void> {
    const { clock, cancelMs } = this.#options;
    const until = linkSignals(ending);
    const instance = this.#one(term, until, ending);
    this.#instance = instance;
    await Promise.race([instance, aborted(until.signal)]);
    if (this.#instance !== undefined) this.#enter("stopping");
    if (!(await within(clock, cancelMs, instance))) {
      this.#enter("left behind");
      this.#logger.error("a service did not end and is left behind; it is not started again before it has ended");
    }
    until.release();
  }

  async #one(term: ServiceTerm, until: LinkedSignal, ending: AbortSignal): Promise<void> {
    const cause = await this.#live(term, until);
    this.#instance = undefined;
    if (!ending.aborted) this.#failed(cause);
    else if (this.#phase === "left behind") this.#settle();
  }

  /** One instance, from its start to its end. Returns why it ended; never fails. */
  async #live(term: ServiceTerm, until: LinkedSignal): Promise<string> {
    const { service, clock } = this.#options;
    const context = { ...term, clock, logger: this.#logger, signal: until.signal };
    this.#enter("starting");
    const cancelLimit = clock.after(START_LIMIT_MS, until.abort);
    const started = await fromPromise(
      attempt(() => service.start(context)),
      describeThrown,
    );
    cancelLimit();
    const late = until.signal.aborted ? [`it did not start within ${START_LIMIT_MS / 1_000} s`] : [];
    const end = started.ok && started.value.ok ? await this.#hold(started.value.value, until) : started.ok ? started.value : started;
    until.abort();
    return [...late, ...(end.ok ? [] : [end.error])].join(": ") || "it ended by itself";
  }

  /** From a successful start to the end; the error is the reason of an early end. */
  async #hold(running: RunningLeaderService, until: LinkedSignal): Promise<Result<unknown, string>> {
    const cancelStable = this.#began(until.signal);
    const ended = fromPromise(running.ended, describeThrown);
    await Promise.race([ended, aborted(until.signal)]);
    cancelStable();
    until.abort();
    const closed = await fromPromise(
      attempt(() => running.close()),
      describeThrown,
    );
    const end = await ended;
    return andThen(end, (result) => andThen(result, () => closed));
  }

  /** Returns the end of the timer after which earlier failures no longer count. */
  #began(signal: AbortSignal): () => void {
    if (signal.aborted) return () => {};
    this.#enter("running");
    this.#logger[this.#failures === 0 ? "info" : "debug"]("service runs");
    return this.#options.clock.after(STABLE_MS, () => {
      if (this.#failures > 0) this.#logger.info("service runs again");
      this.#forget();
    });
  }

  /** Logged once per cause: a cause that stays is no news. */
  #failed(cause: string): void {
    const text = safeText(cause);
    this.#failures += 1;
    this.#logger[text === this.#cause ? "debug" : "warn"]("service failed and is started again", { error: text });
    this.#cause = text;
  }

  #forget(): void {
    this.#failures = 0;
    this.#cause = undefined;
  }

  #settle(): void {
    this.#forget();
    this.#enter("stopped");
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#up.set(phase === "running" ? 1 : 0, { service: this.name });
  }
}

/** Turns a synchronous exception into a rejection. */
async function attempt<T>(run: () => Promise<T>): Promise<T> {
  return run();
}

/**
 * Workers on a queue: take a key, run a pass, and requeue by its result.
 *
 * A conflict means that the cache was stale; the key is retried at once, a few times, before it is delayed like any
 * other failure. This resolves most conflicts, also in a test with a clock that does not advance.
 */
import { describeThrown, fromPromise, type BackoffPolicy, type Result } from "#base";
import { safeText, WorkQueue, type WorkQueueOptions } from "#controller-runtime";
import type { KubeError } from "#kube-client";
import type { Logger } from "#base";

export type Pass =
  | { readonly kind: "done" }
  /** Run again after this time, whether or not something changes. */
  | { readonly kind: "again"; readonly afterMs: number }
  | { readonly kind: "conflict" }
  /** Not yet: like a failure, but without a log line. */
  | { readonly kind: "retry" }
  /** Retried after a growing delay. */
  | { readonly kind: "failed"; readonly error: string };

export const done: Pass = { kind: "done" };
export const retry: Pass = { kind: "retry" };
export const again = (afterMs: number): Pass => ({ kind: "again", afterMs });
export const failed = (error: string): Pass => ({ kind: "failed", error });

/** The pass result for a response of the API server. */
export function passOf(answer: Result<unknown, KubeError>): Pass {
  if (answer.ok) return done;
  return answer.error.kind === "conflict" ? { kind: "conflict" } : failed(answer.error.message);
}

/** The first that is not `done`, for passes that do several things. */
export function worstPass(passes: readonly Pass[]): Pass {
  const rank: Readonly<Record<Pass["kind"], number>> = { done: 0, again: 1, conflict: 2, retry: 3, failed: 4 };
  return passes.reduce((worst, pass) => (rank[pass.kind] > rank[worst.kind] ? pass : worst), done);
}

export type WorkOptions = {
  /** For metrics and logs; unique. */
  readonly name: string;
  readonly pass: (key: string, signal: AbortSignal) => Promise<Pass>;
  /** Keys in work at once; 5, as most controllers of kube-controller-manager. */
  readonly concurrency?: number;
  readonly backoff?: BackoffPolicy;
};

/** client-go's default: from 5 ms on, at most a thousand seconds. */
const WORK_BACKOFF: BackoffPolicy = { initialMs: 5, maxMs: 1_000_000, factor: 2 };
const CONCURRENCY = 5;
const CONFLICTS_AT_ONCE = 5;

type WorkersOptions = Pick<WorkQueueOptions, "clock" | "random" | "metrics"> & {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called whenever a pass has ended. */
  readonly onPass: () => void;
};

export class Workers {
  readonly queue: WorkQueue;
  readonly #work: WorkOptions;
  readonly #options: WorkersOptions;
  readonly #logger: Logger;
  readonly #conflicts = new Map<string, number>();
  /** By key: the error of its last pass. */
  readonly #errors = new Map<string, string>();

  constructor(work: WorkOptions, options: WorkersOptions) {
    this.#work = work;
    this.#options = options;
    this.#logger = options.logger.with({ queue: work.name });
    const { clock, random, metrics } = options;
    this.queue = new WorkQueue({ name: work.name, clock, random, metrics, backoff: work.backoff ?? WORK_BACKOFF });
  }

  /** Something is due or in work. Keys with a later due time do not count. */
  get busy(): boolean {
    return this.queue.inWork > 0 || this.queue.depth > 0;
  }

  /** Ends when the signal fires and the last pass has ended. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const lanes = Array.from({ length: this.#work.concurrency ?? CONCURRENCY }, () => this.#lane(signal));
    await Promise.all(lanes);
    this.queue.close();
  }

  async #lane(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(signal); key !== undefined; key = await this.queue.take(signal)) {
      this.#after(key, await this.#one(key, signal));
      this.queue.done(key);
      this.#options.onPass();
    }
  }

  /** An exception is a bug in the controller: the pass fails, the worker continues. */
  async #one(key: string, signal: AbortSignal): Promise<Pass> {
    // async, so that exceptions before the first await are caught as well
    const guarded = async () => this.#work.pass(key, signal);
    const pass = await fromPromise(guarded(), describeThrown);
    if (pass.ok) return pass.value;
    this.#logger.error("controller met a bug", { key, error: safeText(pass.error) });
    return failed("a bug in the controller");
  }

  #after(key: string, pass: Pass): void {
    const conflicts = pass.kind === "conflict" ? (this.#conflicts.get(key) ?? 0) + 1 : 0;
    if (conflicts === 0) this.#conflicts.delete(key);
    else this.#conflicts.set(key, conflicts);
    if (pass.kind === "failed") {
      this.#logFailure(key, pass.error, Math.round(this.queue.retry(key)));
    } else if (pass.kind === "conflict" && conflicts <= CONFLICTS_AT_ONCE) {
      this.queue.add(key);
    } else if (pass.kind === "conflict" || pass.kind === "retry") {
      this.queue.retry(key);
    } else {
      this.queue.forget(key);
      this.#errors.delete(key);
      if (pass.kind === "again") this.queue.addAfter(key, pass.afterMs);
    }
  }

  /** A warning once: a workload that exceeds a quota or a limit fails in the same way with every change of its Pods. */
  #logFailure(key: string, error: string, waitMs: number): void {
    if (this.#options.signal.aborted) return;
    const isKnown = this.#errors.get(key) === error;
    this.#errors.set(key, error);
    this.#logger[isKnown ? "debug" : "warn"]("pass failed", { key, error: safeText(error), waitMs });
  }
}

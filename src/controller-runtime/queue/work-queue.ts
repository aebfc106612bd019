/**
 * Keys to work on: each at most once in the queue and at most once in work, first in first out.
 *
 * A key has one due time, and the earliest wins: `add` means now and therefore drops a later `addAfter`. A reconcile
 * returns its own requeue time, so nothing is lost. One timer serves all delays and the rate limit.
 */
import { backoffDelay, type BackoffPolicy, type Clock, type Metrics } from "#base";
import { DueTimes } from "./due-times.ts";
import { QueueMetrics } from "./queue-metrics.ts";
import { TokenBucket, type Rate } from "./token-bucket.ts";

/** Failed requests are retried after 5 seconds at first. */
const RETRY_BACKOFF: BackoffPolicy = { initialMs: 5_000, maxMs: 300_000, factor: 2 };

export type WorkQueueOptions = {
  readonly name: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly backoff?: BackoffPolicy | undefined;
  /** How fast keys are returned; absent: without limit. */
  readonly rate?: Rate | undefined;
};

/** The limit of setTimeout; a later time is reached in several steps. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Taker = (key: string | undefined) => void;

export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: BackoffPolicy;
  readonly #bucket: TokenBucket | undefined;
  readonly #metrics: QueueMetrics;
  /** Due and not in work, or due again while in work; with the time it became due. */
  readonly #due = new Map<string, number>();
  /** In work, with the time it was taken. */
  readonly #working = new Map<string, number>();
  readonly #later = new DueTimes();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<Taker>();
  /** Keys that can be returned, in order; `#head` moves instead of the items. */
  #ready: string[] = [];
  #head = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backoff = options.backoff ?? RETRY_BACKOFF;
    this.#bucket = options.rate === undefined ? undefined : new TokenBucket(options.rate, options.clock.monotonic());
    this.#metrics = new QueueMetrics(options.metrics, options.name);
  }

  /** Keys that are due and wait for a taker, for the rate, or for their own `done`. */
  get depth(): number {
    return this.#due.size;
  }

  /** Keys that were taken and are not `done`. */
  get inWork(): number {
    return this.#working.size;
  }

  add(key: string): void {
    if (this.#closed || this.#due.has(key)) return;
    this.#later.remove(key);
    this.#becomeDue(key);
    this.#serve();
  }

  /** Adds after `ms`, unless the key is due sooner anyway. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) return this.add(key);
    if (this.#closed || this.#due.has(key)) return;
    if (this.#later.add(key, this.#clock.monotonic() + ms)) this.#arm();
  }

  /** Adds after a delay that grows with every retry since the last `forget`; returns the delay in milliseconds. */
  retry(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    const delay = backoffDelay(this.#backoff, failures, this.#random);
    if (this.#closed) return delay;
    this.#failures.set(key, failures);
    this.#metrics.retried();
    this.addAfter(key, delay);
    return delay;
  }

  /** Resets the back-off of the key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, in work until `done`; undefined when the signal fires or the queue is closed. */
  take(signal: AbortSignal): Promise<string | undefined> {
    if (this.#closed || signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const finish: Taker = (key) => {
        this.#takers.delete(finish);
        signal.removeEventListener("abort", giveUp);
        resolve(key);
      };
      const giveUp = () => finish(undefined);
      this.#takers.add(finish);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#serve();
    });
  }

  done(key: string): void {
    const takenAt = this.#working.get(key);
    if (takenAt === undefined) throw new Error(`${key} is not in work`);
    this.#working.delete(key);
    this.#metrics.done(this.#clock.monotonic() - takenAt);
    if (!this.#due.has(key)) return;
    this.#ready.push(key);
    this.#serve();
  }

  /** Drops all waiting keys and ends the takers. Keys in work may still be `done`. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due.clear();
    this.#later.clear();
    this.#failures.clear();
    this.#ready = [];
    this.#head = 0;
    this.#metrics.emptied();
    for (const finish of this.#takers) finish(undefined);
  }

  #becomeDue(key: string): void {
    this.#due.set(key, this.#clock.monotonic());
    if (!this.#working.has(key)) this.#ready.push(key);
    this.#metrics.added(this.#due.size);
  }

  /** Returns the keys that can be returned, then sets the timer for the others. */
  #serve(): void {
    const now = this.#clock.monotonic();
    for (const taker of this.#takers) {
      const key = this.#ready[this.#head];
      if (key === undefined || (this.#bucket?.waitMs(now) ?? 0) > 0) break;
      this.#bucket?.take(now);
      this.#shift();
      this.#metrics.taken(this.#due.size - 1, now - (this.#due.get(key) ?? now));
      this.#due.delete(key);
      this.#working.set(key, now);
      taker(key);
    }
    this.#arm();
  }

  #shift(): void {
    this.#head += 1;
    if (this.#head < 1_024 || this.#head * 2 < this.#ready.length) return;
    this.#ready = this.#ready.slice(this.#head);
    this.#head = 0;
  }

  /** One timer, for the next event: a key that falls due, or a token for a key that is due. */
  #arm(): void {
    const at = this.#nextTime();
    if (at === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    // rounded up to whole milliseconds: a timer that fires slightly early would be set again and again
    const waitMs = Math.max(0, Math.min(Math.ceil(at - this.#clock.monotonic()), MAX_TIMER_MS));
    const cancel = this.#clock.after(waitMs, () => this.#onTimer());
    this.#timer = { at, cancel };
  }

  #nextTime(): number | undefined {
    const due = this.#later.next();
    const starved = this.#takers.size > 0 && this.#head < this.#ready.length;
    const wait = starved ? this.#bucket?.waitMs(this.#clock.monotonic()) : undefined;
    if (wait === undefined) return due;
    return Math.min(this.#clock.monotonic() + wait, due ?? Infinity);
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let key = this.#later.take(now); key !== undefined; key = this.#later.take(now)) this.#becomeDue(key);
    this.#serve();
  }
}

/** A clock that only a test advances. `advance` fires the timers that become due, in order, and lets promises settle between them. */
import type { Clock } from "./clock.ts";

type Timer = { readonly due: number; readonly order: number; readonly callback: () => void };

/**
 * A clock whose time changes only in `advance`.
 *
 * @example
 * const clock = new FakeClock(Date.UTC(2026, 0, 1));
 * await clock.advance(60_000); // timers of the next minute fire, in order
 */
export class FakeClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
    this.#start = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  after(ms: number, callback: () => void): () => void {
    // whole milliseconds, like real timers: a number as large as a date rounds fractions, and the timer would fire too early
    const timer = { due: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of pending timers: above 0 at the end of a test means a leak. */
  get pending(): number {
    return this.#timers.size;
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let timer = this.#next(until); timer !== undefined; timer = this.#next(until)) {
      this.#now = Math.max(this.#now, timer.due);
      this.#timers.delete(timer);
      timer.callback();
      await settle();
    }
    this.#now = until;
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > until) continue;
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) first = timer;
    }
    return first;
  }
}

/** Runs all pending promise callbacks: a macrotask runs after all of them. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Shares the turns of the event loop among callers in this process and among requests.
 *
 * Calls in this process complete without waiting: a caller that polls, or that sends five hundred creates at once, would block all timers and
 * sockets. A limited number of calls per turn pass at once; the others are queued and released in order, the same number per turn.
 */
import type { Clock } from "#base";

const CALLS_PER_TURN = 50;

export class Turns {
  #calls = 0;
  readonly #waiting: (() => void)[] = [];

  /** To be awaited before a call; mostly undefined: no wait. */
  next(): Promise<void> | undefined {
    if (this.#calls === 0) setImmediate(() => this.#begin());
    this.#calls += 1;
    return this.#calls <= CALLS_PER_TURN ? undefined : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A new turn. While calls still wait, new callers queue behind them. */
  #begin(): void {
    const released = this.#waiting.splice(0, CALLS_PER_TURN);
    this.#calls = this.#waiting.length > 0 ? CALLS_PER_TURN : released.length;
    if (this.#calls > 0) setImmediate(() => this.#begin());
    for (const release of released) release();
  }
}

/** How long requests may work in one turn of the event loop. */
const TURN_MS = 25;

/**
 * Limits the length of a turn of the event loop: long work, or many requests that arrive at once, calls `pause` before each piece.
 */
export class TurnBudget {
  readonly #clock: Clock;
  #end = 0;
  #isOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be awaited before the next piece; mostly undefined: no wait. */
  pause(): Promise<void> | undefined {
    return this.#isOver() ? this.#wait() : undefined;
  }

  async #wait(): Promise<void> {
    do await nextTurn();
    while (this.#isOver());
  }

  /** The first call in a turn starts its time. */
  #isOver(): boolean {
    const now = this.#clock.monotonic();
    if (this.#isOpen) return now >= this.#end;
    this.#isOpen = true;
    this.#end = now + TURN_MS;
    setImmediate(() => (this.#isOpen = false));
    return false;
  }
}

/**
 * Ends this turn of the event loop: timers, sockets and other requests run first.
 *
 * Two immediates: one scheduled while a socket is read runs right after the sockets, before any timer.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/**
 * Shares the turns of the event loop among callers in this process and among requests.
 *
 * Calls in this process never wait for anything: a caller that polls, or one that sends five hundred creates at once, would keep every timer
 * and every socket waiting until the last one is answered. A few calls in one turn pass at once; the others are released in order, as
 * many per turn.
 */
import type { Clock } from "#base";

const CALLS_PER_TURN = 50;

export class Turns {
  #calls = 0;
  readonly #waiting: (() => void)[] = [];

  /** To be waited for before a call; undefined, as it mostly is: go on. */
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
 * Shares the turns of the event loop: work that comes in many pieces, or many requests that arrive at once, asks before each piece whether
 * this turn has lasted long enough.
 */
export class TurnBudget {
  readonly #clock: Clock;
  #end = 0;
  #isOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be waited for before the next piece; undefined, as it mostly is: go on. */
  pause(): Promise<void> | undefined {
    return this.#isOver() ? this.#wait() : undefined;
  }

  async #wait(): Promise<void> {
    do await nextTurn();
    while (this.#isOver());
  }

  /** The first question of a turn begins it. */
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
 * Ends this turn of the event loop: timers, sockets and other requests go first.
 *
 * Two immediates: the first one that is asked for while a socket is read runs right after the sockets, before any timer.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

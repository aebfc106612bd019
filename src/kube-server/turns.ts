/**
 * Lets the event loop have its turn when somebody calls a server in this process without end.
 *
 * No such call ever waits for anything: a loop that polls, or two controllers that undo each other's changes, would keep every timer and every
 * socket from their turn for ever. On a network nobody can do that. A few calls in one turn cost nothing and stay in order.
 */
import type { Clock } from "#base";

const CALLS_PER_TURN = 250;

export class Turns {
  #calls = 0;

  /** To be waited for before a call; undefined, as it mostly is: go on. */
  next(): Promise<void> | undefined {
    if (this.#calls === 0) setImmediate(() => (this.#calls = 0));
    this.#calls += 1;
    return this.#calls <= CALLS_PER_TURN ? undefined : nextTurn();
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

/** Ends this turn of the event loop: timers, sockets and other requests go first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

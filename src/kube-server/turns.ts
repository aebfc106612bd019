/**
 * Lets the event loop have its turn when somebody calls a server in this process without end.
 *
 * No such call ever waits for anything: a loop that polls, or two controllers that undo each other's changes, would keep every timer and every
 * socket from their turn for ever. On a network nobody can do that. A few calls in one turn cost nothing and stay in order.
 */
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

/** Ends this turn of the event loop: timers, sockets and other requests go first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

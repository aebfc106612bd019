/**
 * Work for thousands of connections in small parts, one in each turn of the event loop: a handshake takes milliseconds of processor time, and while a cell
 * starts or closes thousands of them, its health check, its lease and its connected agents need their turns too.
 */
import type { Clock } from "#base";

type NextTurn = (run: () => void) => void;

const nextTurn: NextTurn = (run) => void setImmediate(run);

/** Starts items in the order of their arrival, so many in each turn; the first ones at once. */
export class PacedStarts<T> {
  readonly #start: (item: T) => void;
  readonly #perTurn: number;
  readonly #nextTurn: NextTurn;
  #waiting: T[] = [];
  #left: number;

  constructor(start: (item: T) => void, perTurn: number, next: NextTurn = nextTurn) {
    this.#start = start;
    this.#perTurn = perTurn;
    this.#nextTurn = next;
    this.#left = perTurn;
  }

  add(item: T): void {
    if (this.#left === this.#perTurn) this.#nextTurn(() => this.#turn());
    if (this.#left === 0) return void this.#waiting.push(item);
    this.#left -= 1;
    this.#start(item);
  }

  #turn(): void {
    const [now, later] = [this.#waiting.slice(0, this.#perTurn), this.#waiting.slice(this.#perTurn)];
    this.#waiting = later;
    this.#left = this.#perTurn;
    for (const item of now) this.add(item);
  }
}

export type TurnBudget = { readonly clock: Pick<Clock, "monotonic">; readonly ms: number };

/** All items, for so many milliseconds in each turn. Items that are added meanwhile are included if the collection has them then. */
export async function eachInTurns<T>(items: Iterable<T>, { clock, ms }: TurnBudget, run: (item: T) => void): Promise<void> {
  let end = clock.monotonic() + ms;
  for (const item of items) {
    if (clock.monotonic() >= end) {
      await new Promise<void>(nextTurn);
      end = clock.monotonic() + ms;
    }
    run(item);
  }
}

/**
 * Work for thousands of connections in small parts, one in each turn of the event loop: a handshake takes milliseconds of processor time, and while a cell
 * starts or closes thousands of them, its health check, its lease and its connected agents need their turns too.
 */
import type { Clock } from "#base";

type NextTurn = (run: () => void) => void;

const nextTurn: NextTurn = (run) => void setImmediate(run);

export type HandshakePace = {
  /** Started in one turn. */
  readonly perTurn: number;
  /** Started and not ended, of those that are younger than `freshMs`. Older ones wait for their client, and keep no other from its start. */
  readonly fresh: number;
  readonly freshMs: number;
};

/**
 * Starts handshakes in the order of their arrival. Few at a time: when all are started at once, none is complete before the time limit of the first, and the
 * work for all of them was in vain.
 */
export class PacedHandshakes<T> {
  readonly #start: (item: T) => void;
  readonly #pace: HandshakePace;
  readonly #clock: Pick<Clock, "after">;
  readonly #nextTurn: NextTurn;
  readonly #waiting = new Set<T>();
  /** Each with the end of its timer. */
  readonly #fresh = new Map<T, () => void>();
  #left: number;

  constructor(start: (item: T) => void, pace: HandshakePace, clock: Pick<Clock, "after">, next: NextTurn = nextTurn) {
    this.#start = start;
    this.#pace = pace;
    this.#clock = clock;
    this.#nextTurn = next;
    this.#left = pace.perTurn;
  }

  add(item: T): void {
    this.#waiting.add(item);
    this.#run();
  }

  /** It is complete, or its connection is closed. */
  ended(item: T): void {
    this.#waiting.delete(item);
    this.#fresh.get(item)?.();
    if (this.#fresh.delete(item)) this.#run();
  }

  #run(): void {
    const { perTurn, fresh, freshMs } = this.#pace;
    for (const item of this.#waiting) {
      if (this.#left === 0 || this.#fresh.size >= fresh) return;
      if (this.#left === perTurn) this.#nextTurn(() => this.#turn());
      this.#left -= 1;
      this.#waiting.delete(item);
      this.#fresh.set(
        item,
        this.#clock.after(freshMs, () => this.ended(item)),
      );
      this.#start(item);
    }
  }

  #turn(): void {
    this.#left = this.#pace.perTurn;
    this.#run();
  }
}

type PartOfTurn = { readonly clock: Pick<Clock, "monotonic">; readonly ms: number };

/** All items, for so many milliseconds in each turn. Items that are added meanwhile are included if the collection has them then. */
export async function eachInTurns<T>(items: Iterable<T>, { clock, ms }: PartOfTurn, run: (item: T) => void): Promise<void> {
  let end = clock.monotonic() + ms;
  for (const item of items) {
    if (clock.monotonic() >= end) {
      await new Promise<void>(nextTurn);
      end = clock.monotonic() + ms;
    }
    run(item);
  }
}

/** Resolves when the work has ended, or after the time, while the work continues. */
export async function atMost(clock: Pick<Clock, "after">, ms: number, work: Promise<void>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}

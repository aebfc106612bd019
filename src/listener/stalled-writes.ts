/**
 * Cuts off who asked for something and does not read it: the answer would wait in memory for ever, and so would all events of a watch.
 *
 * Everybody is looked at now and then, instead of a timer for each answer: nearly all of them are gone at once. What counts is whether less is
 * waiting than at the last look; an answer of one piece counts as waiting until it has gone completely.
 */
import type { Clock } from "#base";
import type { Limits } from "./limits.ts";

/** A socket, or a stream of HTTP/2. */
export type Writer = { readonly writableLength: number; once(event: "close", listener: () => void): unknown };

type Watched = { readonly cut: () => void; waiting: number; lookedInVain: number };

export class StalledWrites {
  readonly #writers = new Map<Writer, Watched>();
  readonly #limits: Pick<Limits, "lookMs" | "stallMs">;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;

  constructor(limits: Pick<Limits, "lookMs" | "stallMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  add(writer: Writer, cut: () => void): void {
    this.#writers.set(writer, { cut, waiting: 0, lookedInVain: 0 });
    writer.once("close", () => this.#writers.delete(writer));
    this.#cancel ??= this.#clock.after(this.#limits.lookMs, () => this.#look());
  }

  close(): void {
    this.#cancel?.();
    this.#writers.clear();
  }

  #look(): void {
    const patience = Math.ceil(this.#limits.stallMs / this.#limits.lookMs);
    for (const [writer, watched] of this.#writers) {
      const waiting = writer.writableLength;
      const stands = waiting > 0 && waiting >= watched.waiting && watched.waiting > 0;
      watched.lookedInVain = stands ? watched.lookedInVain + 1 : 0;
      watched.waiting = waiting;
      if (watched.lookedInVain >= patience) watched.cut();
    }
    this.#cancel = this.#writers.size === 0 ? undefined : this.#clock.after(this.#limits.lookMs, () => this.#look());
  }
}

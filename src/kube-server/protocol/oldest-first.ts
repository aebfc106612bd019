/**
 * Finds the reader whose oldest undelivered event is the oldest of all.
 *
 * Readers are sorted only when one has to be found, and the order is used until it is exhausted. That is exact, because orders only grow: a
 * reader that had nothing waiting when the readers were sorted has only newer events.
 */
export interface OrderedReader {
  /** The order of its oldest undelivered event; undefined: it has none. */
  readonly oldest: number | undefined;
}

type Ranked<T> = { readonly reader: T; readonly order: number };

export class OldestFirst<T extends OrderedReader> {
  readonly #readers = new Set<T>();
  /** The oldest is the last. */
  #ranked: Ranked<T>[] = [];
  /** The newest order there was when they were sorted. */
  #newest = 0;

  add(reader: T): void {
    this.#readers.add(reader);
  }

  remove(reader: T): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#ranked = [];
  }

  /** Undefined: no reader has undelivered events. */
  first(): T | undefined {
    for (let sorted = false; ; sorted = true) {
      for (let last = this.#ranked.pop(); last !== undefined; last = this.#ranked.pop()) {
        const { oldest } = last.reader;
        if (oldest === undefined || !this.#readers.has(last.reader)) continue;
        if (oldest === last.order) return last.reader;
        if (oldest <= this.#newest) this.#insert({ reader: last.reader, order: oldest });
      }
      if (sorted) return undefined;
      this.#sort();
    }
  }

  #sort(): void {
    for (const reader of this.#readers) if (reader.oldest !== undefined) this.#ranked.push({ reader, order: reader.oldest });
    this.#ranked.sort((a, b) => b.order - a.order);
    this.#newest = this.#ranked[0]?.order ?? 0;
  }

  /** The reader has received some of the events that waited when the readers were sorted. */
  #insert(entry: Ranked<T>): void {
    let [low, high] = [0, this.#ranked.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranked[middle]?.order ?? 0) > entry.order) low = middle + 1;
      else high = middle;
    }
    this.#ranked.splice(low, 0, entry);
  }
}

/** Entries in the order of their revisions: added at the end, dropped at the front, found by binary search. */
type HasRevision = { readonly event: { readonly revision: number } };

/** Dropped entries leave a gap at the front of the array; closing it seldom keeps dropping cheap. */
const GAP = 1_024;

export class EventQueue<T extends HasRevision> {
  #entries: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  get first(): T | undefined {
    return this.#entries[this.#head];
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  dropFirst(): void {
    if (this.size === 0) return;
    this.#entries[this.#head] = undefined; // otherwise the gap would keep objects alive
    this.#head += 1;
    if (this.#head < GAP || this.#head < this.#entries.length / 2) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }

  after(revision: number): readonly T[] {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.event.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#entries.slice(low).filter((entry) => entry !== undefined);
  }
}

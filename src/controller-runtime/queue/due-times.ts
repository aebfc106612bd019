/**
 * Keys that fall due later: a binary heap, and one due time per key. The earliest wins.
 *
 * Removing a key leaves its heap entry, which is skipped later: that makes `remove` O(1). When most entries are
 * such leftovers, the heap is rebuilt, so memory follows the number of keys.
 */
type Entry = { readonly key: string; readonly due: number; readonly order: number };

export class DueTimes {
  readonly #current = new Map<string, Entry>();
  #heap: Entry[] = [];
  #order = 0;

  get size(): number {
    return this.#current.size;
  }

  /** False when the key is already due earlier. */
  add(key: string, due: number): boolean {
    const known = this.#current.get(key);
    if (known !== undefined && known.due <= due) return false;
    const entry = { key, due, order: this.#order++ };
    this.#current.set(key, entry);
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    this.#sweep();
    return true;
  }

  remove(key: string): void {
    this.#current.delete(key);
    this.#sweep();
  }

  clear(): void {
    this.#current.clear();
    this.#heap = [];
  }

  /** When the next key falls due. */
  next(): number | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#current.get(top.key) === top) return top.due;
      this.#pop();
    }
    return undefined;
  }

  /** Removes and returns the next key that is due at `now`; in order of time, then of adding. */
  take(now: number): string | undefined {
    const due = this.next();
    const top = this.#heap[0];
    if (due === undefined || top === undefined || due > now) return undefined;
    this.#pop();
    this.#current.delete(top.key);
    return top.key;
  }

  #sweep(): void {
    if (this.#heap.length <= 2 * this.#current.size + 64) return;
    this.#heap = [...this.#current.values()].toSorted((a, b) => (before(a, b) ? -1 : 1)); // a sorted array is a heap
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    return first !== undefined && second !== undefined && before(first, second);
  }

  #swapIfBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined || !before(first, second)) return false;
    this.#heap[a] = second;
    this.#heap[b] = first;
    return true;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

/**
 * Objects sorted by key, in a list of short sorted arrays (chunks).
 *
 * A single sorted array would move half of its items on every insert, and a tree needs a pointer access per level. With chunks of at most 256
 * an insert is two binary searches and one small move, and a list copies parts of arrays. Counting a range adds the lengths of its chunks: at
 * 100,000 objects a few hundred additions.
 *
 * Keys compare as JavaScript strings. That is etcd's order for everything but characters outside the basic plane.
 */
import type { Stored, StoreKey } from "./port.ts";

/** The slot of an object. Shared by all indexes, so that an update without a changed key changes no index. */
export type IndexSlot = { stored: Stored };

/** From `from` (inclusive) up to `to` (exclusive; undefined: the end). */
export type KeyRange = { readonly from: StoreKey; readonly to: StoreKey | undefined };

type Position = { readonly chunk: number; readonly at: number };

/** Keys are in an array of their own, so that a search does not access the objects. */
type Chunk = { readonly keys: StoreKey[]; readonly slots: IndexSlot[] };

const CHUNK = 256;

export class SortedIndex {
  readonly #chunks: Chunk[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key must be new. */
  insert(slot: IndexSlot): void {
    this.#size += 1;
    const { key } = slot.stored;
    const found = this.#lowerBound(key);
    const { chunk: number, at } = found.chunk < this.#chunks.length ? found : this.#end();
    const chunk = this.#chunks[number];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], slots: [slot] });
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.slots.splice(at, 0, slot);
    if (chunk.keys.length > CHUNK) this.#split(number, at);
  }

  remove(key: StoreKey): void {
    const { chunk: number, at } = this.#lowerBound(key);
    const chunk = this.#chunks[number];
    if (chunk?.keys[at] !== key) return;
    chunk.keys.splice(at, 1);
    chunk.slots.splice(at, 1);
    this.#size -= 1;
    this.#joinWithNext(number);
  }

  count(range: KeyRange): number {
    if (range.to !== undefined && range.to <= range.from) return 0;
    const start = this.#lowerBound(range.from);
    const end = range.to === undefined ? { chunk: this.#chunks.length, at: 0 } : this.#lowerBound(range.to);
    let sum = end.at - start.at;
    for (let number = start.chunk; number < end.chunk; number += 1) sum += this.#chunks[number]?.keys.length ?? 0;
    return sum;
  }

  *slots(range: KeyRange): Generator<IndexSlot> {
    let { chunk: number, at } = this.#lowerBound(range.from);
    for (let left = this.count(range); left > 0; number += 1, at = 0) {
      const slots = this.#chunks[number]?.slots.slice(at, at + left) ?? [];
      left -= slots.length;
      yield* slots;
    }
  }

  /** At most `limit` from the start of the range. */
  take(range: KeyRange, limit: number): Stored[] {
    const taken: Stored[] = [];
    let { chunk: number, at } = this.#lowerBound(range.from);
    for (let left = Math.min(this.count(range), limit); left > 0; number += 1, at = 0) {
      const slots = this.#chunks[number]?.slots.slice(at, at + left) ?? [];
      left -= slots.length;
      for (const { stored } of slots) taken.push(stored);
    }
    return taken;
  }

  /** The first position whose key is not smaller; past the last chunk if all are smaller. */
  #lowerBound(key: StoreKey): Position {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const keys = chunks[middle]?.keys ?? [];
      if ((keys[keys.length - 1] ?? "") < key) low = middle + 1;
      else high = middle;
    }
    return { chunk: low, at: lowerBoundIn(chunks[low]?.keys ?? [], key) };
  }

  #end(): Position {
    const last = Math.max(0, this.#chunks.length - 1);
    return { chunk: last, at: this.#chunks[last]?.keys.length ?? 0 };
  }

  /** Keys in ascending order fill chunks completely; others split them in halves, as in a B-tree. */
  #split(number: number, insertedAt: number): void {
    const chunk = this.#chunks[number];
    if (chunk === undefined) return;
    const appended = number === this.#chunks.length - 1 && insertedAt === chunk.keys.length - 1;
    const at = appended ? CHUNK : CHUNK >>> 1;
    this.#chunks.splice(number + 1, 0, { keys: chunk.keys.splice(at), slots: chunk.slots.splice(at) });
  }

  /** Deletions must not leave a long list of nearly empty chunks. */
  #joinWithNext(number: number): void {
    const chunk = this.#chunks[number];
    // an empty chunk would break the binary search
    if (chunk?.keys.length === 0) {
      this.#chunks.splice(number, 1);
      return;
    }
    const next = this.#chunks[number + 1];
    if (chunk === undefined || chunk.keys.length + (next?.keys.length ?? 0) > CHUNK >>> 1) return;
    chunk.keys.push(...(next?.keys ?? []));
    chunk.slots.push(...(next?.slots ?? []));
    this.#chunks.splice(number + 1, 1);
  }
}

function lowerBoundIn(keys: readonly StoreKey[], key: StoreKey): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

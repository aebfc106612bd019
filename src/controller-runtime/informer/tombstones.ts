/**
 * Deleted objects with the resourceVersion of their deletion. Bounded: the oldest entries are removed.
 *
 * Two generations instead of one map whose oldest entry is removed: a map keeps the slots of deleted entries, and finding its first
 * entry iterates over all of them every time.
 */
const GENERATION = 10_000;

export class Tombstones {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** The last `GENERATION` are always kept; up to twice as many may be. */
  bury(key: string, version: string): void {
    if (this.#young.size >= GENERATION) [this.#old, this.#young] = [this.#young, new Map()];
    this.#young.set(key, version);
  }

  /** The version of its deletion; undefined: not known to be deleted. */
  get(key: string): string | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** The object exists again. */
  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

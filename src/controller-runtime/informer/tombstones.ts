/**
 * Which objects are gone, and at which resourceVersion they went. Memory has a limit: of very many, the oldest are forgotten.
 *
 * Two generations instead of one map whose oldest entry goes: a map keeps the places of what was deleted from it, and finding its first
 * entry walks over all of them, again and again.
 */
const GENERATION = 10_000;

export class Tombstones {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** The last `GENERATION` are always remembered; up to twice as many may be. */
  bury(key: string, version: string): void {
    if (this.#young.size >= GENERATION) [this.#old, this.#young] = [this.#young, new Map()];
    this.#young.set(key, version);
  }

  /** When it went, if it is known to be gone. */
  get(key: string): string | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** It is there again. */
  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

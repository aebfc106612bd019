/**
 * A cache of results for immutable objects, by identity. Keys are weak, and the size is bounded: entries that are not read are dropped after a
 * while, so that a large store does not have an entry for every object.
 */
export class Recent<K extends object, V> {
  readonly #limit: number;
  #young = new WeakMap<K, V>();
  #old = new WeakMap<K, V>();
  #size = 0;

  constructor(limit = 5_000) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    if (this.#size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#size = 0;
    }
    this.#young.set(key, value);
    this.#size += 1;
  }
}

/**
 * A cache of the JSON of recently serialized objects, by identity: stored objects are never changed, only replaced.
 *
 * Texts are kept in two generations with weak keys. When the younger reaches its limit, the older is dropped: memory is bounded, frequently
 * read objects stay cached, and the cache keeps no object alive.
 */
export class RecentTexts {
  readonly #limit: number;
  #young = new WeakMap<object, string>();
  #old = new WeakMap<object, string>();
  #size = 0;

  constructor(limit = 16 * 1024 * 1024) {
    this.#limit = limit;
  }

  of(object: object, print: () => string): string {
    const known = this.#young.get(object);
    if (known !== undefined) return known;
    const text = this.#old.get(object) ?? print();
    this.#size += text.length;
    if (this.#size > this.#limit) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#size = text.length;
    }
    this.#young.set(object, text);
    return text;
  }
}

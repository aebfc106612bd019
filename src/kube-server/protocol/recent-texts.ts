/**
 * The JSON of objects that were printed lately, known by identity: objects in the store are never changed, only replaced.
 *
 * Texts are kept in two generations, each of them weak in its objects. When the younger has grown to its limit, the older is dropped: memory
 * is bounded, what is read often stays, and nothing lives longer for being here.
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

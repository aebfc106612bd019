/** Objects by key, with one secondary index. */
export class Indexed<T> {
  readonly #items = new Map<string, T>();
  readonly #headings = new Map<string, Set<string>>();
  readonly #headingOf: (item: T) => string | undefined;

  constructor(headingOf: (item: T) => string | undefined) {
    this.#headingOf = headingOf;
  }

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  keys(): Iterable<string> {
    return this.#items.keys();
  }

  keysUnder(heading: string): Iterable<string> {
    return this.#headings.get(heading) ?? [];
  }

  under(heading: string): readonly T[] {
    return [...this.keysUnder(heading)].flatMap((key) => this.#items.get(key) ?? []);
  }

  set(key: string, item: T): void {
    this.delete(key);
    this.#items.set(key, item);
    const heading = this.#headingOf(item);
    if (heading === undefined) return;
    const keys = this.#headings.get(heading) ?? new Set<string>();
    this.#headings.set(heading, keys.add(key));
  }

  delete(key: string): void {
    const item = this.#items.get(key);
    const heading = item === undefined ? undefined : this.#headingOf(item);
    this.#items.delete(key);
    if (heading !== undefined) this.#headings.get(heading)?.delete(key);
  }
}

/**
 * The accumulators of `map`, `filter`, `transformList` and `transformMap`: a list and a map that grow in place. Copying them for every element
 * would take quadratic time.
 *
 * Only the expansion of a macro can name its accumulator, so no other expression can read one before it is finished.
 */
import { keyText, mapOfKeys, type Entry } from "./maps.ts";
import { tooManyItems } from "./size-limits.ts";
import { CelFailure, failure, itemAt, listOf, type CelList, type CelMap, type CelValue } from "./values.ts";

export class GrowingList implements CelList {
  readonly kind = "list";
  readonly #items: CelValue[] = [];

  get size(): number {
    return this.#items.length;
  }

  get(position: number): CelValue {
    return itemAt(this.#items, position);
  }

  append(item: CelValue): this | CelFailure {
    this.#items.push(item);
    return tooManyItems(this.#items.length) ?? this;
  }

  finished(): CelList {
    return listOf(this.#items);
  }
}

export class GrowingMap implements CelMap {
  readonly kind = "map";
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    return mapOfKeys(this.#entries).get(key);
  }

  keys(): readonly CelValue[] {
    return mapOfKeys(this.#entries).keys();
  }

  insert(entry: Entry): this | CelFailure {
    const text = keyText(entry[0]);
    if (text === undefined) return failure("unsupported key type");
    this.#entries.set(text, entry);
    return this;
  }

  finished(): CelMap {
    return mapOfKeys(this.#entries);
  }
}

/** A growing value for the empty list or map that a macro starts with. */
export function growing(start: CelValue): CelValue {
  if (typeof start !== "object" || start === null || !("kind" in start)) return start;
  if (start.kind === "list" && start.size === 0) return new GrowingList();
  return start.kind === "map" && start.size === 0 ? new GrowingMap() : start;
}

export function finished(value: CelValue): CelValue {
  return value instanceof GrowingList || value instanceof GrowingMap ? value.finished() : value;
}

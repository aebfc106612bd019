/**
 * Indexes of one collection by the value of a field, such as a label: built on first use, updated by writes.
 *
 * Only the few last used are kept: a client that may list could otherwise fill the memory with an index per label.
 */
import { fieldAt, type KubeObject } from "#kube";
import type { FieldMatch } from "./port.ts";
import { SortedIndex, type IndexSlot } from "./sorted-index.ts";

type FieldIndex = { readonly path: readonly string[]; readonly byValue: Map<string, SortedIndex> };

const KEPT = 8;
const NOTHING = new SortedIndex();

export function matchesField(object: KubeObject, { path, value }: FieldMatch): boolean {
  return fieldAt(object, ...path) === value;
}

export class FieldIndexes {
  /** In the order of use: the first is the one to drop. */
  readonly #indexes = new Map<string, FieldIndex>();

  find(match: FieldMatch, all: Iterable<IndexSlot>): SortedIndex {
    const name = JSON.stringify(match.path);
    const index = this.#indexes.get(name) ?? build(match.path, all);
    this.#indexes.delete(name);
    this.#indexes.set(name, index);
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= KEPT) break;
      this.#indexes.delete(oldest);
    }
    return index.byValue.get(match.value) ?? NOTHING;
  }

  /** Must be called while the slot still has `before`'s key. undefined: created or deleted. */
  change(slot: IndexSlot, before: KubeObject | undefined, after: KubeObject | undefined): void {
    for (const index of this.#indexes.values()) {
      const from = valueIn(index, before);
      const to = valueIn(index, after);
      if (from === to) continue;
      if (from !== undefined) removeFrom(index, from, slot);
      if (to !== undefined) insertInto(index, to, slot);
    }
  }
}

function build(path: readonly string[], all: Iterable<IndexSlot>): FieldIndex {
  const index: FieldIndex = { path, byValue: new Map() };
  for (const slot of all) {
    const value = valueIn(index, slot.stored.object);
    if (value !== undefined) insertInto(index, value, slot);
  }
  return index;
}

function valueIn({ path }: FieldIndex, object: KubeObject | undefined): string | undefined {
  const value = fieldAt(object, ...path);
  return typeof value === "string" ? value : undefined;
}

function insertInto({ byValue }: FieldIndex, value: string, slot: IndexSlot): void {
  const sorted = byValue.get(value) ?? new SortedIndex();
  byValue.set(value, sorted);
  sorted.insert(slot);
}

function removeFrom({ byValue }: FieldIndex, value: string, slot: IndexSlot): void {
  const sorted = byValue.get(value);
  sorted?.remove(slot.stored.key);
  if (sorted?.size === 0) byValue.delete(value);
}

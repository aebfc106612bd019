/**
 * The current objects of one kind, with lists of current and past revisions.
 *
 * There is one sorted index and none per namespace: keys are "namespace/name", so a namespace is a range of keys. A past list is the current
 * list with later changes reverted; its cost is the size of the result plus the number of later changes.
 */
import { FieldIndexes, matchesField } from "./field-indexes.ts";
import type { HistoryEntry } from "./history.ts";
import type { Listed, ListRequest, Stored, StoreKey } from "./port.ts";
import { SortedIndex, type KeyRange, type IndexSlot } from "./sorted-index.ts";

type Page = Omit<Listed, "revision">;

export class Collection {
  readonly #slots = new Map<StoreKey, IndexSlot>();
  readonly #sorted = new SortedIndex();
  readonly #fields = new FieldIndexes();

  get size(): number {
    return this.#slots.size;
  }

  get(key: StoreKey): Stored | undefined {
    return this.#slots.get(key)?.stored;
  }

  put(stored: Stored): void {
    const slot = this.#slots.get(stored.key);
    if (slot === undefined) this.#add({ stored });
    else {
      this.#fields.change(slot, slot.stored.object, stored.object);
      slot.stored = stored;
    }
  }

  #add(slot: IndexSlot): void {
    const { key, object } = slot.stored;
    this.#slots.set(key, slot);
    this.#sorted.insert(slot);
    this.#fields.change(slot, undefined, object);
  }

  remove(key: StoreKey): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#fields.change(slot, slot.stored.object, undefined);
    this.#sorted.remove(key);
    this.#slots.delete(key);
  }

  /** `since`: the events after the requested revision, oldest first; empty for the current state. */
  list(request: ListRequest, since: readonly HistoryEntry[]): Page {
    const range = rangeOf(request);
    const limit = request.limit === undefined || request.limit <= 0 ? Number.POSITIVE_INFINITY : request.limit;
    const index = request.where === undefined ? this.#sorted : this.#fields.find(request.where, this.#slots.values());
    if (since.length > 0) return this.#listPast({ index, range, limit, request }, since);
    const items = index.take(range, limit);
    return { items, remaining: items.length < limit ? 0 : index.count(range) - items.length };
  }

  #listPast(
    { index, range, limit, request }: { index: SortedIndex; range: KeyRange; limit: number; request: ListRequest },
    since: readonly HistoryEntry[],
  ): Page {
    const belongs = ({ key, object }: Stored) =>
      key >= range.from &&
      (range.to === undefined || key < range.to) &&
      (request.where === undefined || matchesField(object, request.where));
    const then = statesBefore(since);
    const restored = [...then.values()].filter((stored) => stored !== undefined).filter(belongs);
    restored.sort((a, b) => (a.key < b.key ? -1 : 1));
    let changed = 0;
    for (const key of then.keys()) {
      const now = this.get(key);
      if (now !== undefined && belongs(now)) changed += 1;
    }
    const total = index.count(range) - changed + restored.length;
    const items = mergeByKey(unchanged(index.slots(range), then), restored, limit);
    return { items, remaining: total - items.length };
  }
}

/** "\0" after a key is the smallest text greater than it; "0" is the character after "/". */
function rangeOf({ namespace, after }: ListRequest): KeyRange {
  const afterKey = after === undefined ? "" : `${after}\u0000`;
  if (namespace === undefined) return { from: afterKey, to: undefined };
  const prefix = `${namespace}/`;
  return { from: afterKey > prefix ? afterKey : prefix, to: `${namespace}0` };
}

/** The state of each changed key before the first of these changes; undefined: absent. */
function statesBefore(since: readonly HistoryEntry[]): Map<StoreKey, Stored | undefined> {
  const then = new Map<StoreKey, Stored | undefined>();
  for (const { event, before } of since) if (!then.has(event.key)) then.set(event.key, before);
  return then;
}

function* unchanged(slots: Iterable<IndexSlot>, changed: ReadonlyMap<StoreKey, unknown>): Generator<Stored> {
  for (const { stored } of slots) if (!changed.has(stored.key)) yield stored;
}

function mergeByKey(left: Iterable<Stored>, right: readonly Stored[], limit: number): Stored[] {
  const merged: Stored[] = [];
  let at = 0;
  for (const item of left) {
    for (let next = right[at]; next !== undefined && next.key < item.key; next = right[at]) {
      merged.push(next);
      at += 1;
    }
    if (merged.length >= limit) break;
    merged.push(item);
  }
  merged.push(...right.slice(at));
  return merged.length > limit ? merged.slice(0, limit) : merged;
}

/**
 * The objects of a scripted API and their history. One revision counter for everything, as in etcd; a watch is a walk
 * through the history that goes on, and `compact` makes the past unavailable.
 */
import { timestamp, type Clock } from "#base";
import { jsonEqual, keyOf, keyText, type KubeObject } from "#kube";
import { Ownership } from "./ownership.ts";

export type StoredObject = KubeObject & { readonly [field: string]: unknown };

export type Change = {
  readonly revision: number;
  readonly collection: string;
  readonly key: string;
  readonly before: StoredObject | undefined;
  /** Absent: deleted. `last` is then what a watch shows of the object. */
  readonly after: StoredObject | undefined;
  readonly last: StoredObject;
};

type Entry = { readonly object: StoredObject; readonly ownership: Ownership };
export type Write = { readonly object: StoredObject; readonly ownership: Ownership };

export class Store {
  readonly #clock: Clock;
  readonly #collections = new Map<string, Map<string, Entry>>();
  readonly #history: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();
  #uids = 0;
  #compactedTo = 0;
  #trimmed = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get revision(): number {
    return this.#trimmed + this.#history.length + 1;
  }

  get compactedTo(): number {
    return this.#compactedTo;
  }

  find(collection: string, key: string): Entry | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /** Sorted by key, as etcd lists. */
  list(collection: string): readonly StoredObject[] {
    const entries = [...(this.#collections.get(collection) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([, entry]) => entry.object);
  }

  /** Everything after `revision`; undefined when that is no longer known. */
  since(revision: number): readonly Change[] | undefined {
    return revision < this.#compactedTo ? undefined : this.#history.slice(Math.max(0, revision - this.#trimmed - 1));
  }

  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  compact(): void {
    this.#compactedTo = this.revision;
    this.#trimmed += this.#history.length;
    this.#history.length = 0;
  }

  create(collection: string, write: Write): StoredObject {
    const hex = (this.#uids += 1).toString(16).padStart(12, "0");
    const metadata = {
      ...write.object.metadata,
      uid: `00000000-0000-4000-8000-${hex}`,
      creationTimestamp: timestamp(this.#clock),
      generation: 1,
    };
    return this.#commit(collection, undefined, { object: { ...write.object, metadata }, ownership: write.ownership });
  }

  /** A write that changes nothing keeps the resourceVersion; the last finalizer of a deleted object takes it along. */
  replace(collection: string, before: StoredObject, write: Write): StoredObject {
    const { uid, creationTimestamp, deletionTimestamp, generation = 1, resourceVersion } = before.metadata;
    const kept = { uid, creationTimestamp, generation, resourceVersion, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
    const same: StoredObject = { ...write.object, metadata: { ...write.object.metadata, ...kept } as StoredObject["metadata"] };
    const previous = this.find(collection, keyText(keyOf(before)));
    if (jsonEqual(same, before) && previous?.ownership.equals(write.ownership) === true) return before;
    if (deletionTimestamp !== undefined && (same.metadata.finalizers ?? []).length === 0) return this.#remove(collection, same);
    const bumped = { ...same.metadata, generation: jsonEqual(specOf(same), specOf(before)) ? generation : generation + 1 };
    return this.#commit(collection, before, { object: { ...same, metadata: bumped }, ownership: write.ownership });
  }

  delete(collection: string, before: StoredObject): StoredObject {
    if ((before.metadata.finalizers ?? []).length === 0) return this.#remove(collection, before);
    if (before.metadata.deletionTimestamp !== undefined) return before;
    const ownership = this.find(collection, keyText(keyOf(before)))?.ownership ?? new Ownership();
    const generation = (before.metadata.generation ?? 1) + 1;
    const metadata = { ...before.metadata, deletionTimestamp: timestamp(this.#clock), generation };
    return this.#commit(collection, before, { object: { ...before, metadata }, ownership });
  }

  #commit(collection: string, before: StoredObject | undefined, write: Write): StoredObject {
    const after = this.#stamped(write.object);
    let objects = this.#collections.get(collection);
    if (objects === undefined) this.#collections.set(collection, (objects = new Map()));
    const key = keyText(keyOf(after));
    objects.set(key, { object: after, ownership: write.ownership });
    this.#record({ revision: this.revision + 1, collection, key, before, after, last: after });
    return after;
  }

  #remove(collection: string, before: StoredObject): StoredObject {
    const last = this.#stamped(before);
    const key = keyText(keyOf(before));
    this.#collections.get(collection)?.delete(key);
    this.#record({ revision: this.revision + 1, collection, key, before, after: undefined, last });
    return last;
  }

  #stamped(object: StoredObject): StoredObject {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.revision + 1) } };
  }

  #record(change: Change): void {
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
  }
}

/** What `generation` counts: everything but metadata and status. */
function specOf({ metadata: _metadata, status: _status, ...spec }: StoredObject): unknown {
  return spec;
}

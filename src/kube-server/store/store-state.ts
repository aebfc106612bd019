/**
 * The state of a store, without watchers and without a disk: the revision, the objects, the history.
 *
 * `apply` is the only function that changes it, both for live writes and for recovery after a restart: there is no second code path in which
 * recovery could differ.
 */
import { err, ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import { approximateSize, sizeBeside } from "./approximate-size.ts";
import { Collection } from "./collection.ts";
import { History, type HistoryLimit } from "./history.ts";
import type { CollectionName, Listed, ListRequest, RevisionError, Stored, StoreEvent, StoreKey } from "./port.ts";

/** One change as it is written to disk. */
export type ChangeRecord = {
  readonly revision: number;
  readonly collection: CollectionName;
  readonly key: StoreKey;
  /** Undefined: deleted. */
  readonly object: KubeObject | undefined;
};

/** An empty etcd is at revision 1, too: 0 means "any" in the API and must not be a state. */
export const FIRST_REVISION = 1;

export class StoreState {
  readonly #collections = new Map<CollectionName, Collection>();
  readonly history: History;
  #revision: number;

  constructor(options: { readonly revision?: number; readonly historyLimit?: Partial<HistoryLimit> | undefined } = {}) {
    this.#revision = options.revision ?? FIRST_REVISION;
    this.history = new History(this.#revision, options.historyLimit);
  }

  get revision(): number {
    return this.#revision;
  }

  get(collection: CollectionName, key: StoreKey): Stored | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  count(collection: CollectionName): number {
    return this.#collections.get(collection)?.size ?? 0;
  }

  collections(): readonly CollectionName[] {
    return [...this.#collections.keys()].filter((name) => this.count(name) > 0).toSorted();
  }

  list(name: CollectionName, request: ListRequest): Result<Listed, RevisionError> {
    const revision = request.revision ?? this.#revision;
    const since = this.changesSince(name, revision);
    if (!since.ok) return since;
    const page = this.#collections.get(name)?.list(request, since.value) ?? { items: [], remaining: 0 };
    return ok({ revision, ...page });
  }

  changesSince(name: CollectionName, revision: number): Result<ReturnType<History["after"]>, RevisionError> {
    if (revision > this.#revision) return err({ kind: "future", current: this.#revision });
    if (revision < this.history.oldest) return err({ kind: "compacted", oldest: this.history.oldest });
    return ok(revision === this.#revision ? [] : this.history.after(name, revision));
  }

  /** The revision must be greater than all earlier ones. Undefined: a deletion of a missing object, which is not an event. */
  apply({ revision, collection: name, key, object }: ChangeRecord): StoreEvent | undefined {
    const collection = this.#collection(name);
    const before = collection.get(key);
    this.#revision = revision;
    const event = eventOf({ revision, collection: name, key, object }, before);
    if (event === undefined) return undefined;
    if (object === undefined) collection.remove(key);
    else collection.put({ key, object, revision });
    this.history.add(event, before);
    return event;
  }

  /** Adds an object of a snapshot: older than all applied changes, and not an event. */
  load(name: CollectionName, stored: Stored): void {
    this.#collection(name).put(stored);
  }

  /** Revisions up to this one are lost: they are never assigned again, and no watch can continue from before them. */
  skipTo(revision: number): void {
    this.#revision = revision;
    this.history.forget(revision);
  }

  #collection(name: CollectionName): Collection {
    const collection = this.#collections.get(name) ?? new Collection();
    this.#collections.set(name, collection);
    return collection;
  }
}

function eventOf({ object, ...rest }: ChangeRecord, before: Stored | undefined): StoreEvent | undefined {
  const previous = before?.object;
  if (object === undefined) {
    if (previous === undefined) return undefined;
    return { type: "DELETED", ...rest, object: previous, previous, replacedBytes: approximateSize(previous) };
  }
  // unchanged parts are shared with the next state
  const replacedBytes = previous === undefined ? 0 : sizeBeside(previous, object);
  return { type: previous === undefined ? "ADDED" : "MODIFIED", ...rest, object, previous, replacedBytes };
}

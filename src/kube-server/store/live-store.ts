/**
 * The Store implementation: state, watchers, and a journal that may reject a write.
 *
 * The journal is written first. A change is on disk before it is in memory, and in memory before any watcher receives it, so no client sees a
 * change that a restart could lose.
 */
import { err, ok, map, type Result } from "#base";
import type {
  CollectionName,
  Listed,
  ListRequest,
  RevisionError,
  StorageError,
  Store,
  StoreChange,
  StoreConflict,
  Stored,
  StoreEvent,
  StoreKey,
} from "./port.ts";
import type { ChangeRecord, StoreState } from "./store-state.ts";
import { WatchHub } from "./watch-hub.ts";

export interface Journal {
  /** The change is durable when this returns; on an error nothing must have been written. */
  append(record: ChangeRecord): Result<void, StorageError>;
  /** Called after each write, when all watchers have received it: for snapshots. */
  settled(): void;
  close(): void;
}

export const noJournal: Journal = { append: () => ok(undefined), settled: () => {}, close: () => {} };

export class LiveStore implements Store {
  readonly #state: StoreState;
  readonly #journal: Journal;
  readonly #hub = new WatchHub();
  #closed = false;

  constructor(state: StoreState, journal: Journal) {
    this.#state = state;
    this.#journal = journal;
  }

  get revision(): number {
    return this.#state.revision;
  }

  get(collection: CollectionName, key: StoreKey): Stored | undefined {
    return this.#state.get(collection, key);
  }

  list(collection: CollectionName, request: ListRequest = {}): Result<Listed, RevisionError> {
    return this.#state.list(collection, request);
  }

  count(collection: CollectionName): number {
    return this.#state.count(collection);
  }

  collections(): readonly CollectionName[] {
    return this.#state.collections();
  }

  write({ collection, key, expected, object }: StoreChange): Result<Stored | undefined, StoreConflict | StorageError> {
    if (this.#closed) return err({ kind: "storage", message: "the store is closed" });
    const current = this.#state.get(collection, key);
    if (current?.revision !== expected) return err({ kind: "conflict", current });
    if (object === undefined && current === undefined) return ok(undefined);
    const revision = this.#state.revision + 1;
    const record = { revision, collection, key, object: object?.(revision) };
    if (this.#state.revision !== revision - 1) throw new Error(`a write inside the object of another write (${collection} ${key})`);
    const appended = this.#journal.append(record);
    return appended.ok ? ok(this.#commit(record)) : appended;
  }

  #commit(record: ChangeRecord): Stored | undefined {
    const event = this.#state.apply(record);
    const written = record.object === undefined ? undefined : this.#state.get(record.collection, record.key);
    if (event !== undefined) this.#hub.publish(event);
    this.#journal.settled();
    return written;
  }

  watch(request: {
    readonly collection: CollectionName;
    readonly from: number;
    readonly onEvent: (event: StoreEvent) => void;
  }): Result<{ readonly end: () => void }, RevisionError> {
    const { collection, onEvent } = request;
    if (this.#closed) return ok({ end: () => {} });
    return map(this.#state.changesSince(collection, request.from), (changes) => {
      const past = changes.map(({ event }) => event);
      return this.#hub.add({ collection, onEvent, past, upTo: this.#state.revision });
    });
  }

  compact(revision: number): void {
    this.#state.history.forget(Math.min(revision, this.#state.revision));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hub.endAll();
    this.#journal.close();
  }
}

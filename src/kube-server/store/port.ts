/**
 * The storage interface of the API server: one sequence of revisions for all objects, as in etcd.
 *
 * Synchronous on purpose: a completed write survives a kill of the process, and no reader sees a state that a restart could lose. Objects are
 * shared, not copied: they must never be changed.
 */
import type { Result } from "#base";
import type { KubeObject } from "#kube";

/** "group/plural" of the storage, e.g. "apps/deployments", "/pods": versions of one kind share a collection. */
export type CollectionName = string;
/** "namespace/name" or "name". */
export type StoreKey = string;

export type Stored = {
  readonly key: StoreKey;
  readonly object: KubeObject;
  /** The revision that wrote it: its resourceVersion. */ readonly revision: number;
};

export type StoreChange = {
  readonly collection: CollectionName;
  readonly key: StoreKey;
  /** The revision that this change is based on; undefined: the object must not exist. */
  readonly expected: number | undefined;
  /** Creates the object from its revision (for metadata.resourceVersion); undefined deletes. */
  readonly object: ((revision: number) => KubeObject) | undefined;
};

/** The storage failed (disk full, I/O error, closed). Nothing was written or visible. */
export type StorageError = { readonly kind: "storage"; readonly message: string };
export type StoreConflict = { readonly kind: "conflict"; readonly current: Stored | undefined };
/** `oldest` is the oldest revision that list and watch still serve. */
export type RevisionError = { readonly kind: "compacted"; readonly oldest: number } | { readonly kind: "future"; readonly current: number };

export type StoreEvent = {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly collection: CollectionName;
  readonly key: StoreKey;
  readonly revision: number;
  /** For DELETED: the last state. */
  readonly object: KubeObject;
  /** The previous object; absent for ADDED. Selectors need it to detect objects that no longer match. */
  readonly previous: KubeObject | undefined;
  /** How many bytes of `previous` are not part of the new state, roughly: the memory that is kept only for readers of this event. */
  readonly replacedBytes: number;
};

export type ListRequest = {
  readonly namespace?: string | undefined;
  /** Undefined: the current revision. Past revisions are served as long as they are in the history. */
  readonly revision?: number | undefined;
  /** Begins after this key (exclusive): pages. */
  readonly after?: StoreKey | undefined;
  /** Undefined or 0: all. */
  readonly limit?: number | undefined;
  /**
   * Only objects with this string at this path: a label (["metadata", "labels", "app"]) or a field. The first such list of a collection builds
   * an index; the cost of later ones is the size of the result.
   */
  readonly where?: FieldMatch | undefined;
};

export type FieldMatch = { readonly path: readonly string[]; readonly value: string };

export type Listed = {
  readonly revision: number;
  /** Sorted by key, as etcd does. */ readonly items: readonly Stored[];
  /** The number of objects after the last item. */ readonly remaining: number;
};

export interface Store {
  readonly revision: number;
  get(collection: CollectionName, key: StoreKey): Stored | undefined;
  list(collection: CollectionName, request?: ListRequest): Result<Listed, RevisionError>;
  count(collection: CollectionName): number;
  /** Collections with at least one object, sorted. */
  collections(): readonly CollectionName[];
  /** Returns the stored object; undefined for a deletion (its revision is in the event). Deleting a missing object, as expected, has no effect. */
  write(change: StoreChange): Result<Stored | undefined, StoreConflict | StorageError>;
  /**
   * Events after `from` in order, first past ones, then new ones; `end` stops it. Callbacks are synchronous with the write; a write inside a
   * callback is delivered after the current event, so that all watchers receive the same order.
   */
  watch(request: {
    readonly collection: CollectionName;
    readonly from: number;
    readonly onEvent: (event: StoreEvent) => void;
  }): Result<{ readonly end: () => void }, RevisionError>;
  /** Drops the history up to and including this revision; the state at it can still be listed. */
  compact(revision: number): void;
  /** Ends all watches and rejects further writes; objects in memory can still be read. */
  close(): void;
}

/**
 * What the API server needs of its storage: one sequence of revisions over everything, as etcd has it.
 *
 * Synchronous on purpose: a write that returned is on its way to disk in order (the process may be killed at once and it is
 * there after restart), and no reader ever sees a state that a restart could take back. Objects handed in and out are never
 * changed by anyone: they are shared, not copied.
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
  /** The revision this change is based on; undefined: there must be none yet. */
  readonly expected: number | undefined;
  /** Given the revision it will have (for metadata.resourceVersion); undefined deletes. */
  readonly object: ((revision: number) => KubeObject) | undefined;
};

/** The storage itself failed (disk full, I/O error, closed). Nothing was written, and nothing was visible. */
export type StorageError = { readonly kind: "storage"; readonly message: string };
export type StoreConflict = { readonly kind: "conflict"; readonly current: Stored | undefined };
/** `oldest` is the oldest revision that list and watch still answer. */
export type RevisionError = { readonly kind: "compacted"; readonly oldest: number } | { readonly kind: "future"; readonly current: number };

export type StoreEvent = {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly collection: CollectionName;
  readonly key: StoreKey;
  readonly revision: number;
  /** For DELETED: the last state. */
  readonly object: KubeObject;
  /** What it was before; absent for ADDED. Selectors need it to tell who leaves. */
  readonly previous: KubeObject | undefined;
  /** How many bytes of `previous` are not part of the new state, roughly: the memory that is kept only for readers of this event. */
  readonly replacedBytes: number;
};

export type ListRequest = {
  readonly namespace?: string | undefined;
  /** Undefined: now. Older revisions are served as long as history reaches back. */
  readonly revision?: number | undefined;
  /** Begins after this key (exclusive): pages. */
  readonly after?: StoreKey | undefined;
  /** Undefined or 0: all. */
  readonly limit?: number | undefined;
  /**
   * Only objects whose field at this path is this very string: a label (["metadata", "labels", "app"]) or a field. The first
   * such list of a collection builds an index, later ones cost what they return.
   */
  readonly where?: FieldMatch | undefined;
};

export type FieldMatch = { readonly path: readonly string[]; readonly value: string };

export type Listed = {
  readonly revision: number;
  /** Sorted by key, as etcd does. */ readonly items: readonly Stored[];
  /** How many more there are after the last item. */ readonly remaining: number;
};

export interface Store {
  readonly revision: number;
  get(collection: CollectionName, key: StoreKey): Stored | undefined;
  list(collection: CollectionName, request?: ListRequest): Result<Listed, RevisionError>;
  count(collection: CollectionName): number;
  /** Those that hold an object now, sorted. */
  collections(): readonly CollectionName[];
  /** What was written; undefined for a deletion (its revision is the event's). Deleting what is not there, as expected, is nothing. */
  write(change: StoreChange): Result<Stored | undefined, StoreConflict | StorageError>;
  /**
   * Events after `from` in order, first the past, then the present; `end` stops it. Calls back synchronously with the write; a
   * write made inside a callback is delivered after the event that is being delivered, so everybody sees one order.
   */
  watch(request: {
    readonly collection: CollectionName;
    readonly from: number;
    readonly onEvent: (event: StoreEvent) => void;
  }): Result<{ readonly end: () => void }, RevisionError>;
  /** Forgets history up to and including this revision; the state at it can still be listed. */
  compact(revision: number): void;
  /** Ends all watches and refuses further writes; what is in memory can still be read. */
  close(): void;
}

/**
 * The operations of an API server, as narrow ports: code depends on the smallest that it needs, and a test can implement it.
 *
 * Nothing here throws: every call returns a Result. `KubeClient` has all of them.
 */
import type { Result } from "#base";
import type { Json, KubeList, KubeObject, ObjectKey, Resource, Subresource } from "#kube";
import type { KubeError } from "./errors.ts";

export type ClientResult<T> = Promise<Result<T, KubeError>>;

/** Options of every request. */
export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Overrides the time limit of the client for this call. */
  readonly timeoutMs?: number | undefined;
  /** Called right before the request is sent, on every attempt; false: it is not sent. For leases, which may expire during a wait. */
  readonly mayLeave?: (() => boolean) | undefined;
};

/** Which objects a list returns. */
export type ListQuery = {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
};

/** Which objects a watch reports, and from which version. */
export type WatchQuery = Omit<ListQuery, "limit" | "continue"> & { readonly timeoutSeconds?: number | undefined };

/** An event of a watch: an object was added, changed or deleted, or a bookmark with the current version. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Reads. */
export interface KubeReader {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: CallOptions): ClientResult<T>;
  /** One page; `metadata.continue` is set if there are more. */
  list<T extends KubeObject>(resource: Resource<T>, query?: ListQuery, options?: CallOptions): ClientResult<KubeList<T>>;
}

/** Watches. */
export interface KubeWatcher {
  /**
   * Events until the server ends the watch (the iteration ends), the signal fires (it ends), or an error occurs (the last item is the
   * error). Bookmarks are always requested. `onOpen` is called when the server has accepted the watch: the first event may come much later.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
    onOpen?: () => void,
  ): AsyncIterable<Result<WatchEvent<T>, KubeError>>;
}

/** Options of a server-side apply. */
export type ApplyOptions = CallOptions & {
  readonly fieldManager: string;
  /** Take ownership of conflicting fields from other managers. */
  readonly force?: boolean;
  readonly subresource?: Subresource;
  readonly dryRun?: boolean;
};

/** The three patch formats; server-side apply is `apply`. */
export type PatchBody =
  | { readonly type: "json"; readonly operations: readonly Json[] }
  | { readonly type: "merge"; readonly patch: Json }
  | { readonly type: "strategic"; readonly patch: Json };

/** Options of a patch. */
export type PatchOptions = CallOptions & { readonly fieldManager?: string; readonly subresource?: Subresource; readonly dryRun?: boolean };

/** Options of a deletion. */
export type DeleteOptions = CallOptions & {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  /** Absent: the default of the object. 0: at once. */
  readonly gracePeriodSeconds?: number;
  /** The deletion fails if the object has another uid or resourceVersion. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
};

/** Namespaced kinds need the namespace. */
export type DeleteCollectionQuery = Pick<ListQuery, "namespace" | "labelSelector" | "fieldSelector">;

/** Writes. */
export interface KubeWriter {
  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: CallOptions & { readonly fieldManager?: string },
  ): ClientResult<T>;
  /** PUT: fails with `conflict` when the object's resourceVersion is not the current one. */
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: CallOptions & { readonly subresource?: Subresource; readonly fieldManager?: string },
  ): ClientResult<T>;
  /** Server-side apply. The object contains only the fields of this field manager. */
  apply<T extends KubeObject>(resource: Resource<T>, object: KubeObject, options: ApplyOptions): ClientResult<T>;
  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, body: PatchBody, options?: PatchOptions): ClientResult<T>;
  /** True when the object is deleted or being deleted, false when it did not exist. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): ClientResult<boolean>;
  /** Deletes the selected objects, one by one on the server; after an error some may be deleted. */
  deleteCollection(resource: Resource, query: DeleteCollectionQuery, options?: DeleteOptions): ClientResult<void>;
}

/** Paths that are not resources: discovery, /version, /readyz. */
export interface KubeRaw {
  raw(path: string, options?: CallOptions): ClientResult<string>;
}

/** All operations of a client. */
export interface KubeClient extends KubeReader, KubeWatcher, KubeWriter, KubeRaw {
  /** Closes connections; open calls end with `cancelled`. */
  close(): Promise<void>;
}

/**
 * What Lattice asks of an API server, in narrow ports: code takes the smallest that it needs, and a test can fill it.
 *
 * Nothing here throws: every answer is a Result. `KubeClient` is all of them together.
 */
import type { Result } from "#base";
import type { Json, KubeList, KubeObject, ObjectKey, Resource, Subresource } from "#kube";
import type { KubeError } from "./errors.ts";

export type Answer<T> = Promise<Result<T, KubeError>>;

/** Options of every request. */
export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's own limit for this call. */
  readonly timeoutMs?: number | undefined;
  /** Asked right before the request leaves, on every try; false: it is not sent. For leases, which end while one waits. */
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

/** What a watch tells: an object that came, changed or went, or how far it has got. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Reads. */
export interface KubeReader {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: CallOptions): Answer<T>;
  /** One page; `metadata.continue` says whether there is another. */
  list<T extends KubeObject>(resource: Resource<T>, query?: ListQuery, options?: CallOptions): Answer<KubeList<T>>;
}

/** Watches. */
export interface KubeWatcher {
  /**
   * Events until the server ends the watch (the iteration ends), the signal fires (it ends), or something breaks (the last
   * item is an error). Bookmarks are always asked for.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncIterable<Result<WatchEvent<T>, KubeError>>;
}

/** Options of a server-side apply. */
export type ApplyOptions = CallOptions & {
  readonly fieldManager: string;
  /** Take fields over from other managers. */
  readonly force?: boolean;
  readonly subresource?: Subresource;
  readonly dryRun?: boolean;
};

/** The three patches that change a document; server-side apply is `apply`. */
export type PatchBody =
  | { readonly type: "json"; readonly operations: readonly Json[] }
  | { readonly type: "merge"; readonly patch: Json }
  | { readonly type: "strategic"; readonly patch: Json };

/** Options of a patch. */
export type PatchOptions = CallOptions & { readonly fieldManager?: string; readonly subresource?: Subresource; readonly dryRun?: boolean };

/** Options of a deletion. */
export type DeleteOptions = CallOptions & {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  /** Absent: what the object says. 0: at once. */
  readonly gracePeriodSeconds?: number;
  /** Refuse if the object is not the one that was meant. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
};

/** Namespaced kinds need the namespace. */
export type DeleteCollectionQuery = Pick<ListQuery, "namespace" | "labelSelector" | "fieldSelector">;

/** Writes. */
export interface KubeWriter {
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions & { readonly fieldManager?: string }): Answer<T>;
  /** PUT: fails with `conflict` when the object's resourceVersion is not the current one. */
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: CallOptions & { readonly subresource?: Subresource; readonly fieldManager?: string },
  ): Answer<T>;
  /** Server-side apply. The object says only what this field manager wants. */
  apply<T extends KubeObject>(resource: Resource<T>, object: KubeObject, options: ApplyOptions): Answer<T>;
  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, body: PatchBody, options?: PatchOptions): Answer<T>;
  /** True when the object is gone or going, false when it was not there. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Answer<boolean>;
  /** Deletes what the query selects, one by one on the server; an error may come after some are gone. */
  deleteCollection(resource: Resource, query: DeleteCollectionQuery, options?: DeleteOptions): Answer<void>;
}

/** Paths that are no resource: discovery, /version, /readyz. */
export interface KubeRaw {
  raw(path: string, options?: CallOptions): Answer<string>;
}

/** All that a client can do. */
export interface KubeClient extends KubeReader, KubeWatcher, KubeWriter, KubeRaw {
  /** Closes connections; calls under way end with `cancelled`. */
  close(): Promise<void>;
}

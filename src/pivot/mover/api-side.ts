/**
 * One of the two API servers, as a move uses it: errors that pass are waited out, lists are read page by page, and what is absent or exists
 * already is a value. Every write here may be repeated.
 */
import { backoffDelay, ok, sleep, type BackoffPolicy, type Clock } from "#base";
import {
  apiVersionOf,
  fieldAt,
  groupResourceOf,
  keyText,
  metadataOf,
  type Json,
  type KubeObject,
  type ObjectKey,
  type Resource,
  type Subresource,
} from "#kube";
import type { ClientResult, KubeClient, KubeErrorKind, ListQuery } from "#kube-client";
import { MOVE_MANAGER } from "../graph/names.ts";
import { apiFailure, type Moved, type MoveSide } from "./failure.ts";
import { collectPages, type ObjectPage } from "./pages.ts";

/** Writes return only metadata: servers answer faster, and no step needs more. */
export type ApiSide = {
  readonly side: MoveSide;
  readonly get: (resource: Resource, key: ObjectKey) => Moved<KubeObject | undefined>;
  /** A kind that is not served has no objects. */
  readonly list: (resource: Resource, query?: ListFilter) => Moved<readonly KubeObject[]>;
  /** Of each object only what `take` returns is held, if it returns something. */
  readonly collect: <T>(resource: Resource, query: ListFilter, take: (object: KubeObject) => T | undefined) => Moved<readonly T[]>;
  /** `from`: the `next` of the page before. */
  readonly page: (resource: Resource, query: ListFilter, from?: string) => Moved<ObjectPage>;
  /** Undefined: an object of this name exists. */
  readonly create: (resource: Resource, object: KubeObject) => Moved<KubeObject | undefined>;
  /** Undefined: the object has changed since it was read, or is gone. */
  readonly update: (resource: Resource, object: KubeObject, subresource?: Subresource) => Moved<KubeObject | undefined>;
  /** Undefined: the object is gone, or is not the one with the uid and the version that the patch names. */
  readonly patch: (resource: Resource, key: ObjectKey, patch: Json, subresource?: Subresource) => Moved<KubeObject | undefined>;
  /** Only the object with this uid and this version. One that does not exist counts as removed. */
  readonly remove: (resource: Resource, key: ObjectKey, which: ObjectVersion) => Moved<void>;
};

export type ListFilter = Omit<ListQuery, "limit" | "continue">;

/** A write that names them is not executed on any other state of the object, however late it arrives. */
export type ObjectVersion = { readonly uid?: string; readonly resourceVersion?: string };

export function versionOf({ metadata: { uid, resourceVersion } }: KubeObject): ObjectVersion {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

export type ApiSideOptions = {
  readonly client: KubeClient;
  readonly side: MoveSide;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
};

/** As many as the objects of a batch. */
const PAGE = 200;
const ATTEMPTS = 7;
const BACKOFF: BackoffPolicy = { initialMs: 250, maxMs: 8_000, factor: 2 };
/** A webhook that is just starting is a server-error. */
const PASSING: ReadonlySet<KubeErrorKind> = new Set(["timeout", "network", "unavailable", "server-error", "too-many-requests"]);
/** Errors of a patch that names another version (conflict), or the uid of an object that was created again (invalid: a uid is immutable). */
const NOT_NAMED: ReadonlySet<KubeErrorKind> = new Set(["conflict", "invalid"]);

export function openSide({ client, side, clock, random, signal }: ApiSideOptions): ApiSide {
  async function repeated<T>(send: () => ClientResult<T>): ClientResult<T> {
    for (let failures = 1; ; failures += 1) {
      const answer = await send();
      if (answer.ok || !PASSING.has(answer.error.kind) || answer.error.retry === "useless" || failures === ATTEMPTS) return answer;
      if (!(await sleep(clock, backoffDelay(BACKOFF, failures, random), signal))) return answer;
    }
  }

  /** `absent`: errors whose value is undefined. */
  async function optional<T>(what: string, absent: readonly KubeErrorKind[], send: () => ClientResult<T>): Moved<T | undefined> {
    const answer = await repeated(send);
    if (answer.ok) return answer;
    return absent.includes(answer.error.kind) ? ok(undefined) : apiFailure(side, what, answer.error);
  }

  async function page(resource: Resource, query: ListFilter, from?: string): Moved<ObjectPage> {
    const listed = await repeated(() => client.list(resource, { ...query, limit: PAGE, continue: from }, { signal }));
    if (!listed.ok && listed.error.kind === "not-found") return ok({ items: [] });
    if (!listed.ok && listed.error.kind === "gone" && from !== undefined) return ok({ items: [], expired: true });
    if (!listed.ok) return apiFailure(side, `list ${groupResourceOf(resource)}`, listed.error);
    const [apiVersion, kind] = [apiVersionOf(resource), resource.kind];
    const items = listed.value.items.map((item) => ({ ...item, apiVersion, kind }));
    const { continue: next = "" } = listed.value.metadata;
    return ok({ items, ...(next === "" ? {} : { next }) });
  }

  const options = { signal, fieldManager: MOVE_MANAGER };
  const named = (verb: string, { kind }: Resource, key: ObjectKey) => `${verb} ${kind} ${keyText(key)}`;
  return {
    side,
    get: (resource, key) => optional(named("read", resource, key), ["not-found"], () => client.get(resource, key, { signal })),
    page,
    collect: (resource, query, take) => collectPages((from) => page(resource, query, from), take),
    list: (resource, query = {}) =>
      collectPages(
        (from) => page(resource, query, from),
        (object) => object,
      ),
    create: (resource, object) =>
      optional(named("create", resource, object.metadata), ["already-exists"], () => client.create(metadataOf(resource), object, options)),
    update(resource, object, subresource) {
      const settings = { ...options, ...(subresource === undefined ? {} : { subresource }) };
      const send = () => client.update(metadataOf(resource), object, settings);
      return optional(named("update", resource, object.metadata), ["conflict", "not-found"], send);
    },
    async patch(resource, key, patch, subresource) {
      const what = named("change", resource, key);
      const settings = { ...options, ...(subresource === undefined ? {} : { subresource }) };
      const send = () => client.patch<KubeObject>(metadataOf(resource), key, { type: "merge", patch }, settings);
      for (let conflicts = 1; ; conflicts += 1) {
        const answer = await repeated(send);
        if (answer.ok) return answer;
        if (answer.error.kind === "not-found") return ok(undefined);
        if (!NOT_NAMED.has(answer.error.kind)) return apiFailure(side, what, answer.error);
        // either it is not the object that the patch names, or controllers write the same object
        const live = await optional(what, ["not-found"], () => client.get(resource, key, { signal }));
        if (!live.ok) return live;
        if (live.value === undefined || isAnother(live.value, patch)) return ok(undefined);
        if (answer.error.kind !== "conflict" || conflicts === ATTEMPTS) return apiFailure(side, what, answer.error);
        if (!(await sleep(clock, backoffDelay(BACKOFF, conflicts, random), signal))) return apiFailure(side, what, answer.error);
      }
    },
    async remove(resource, key, which) {
      const preconditions = Object.keys(which).length === 0 ? {} : { preconditions: which };
      const removed = await optional(named("delete", resource, key), ["not-found", "conflict"], () =>
        client.delete(resource, key, { signal, propagation: "Background", ...preconditions }),
      );
      return removed.ok ? ok(undefined) : removed;
    },
  };
}

function isAnother({ metadata }: KubeObject, patch: Json): boolean {
  const [uid, version] = [fieldAt(patch, "metadata", "uid"), fieldAt(patch, "metadata", "resourceVersion")];
  return (uid !== undefined && uid !== metadata.uid) || (version !== undefined && version !== metadata.resourceVersion);
}

/**
 * The namespaces that contain objects of a kind, listed once for all namespaces that terminate at the same time.
 *
 * There are some forty kinds, and nearly all of them have no object in a namespace; a list of each kind in each namespace would make
 * the deletion of a thousand namespaces slow. A response is valid for a namespace only if it is newer than the time at which the namespace
 * stopped accepting objects: its resourceVersion, and the time of the request, must not be earlier.
 */
import { ok, type Clock, type Result } from "#base";
import { groupResourceOf, metadataOf, type Resource } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";

/** From when on no object can be created in the namespace. */
export type Since = { readonly resourceVersion: string; readonly monotonic: number };

type KindSnapshot = { readonly resourceVersion: string; readonly askedAt: number; readonly namespaces: ReadonlySet<string> | "too many" };
type PendingSnapshot = Promise<Result<KindSnapshot, KubeError>>;

/** More than one page of objects: listing each namespace is cheaper. */
const PAGE = 500;

export class Holders {
  readonly #client: KubeReader;
  readonly #clock: Clock;
  readonly #known = new Map<string, KindSnapshot>();
  readonly #pending = new Map<string, PendingSnapshot>();

  constructor(client: KubeReader, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether the namespace contains objects of this kind. */
  async holds(resource: Resource, namespace: string, since: Since, signal: AbortSignal): Promise<Result<boolean, KubeError>> {
    const snapshot = await this.#snapshot(resource, since, signal);
    if (!snapshot.ok) return snapshot;
    if (snapshot.value.namespaces !== "too many") return ok(snapshot.value.namespaces.has(namespace));
    const listed = await this.#client.list(metadataOf(resource), { namespace, limit: 1 }, { signal });
    return listed.ok ? ok(listed.value.items.length > 0) : listed;
  }

  async #snapshot(resource: Resource, since: Since, signal: AbortSignal): PendingSnapshot {
    const name = groupResourceOf(resource);
    for (;;) {
      const known = this.#known.get(name);
      if (known !== undefined && isAfter(known, since)) return ok(known);
      const underWay = this.#pending.get(name);
      const pending = underWay ?? this.#load(resource, signal);
      this.#pending.set(name, pending);
      const snapshot = await pending;
      if (!snapshot.ok) return snapshot;
      // a request that was under way may be too old; our own is not
      if (underWay === undefined) return snapshot;
    }
  }

  async #load(resource: Resource, signal: AbortSignal): PendingSnapshot {
    const name = groupResourceOf(resource);
    const askedAt = this.#clock.monotonic();
    const listed = await this.#client.list(metadataOf(resource), { limit: PAGE }, { signal });
    this.#pending.delete(name);
    if (!listed.ok) return listed;
    const { metadata, items } = listed.value;
    const more = (metadata.continue ?? "") !== "";
    const namespaces = more ? "too many" : new Set(items.map((item) => item.metadata.namespace ?? ""));
    const snapshot: KindSnapshot = { resourceVersion: metadata.resourceVersion, askedAt, namespaces };
    this.#known.set(name, snapshot);
    return ok(snapshot);
  }
}

function isAfter({ resourceVersion, askedAt }: KindSnapshot, since: Since): boolean {
  return askedAt >= since.monotonic && !isOlder(resourceVersion, since.resourceVersion);
}

/** Compared as text: resource versions may exceed the precision of a number. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

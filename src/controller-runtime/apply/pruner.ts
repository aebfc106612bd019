/**
 * Deletes objects that an owner applied before and no longer plans. The cache lists them; before each deletion the owner is read from the server,
 * because a plan made from an old spec would delete what the new one wants (ADR 0006).
 */
import { ok, type Result } from "#base";
import { describeObject, keyOf, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import { OWNER_INDEX, type CacheReader } from "../cache.ts";
import type { ObjectResult } from "./change-set.ts";
import { idOf, isOurs, ownerLabelOf, type ApplyOwner } from "../identity.ts";
import { inParallel } from "./in-parallel.ts";
import { mayPrune, preconditionsOf, type InventoryObject } from "./inventory.ts";
import type { AppliedMemory } from "./memory.ts";
import { failureOf } from "./refusal.ts";

export type PrunerOptions = {
  readonly client: KubeReader & KubeWriter;
  readonly cache: CacheReader;
  /** The owner's kind; the owner is read again before anything is deleted. */
  readonly ownerResource: Resource;
  readonly resources: readonly Resource[];
  readonly parallel: number;
  readonly memory: AppliedMemory;
};

export class Pruner {
  readonly #options: PrunerOptions;

  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  /** Objects of this owner in the cache that may be deleted. */
  ownedBy(owner: ApplyOwner): readonly InventoryObject[] {
    const { cache, resources } = this.#options;
    const label = ownerLabelOf(owner);
    return resources.flatMap((resource) =>
      cache
        .byIndex(resource, OWNER_INDEX, label)
        .filter((object) => mayPrune(object))
        .map((object) => ({ resource, object })),
    );
  }

  async prune(candidates: readonly InventoryObject[], owner: ApplyOwner, signal: AbortSignal): Promise<readonly ObjectResult[]> {
    if (candidates.length === 0) return [];
    const current = await this.isCurrent(owner.object, signal);
    if (!current.ok) return candidates.map(({ object }) => ({ did: "failed", failure: failureOf(object, current.error) }));
    if (!current.value) return candidates.map(({ object }) => ({ did: "skipped", object: describeObject(object) }));
    const results = await inParallel(candidates, this.#options.parallel, (one) => this.#pruneOne(one, owner, signal));
    return results.flatMap((result) => result ?? []);
  }

  async #pruneOne({ resource, object }: InventoryObject, owner: ApplyOwner, signal: AbortSignal): Promise<ObjectResult | undefined> {
    const live = await this.#options.client.get<KubeObject>(resource, keyOf(object), { signal });
    if (!live.ok) return live.error.kind === "not-found" ? undefined : { did: "failed", failure: failureOf(object, live.error) };
    if (!isOurs(live.value, owner) || !mayPrune(live.value)) return undefined;
    const preconditions = preconditionsOf(live.value);
    const gone = await this.#options.client.delete(resource, keyOf(object), { preconditions, propagation: "Background", signal });
    if (!gone.ok) return { did: "failed", failure: failureOf(object, gone.error) };
    this.#options.memory.forget(idOf(object));
    return { did: "pruned", object: describeObject(object) };
  }

  /** False: the owner changed since the plan was made, or is deleted. The change triggers another pass. */
  async isCurrent(owner: KubeObject, signal: AbortSignal): Promise<Result<boolean, KubeError>> {
    const live = await this.#options.client.get<KubeObject>(this.#options.ownerResource, keyOf(owner), { signal });
    if (!live.ok) return live.error.kind === "not-found" ? ok(false) : live;
    return ok(live.value.metadata.uid === owner.metadata.uid && live.value.metadata.generation === owner.metadata.generation);
  }
}

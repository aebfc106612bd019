/**
 * The one place that writes a controller's objects: server-side apply, only where the cache shows drift, then prune. Reads come
 * from the cache, so every step that could do harm on a stale cache reads from the server first (ADR 0006).
 *
 * Access objects (policies, routes) are a group of their own. Each is written independently of the others, and none waits
 * for a workload: a revocation takes effect even if everything else fails. First come changes that can restrict (deletions, and changes of
 * existing objects), then the workload, wave by wave, and last changes that can only allow (new objects).
 */
import { ok } from "#base";
import { describeObject, keyOf, type KubeObject, type Resource } from "#kube";
import type { KubeReader, KubeWriter } from "#kube-client";
import type { CacheReader } from "../cache.ts";
import { changeSetOf, type ChangeSet, type ObjectResult } from "./change-set.ts";
import { OrderedDeletion, type DeletionOrder } from "./deletion.ts";
import type { ManagerScope } from "../scope.ts";
import { canReference, idOf, resourceId, type ApplyOwner } from "../identity.ts";
import { inParallel } from "./in-parallel.ts";
import { Inventory, mayPrune, type InventoryObject } from "./inventory.ts";
import { AppliedMemory } from "./memory.ts";
import { ObjectWriter } from "./object-writer.ts";
import { objectOf, type WantedObject } from "./once.ts";
import { Pruner } from "./pruner.ts";
import { failureOf } from "./refusal.ts";
import { wavesOf, type ApplyOrder, type PlannedObjects } from "./waves.ts";

export type ApplyEngineOptions = {
  readonly client: KubeReader & KubeWriter;
  readonly cache: CacheReader;
  /** The owner's kind; the owner is read again before anything is pruned. */
  readonly ownerResource: Resource;
  /** Kinds that may be applied, and that are searched when pruning. */
  readonly resources: readonly Resource[];
  /** The access kinds among them: policies and routes. */
  readonly access?: readonly Resource[] | undefined;
  readonly order?: ApplyOrder | undefined;
  /** Take over fields that other clients set on our objects; true by default. */
  readonly force?: boolean | undefined;
  /** Concurrent requests inside a wave. */
  readonly parallel?: number | undefined;
  readonly memory?: AppliedMemory | undefined;
  /** Where objects are searched on the server; absent: in the whole cluster. */
  readonly scope?: ManagerScope | undefined;
};

/** Prune everything that is no longer planned, nothing, or only some kinds: then the plan is complete for those kinds only. */
export type Prune =
  | boolean
  | {
      readonly kinds: ReadonlySet<string>;
      /** "Kind namespace/name" of objects that are no longer planned but kept, because something still uses them. */
      readonly keep?: ReadonlySet<string>;
    };

/** Access objects: policies and routes. */
export type AccessPlan = {
  readonly apply: readonly KubeObject[];
  /** Reserved names: an object with such a name is taken over, even if another client created it. */
  readonly reserved?: ReadonlySet<string>;
  /** Kinds of which every other object of the owner is deleted, before anything is applied. */
  readonly kinds: ReadonlySet<string>;
};

export type ApplyEngineRequest = {
  readonly owner: ApplyOwner;
  readonly access?: AccessPlan | undefined;
  readonly planned: PlannedObjects;
  /** Absent: prune if something is planned. Kinds that `access` prunes are excluded. */
  readonly prune?: Prune | undefined;
  readonly signal: AbortSignal;
};

const DEFAULT_PARALLEL = 4;

export class ApplyEngine {
  readonly #options: ApplyEngineOptions;
  readonly #resources: ReadonlyMap<string, Resource>;
  readonly #parallel: number;
  readonly #writer: ObjectWriter;
  readonly #pruner: Pruner;
  readonly #inventory: Inventory;
  readonly #deletion: OrderedDeletion;

  constructor(options: ApplyEngineOptions) {
    const { client, cache, ownerResource, resources, force = true, parallel = DEFAULT_PARALLEL, memory = new AppliedMemory() } = options;
    this.#options = options;
    this.#parallel = parallel;
    this.#resources = new Map(resources.map((resource) => [`${resource.group}/${resource.kind}`, resource]));
    this.#writer = new ObjectWriter({ client, cache, force, memory });
    this.#pruner = new Pruner({ client, cache, ownerResource, resources, parallel, memory });
    this.#inventory = new Inventory({ client, scope: options.scope });
    this.#deletion = new OrderedDeletion({ client, inventory: this.#inventory, resources, parallel, memory });
  }

  async apply({ owner, access, planned, prune, signal }: ApplyEngineRequest): Promise<ChangeSet> {
    const live = this.#pruner.ownedBy(owner);
    const fresh = access?.apply.filter((object) => !this.#exists(object)) ?? [];
    const closing = access === undefined ? [] : await this.#close({ access, fresh, live }, owner, signal);
    const waves = wavesOf(planned, this.#options.order);
    const results = await this.#applyWaves(waves, owner, signal);
    const opening: ObjectResult[] = [];
    for (const wave of wavesOf(fresh, this.#options.order)) opening.push(...(await this.#applyEach(wave, owner, { signal, access })));
    if (prune !== false && (prune !== undefined || waves.length > 0)) {
      const wanted = new Set([...waves.flat().map(objectOf), ...(access?.apply ?? [])].map(idOf));
      const { kinds: mine, keep } = typeof prune === "object" ? prune : {};
      const isKept = (object: KubeObject) => access?.kinds.has(object.kind) === true || keep?.has(describeObject(object)) === true;
      const candidates = live.filter(({ object }) => !wanted.has(idOf(object)) && mine?.has(object.kind) !== false && !isKept(object));
      const broken = results.some((result) => result.did === "failed");
      results.push(...(broken ? candidates.map(({ object }) => skipped(object)) : await this.#pruner.prune(candidates, owner, signal)));
    }
    return changeSetOf([...closing, ...results, ...opening]);
  }

  /** Deletes all objects of the owner, wave by wave, as far as possible now; `deletion` of the result has what it waits for. */
  async deleteAll(owner: ApplyOwner, order: DeletionOrder, signal: AbortSignal): Promise<ChangeSet> {
    const current = await this.#pruner.isCurrent(owner.object, signal);
    if (!current.ok) return changeSetOf([{ did: "failed", failure: failureOf(owner.object, current.error) }]);
    if (!current.value) return { ...changeSetOf([]), deletion: "owner-changed" };
    const { results, progress } = await this.#deletion.advance(owner, order, signal);
    return { ...changeSetOf(results), ...(progress === undefined ? {} : { deletion: progress }) };
  }

  /**
   * Before the owner is deleted: first objects that allow traffic, then those without an owner reference (not garbage collected). If no object
   * has one, the server is asked: an object that the cache lacks would stay for ever.
   */
  async release(owner: ApplyOwner, signal: AbortSignal): Promise<ChangeSet> {
    const opens = ({ resource }: InventoryObject) => this.#options.access?.includes(resource) === true;
    const unowned = owner.ownerReferences === "none";
    const found = unowned ? await this.#inventory.ownedBy(owner, this.#options.resources, signal) : ok(this.#pruner.ownedBy(owner));
    if (!found.ok) return changeSetOf([{ did: "failed", failure: found.error }]);
    const all = found.value.filter(({ object }) => mayPrune(object));
    const closing = await this.#pruner.prune(all.filter(opens), owner, signal);
    const rest = all.filter((one) => !opens(one) && (unowned || !canReference(one.object, owner.object)));
    return changeSetOf([...closing, ...(await this.#pruner.prune(rest, owner, signal))]);
  }

  #exists(object: KubeObject): boolean {
    const resource = this.#resources.get(resourceId(object));
    return resource !== undefined && this.#options.cache.get(resource, keyOf(object)) !== undefined;
  }

  async #close({ access, fresh, live }: Closing, owner: ApplyOwner, signal: AbortSignal): Promise<readonly ObjectResult[]> {
    const wanted = new Set(access.apply.map(idOf));
    const stale = live.filter(({ object }) => access.kinds.has(object.kind) && !wanted.has(idOf(object)));
    const pruned = await this.#pruner.prune(stale, owner, signal);
    const known = access.apply.filter((object) => !fresh.includes(object));
    return [...pruned, ...(await this.#applyEach(known, owner, { signal, access }))];
  }

  #applyEach(objects: readonly WantedObject[], owner: ApplyOwner, group: Group): Promise<readonly ObjectResult[]> {
    return inParallel(objects, this.#parallel, (one) => this.#applyOne(one, owner, group));
  }

  async #applyWaves(waves: readonly (readonly WantedObject[])[], owner: ApplyOwner, signal: AbortSignal): Promise<ObjectResult[]> {
    const results: ObjectResult[] = [];
    for (const wave of waves) {
      const broken = results.some((result) => result.did === "failed");
      results.push(...(broken ? wave.map((wanted) => skipped(objectOf(wanted))) : await this.#applyEach(wave, owner, { signal })));
    }
    return results;
  }

  async #applyOne(wanted: WantedObject, owner: ApplyOwner, { signal, access }: Group): Promise<ObjectResult> {
    const object = objectOf(wanted);
    const resource = this.#resources.get(resourceId(object));
    const claim = { whole: access !== undefined, adopt: access?.reserved?.has(object.metadata.name) === true };
    if (resource !== undefined) return this.#writer.write(resource, wanted, owner, { signal, ...claim });
    const message = `controller ${owner.controller} does not own this kind`;
    return { did: "failed", failure: { object: describeObject(object), kind: "undeclared", message } };
  }
}

/** `access`: the objects are access objects, and all their fields are ours. */
type Group = { readonly signal: AbortSignal; readonly access?: AccessPlan | undefined };
type Closing = { readonly access: AccessPlan; readonly fresh: readonly KubeObject[]; readonly live: readonly InventoryObject[] };

function skipped(object: KubeObject): ObjectResult {
  return { did: "skipped", object: describeObject(object) };
}

/**
 * The one place that writes a controller's objects: server-side apply, wave by wave, only where the cache shows drift, then
 * prune. Reads come from the cache, so every step that could do harm on a stale cache asks the server first (docs/adr/0006).
 *
 * An object that exists and is not this owner's is reported, not taken: what a person made is never touched. Of a kind that is
 * watched by its metadata alone (Secrets), the object itself is read when something happened to it.
 */
import { ok, type Result } from "#base";
import { describeObject, isBeingDeleted, keyOf, keyText, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import { OWNER_INDEX, type CacheReader } from "../cache.ts";
import { changeSetOf, type ChangeSet, type ObjectResult } from "./change-set.ts";
import { hasDrifted } from "./drift.ts";
import {
  ADOPT_ANNOTATION,
  annotationOf,
  canReference,
  FIELD_MANAGER,
  isOurs,
  KEPT_KINDS,
  labelOf,
  OWNER_LABEL,
  ownerLabelOf,
  PRUNE_ANNOTATION,
  stamp,
  type Owner,
} from "./identity.ts";
import { inParallel } from "./in-parallel.ts";
import { AppliedMemory } from "./memory.ts";
import { handOverOf, holdsOnce, objectOf, ONCE_FIELD_MANAGER, onceOf, withOnce, type Wanted } from "./once.ts";
import { failureOf, notOurs } from "./refusal.ts";
import { wavesOf, type Order, type Planned } from "./waves.ts";

export type ApplyEngineOptions = {
  readonly client: KubeReader & KubeWriter;
  readonly cache: CacheReader;
  /** The owner's own kind, read again before anything is pruned. */
  readonly ownerResource: Resource;
  /** Kinds that may be applied, and that are searched when pruning. */
  readonly resources: readonly Resource[];
  readonly order?: Order | undefined;
  /** Take over fields that others set on our objects; true unless told. */
  readonly force?: boolean | undefined;
  /** Requests under way at once inside a wave. */
  readonly parallel?: number | undefined;
  readonly memory?: AppliedMemory | undefined;
};

/** All that is no longer planned, nothing, or only of some kinds: what is planned is then the whole truth about those kinds alone. */
export type Prune = boolean | { readonly kinds: ReadonlySet<string> };

export type ApplyRequest = {
  readonly owner: Owner;
  readonly planned: Planned;
  /** Absent: prune if something is planned. */
  readonly prune?: Prune | undefined;
  readonly signal: AbortSignal;
};

const DEFAULT_PARALLEL = 4;

export class ApplyEngine {
  readonly #options: ApplyEngineOptions;
  readonly #resources: ReadonlyMap<string, Resource>;
  readonly #memory: AppliedMemory;

  constructor(options: ApplyEngineOptions) {
    this.#options = options;
    this.#resources = new Map(options.resources.map((resource) => [`${resource.group}/${resource.kind}`, resource]));
    this.#memory = options.memory ?? new AppliedMemory();
  }

  async apply({ owner, planned, prune, signal }: ApplyRequest): Promise<ChangeSet> {
    const waves = wavesOf(planned, this.#options.order);
    const results: ObjectResult[] = [];
    for (const wave of waves) {
      const broken = results.some((result) => result.did === "failed");
      const one = (wanted: Wanted) => this.#applyOne({ wanted: stamp(objectOf(wanted), owner), once: onceOf(wanted) }, owner, signal);
      results.push(
        ...(broken
          ? wave.map((wanted) => skipped(objectOf(wanted)))
          : await inParallel(wave, this.#options.parallel ?? DEFAULT_PARALLEL, one)),
      );
    }
    if (prune !== false && (prune !== undefined || waves.length > 0)) {
      const wanted = new Set(waves.flat().map((one) => idOf(objectOf(one))));
      const mine = typeof prune === "object" ? prune.kinds : undefined;
      const candidates = this.#ownedBy(owner).filter(({ object }) => !wanted.has(idOf(object)) && mine?.has(object.kind) !== false);
      results.push(...(await this.#prune(candidates, owner, signal, results)));
    }
    return changeSetOf(results);
  }

  /** Before the owner goes: deletes what the garbage collector will not, because no owner reference could be set on it. */
  async release(owner: Owner, signal: AbortSignal): Promise<ChangeSet> {
    const candidates = this.#ownedBy(owner).filter(({ object }) => !canReference(object, owner.object));
    return changeSetOf(await this.#prune(candidates, owner, signal, []));
  }

  async #applyOne({ wanted, once }: Item, owner: Owner, signal: AbortSignal): Promise<ObjectResult> {
    const resource = this.#resources.get(resourceId(wanted));
    const object = describeObject(wanted);
    if (resource === undefined) {
      return { did: "failed", failure: { object, kind: "undeclared", message: `controller ${owner.controller} does not own this kind` } };
    }
    const found = await this.#find(resource, wanted, signal);
    if (!found.ok) return { did: "failed", failure: failureOf(wanted, found.error) };
    const before = found.value;
    const refusal = before === undefined ? undefined : whyNotOurs(wanted, before, owner);
    if (refusal !== undefined) return { did: "failed", failure: notOurs(wanted, refusal) };
    const holds = before !== undefined && once !== undefined && holdsOnce(before, once);
    if (before !== undefined && !holds && this.#isAsWanted(wanted, before)) {
      if (resource.view === "metadata") this.#memory.remember(idOf(wanted), wanted, before);
      return { did: "unchanged", object };
    }
    const answer = await this.#write({ resource: wholeOf(resource), wanted, once, before }, signal);
    if (!answer.ok) return { did: "failed", failure: failureOf(wanted, answer.error) };
    this.#memory.remember(idOf(wanted), wanted, answer.value);
    return { did: whatHappened(before, answer.value), object };
  }

  /** Asked again before it is made: the cache may not have heard of an object that somebody has just created. */
  async #find(resource: Resource, wanted: KubeObject, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const cached = this.#options.cache.get(resource, keyOf(wanted));
    if (cached !== undefined && resource.view === undefined) return ok(cached);
    // nothing happened to it since it was as wanted, so what it holds is known though it is not in the cache
    if (cached !== undefined && this.#memory.isUntouched(idOf(wanted), wanted, cached)) return ok({ ...wanted, metadata: cached.metadata });
    const live = await this.#options.client.get(wholeOf(resource), keyOf(wanted), { signal });
    return live.ok || live.error.kind !== "not-found" ? live : ok(undefined);
  }

  async #write({ resource, wanted, once, before }: Write, signal: AbortSignal): Promise<Result<KubeObject, KubeError>> {
    const { client, force = true } = this.#options;
    const options = { fieldManager: FIELD_MANAGER, force: before !== undefined && force, signal };
    if (once === undefined) return client.apply<KubeObject>(resource, wanted, options);
    const made = before === undefined ? await client.apply<KubeObject>(resource, withOnce(wanted, once), options) : ok(before);
    if (!made.ok) return made;
    if (holdsOnce(made.value, once)) {
      const taken = await client.apply<KubeObject>(resource, handOverOf(made.value, once), { fieldManager: ONCE_FIELD_MANAGER, signal });
      // a conflict means that somebody else has them by now, which is what they are for
      if (!taken.ok && taken.error.kind !== "conflict") return taken;
    }
    return client.apply<KubeObject>(resource, wanted, { ...options, force });
  }

  #isAsWanted(wanted: KubeObject, live: KubeObject): boolean {
    return !hasDrifted(wanted, live) || this.#memory.isAsApplied(idOf(wanted), wanted, live);
  }

  #ownedBy(owner: Owner): readonly Candidate[] {
    const label = ownerLabelOf(owner);
    return [...this.#resources.values()].flatMap((resource) =>
      this.#options.cache
        .byIndex(resource, OWNER_INDEX, label)
        .filter((object) => mayPrune(object))
        .map((object) => ({ resource, object })),
    );
  }

  async #prune(
    candidates: readonly Candidate[],
    owner: Owner,
    signal: AbortSignal,
    earlier: readonly ObjectResult[],
  ): Promise<readonly ObjectResult[]> {
    if (candidates.length === 0) return [];
    const broken = earlier.some((result) => result.did === "failed");
    // a plan made from an old spec would delete what the new one wants
    if (broken || !(await this.#isCurrent(owner.object, signal))) return candidates.map(({ object }) => skipped(object));
    const results = await inParallel(candidates, this.#options.parallel ?? DEFAULT_PARALLEL, (one) => this.#pruneOne(one, owner, signal));
    return results.flatMap((result) => result ?? []);
  }

  async #pruneOne({ resource, object }: Candidate, owner: Owner, signal: AbortSignal): Promise<ObjectResult | undefined> {
    const live = await this.#options.client.get<KubeObject>(resource, keyOf(object), { signal });
    if (!live.ok) return live.error.kind === "not-found" ? undefined : { did: "failed", failure: failureOf(object, live.error) };
    if (!isOurs(live.value, owner) || !mayPrune(live.value)) return undefined;
    const { uid, resourceVersion } = live.value.metadata;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const gone = await this.#options.client.delete(resource, keyOf(object), { preconditions, propagation: "Background", signal });
    if (!gone.ok) return { did: "failed", failure: failureOf(object, gone.error) };
    this.#memory.forget(idOf(object));
    return { did: "pruned", object: describeObject(object) };
  }

  async #isCurrent(owner: KubeObject, signal: AbortSignal): Promise<boolean> {
    const live = await this.#options.client.get<KubeObject>(this.#options.ownerResource, keyOf(owner), { signal });
    return live.ok && live.value.metadata.uid === owner.metadata.uid && live.value.metadata.generation === owner.metadata.generation;
  }
}

type Item = { readonly wanted: KubeObject; readonly once: JsonObject | undefined };
type Write = Item & { readonly resource: Resource; readonly before: KubeObject | undefined };
type Candidate = { readonly resource: Resource; readonly object: KubeObject };

function whyNotOurs(wanted: KubeObject, live: KubeObject, owner: Owner): string | undefined {
  const label = labelOf(live, OWNER_LABEL);
  if (label === ownerLabelOf(owner)) return undefined;
  if (label !== undefined) return `it belongs to another owner (${label})`;
  if (annotationOf(live, ADOPT_ANNOTATION) === "true" || annotationOf(wanted, ADOPT_ANNOTATION) === "true") return undefined;
  return `it exists already and Lattice did not make it; delete it, or annotate it with ${ADOPT_ANNOTATION}=true to hand it over`;
}

function mayPrune(object: KubeObject): boolean {
  return !isBeingDeleted(object) && !KEPT_KINDS.has(object.kind) && annotationOf(object, PRUNE_ANNOTATION) !== "never";
}

function whatHappened(before: KubeObject | undefined, after: KubeObject): "created" | "configured" | "unchanged" {
  if (before === undefined) return "created";
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? "unchanged" : "configured";
}

/** To read and write a whole object of a kind that is watched by its metadata alone. */
function wholeOf(resource: Resource): Resource {
  const { view: _view, ...whole } = resource;
  return whole;
}

function skipped(object: KubeObject): ObjectResult {
  return { did: "skipped", object: describeObject(object) };
}

function resourceId(object: KubeObject): string {
  const slash = object.apiVersion.indexOf("/");
  return `${slash < 0 ? "" : object.apiVersion.slice(0, slash)}/${object.kind}`;
}

function idOf(object: KubeObject): string {
  return `${resourceId(object)}/${keyText(keyOf(object))}`;
}

/**
 * Brings one object to what is wanted: reads it, refuses one that is not this owner's, and writes it only where it differs.
 *
 * An object that exists and is not this owner's is reported, not taken: what a person made is never touched. Of a kind that is
 * watched by its metadata alone (Secrets), the object itself is read when something happened to it.
 */
import { ok, type Result } from "#base";
import { describeObject, keyOf, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import type { CacheReader } from "../cache.ts";
import type { ObjectResult } from "./change-set.ts";
import { hasDrifted } from "./drift.ts";
import { ADOPT_ANNOTATION, annotationOf, FIELD_MANAGER, idOf, labelOf, OWNER_LABEL, ownerLabelOf, stamp, type Owner } from "./identity.ts";
import type { AppliedMemory } from "./memory.ts";
import { handOverOf, holdsOnce, objectOf, ONCE_FIELD_MANAGER, onceOf, withOnce, type Wanted } from "./once.ts";
import { failureOf, notOurs } from "./refusal.ts";

export type ObjectWriterOptions = {
  readonly client: KubeReader & KubeWriter;
  readonly cache: CacheReader;
  readonly force: boolean;
  readonly memory: AppliedMemory;
};

export class ObjectWriter {
  readonly #options: ObjectWriterOptions;

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  async write(resource: Resource, planned: Wanted, owner: Owner, signal: AbortSignal): Promise<ObjectResult> {
    const { memory } = this.#options;
    const [wanted, once] = [stamp(objectOf(planned), owner), onceOf(planned)];
    const object = describeObject(wanted);
    const found = await this.#find(resource, wanted, signal);
    if (!found.ok) return { did: "failed", failure: failureOf(wanted, found.error) };
    const before = found.value;
    const refusal = before === undefined ? undefined : whyNotOurs(wanted, before, owner);
    if (refusal !== undefined) return { did: "failed", failure: notOurs(wanted, refusal) };
    const holds = before !== undefined && once !== undefined && holdsOnce(before, once);
    if (before !== undefined && !holds && this.#isAsWanted(wanted, before)) {
      if (resource.view === "metadata") memory.remember(idOf(wanted), wanted, before);
      return { did: "unchanged", object };
    }
    const answer = await this.#apply({ resource: wholeOf(resource), wanted, once, before }, signal);
    if (!answer.ok) return { did: "failed", failure: failureOf(wanted, answer.error) };
    memory.remember(idOf(wanted), wanted, answer.value);
    return { did: whatHappened(before, answer.value), object };
  }

  /** Asked again before it is made: the cache may not have heard of an object that somebody has just created. */
  async #find(resource: Resource, wanted: KubeObject, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const cached = this.#options.cache.get(resource, keyOf(wanted));
    if (cached !== undefined && resource.view === undefined) return ok(cached);
    // nothing happened to it since it was as wanted, so what it holds is known though it is not in the cache
    if (cached !== undefined && this.#options.memory.isUntouched(idOf(wanted), wanted, cached))
      return ok({ ...wanted, metadata: cached.metadata });
    const live = await this.#options.client.get(wholeOf(resource), keyOf(wanted), { signal });
    return live.ok || live.error.kind !== "not-found" ? live : ok(undefined);
  }

  async #apply({ resource, wanted, once, before }: Write, signal: AbortSignal): Promise<Result<KubeObject, KubeError>> {
    const { client, force } = this.#options;
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
    return !hasDrifted(wanted, live) || this.#options.memory.isAsApplied(idOf(wanted), wanted, live);
  }
}

type Write = {
  readonly resource: Resource;
  readonly wanted: KubeObject;
  readonly once: JsonObject | undefined;
  readonly before: KubeObject | undefined;
};

function whyNotOurs(wanted: KubeObject, live: KubeObject, owner: Owner): string | undefined {
  const label = labelOf(live, OWNER_LABEL);
  if (label === ownerLabelOf(owner)) return undefined;
  if (label !== undefined) return `it belongs to another owner (${label})`;
  if (annotationOf(live, ADOPT_ANNOTATION) === "true" || annotationOf(wanted, ADOPT_ANNOTATION) === "true") return undefined;
  return `it exists already and Lattice did not make it; delete it, or annotate it with ${ADOPT_ANNOTATION}=true to hand it over`;
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

/**
 * Applies one object: reads it, rejects one of another owner, writes it only where it differs, and removes fields that
 * another client added where they are not allowed.
 *
 * An existing object of another owner is reported and not changed: objects of users are never touched. Of a kind that is
 * watched by metadata only (Secrets), the object itself is read when it changed.
 */
import { ok, type Result } from "#base";
import { describeObject, jsonEqual, keyOf, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import type { CacheReader } from "../cache.ts";
import type { ObjectResult } from "./change-set.ts";
import { hasDrifted } from "./drift.ts";
import { describeFields, removalOfForeign } from "./foreign-fields.ts";
import {
  ADOPT_ANNOTATION,
  annotationOf,
  APPLIED_ANNOTATION,
  FIELD_MANAGER,
  idOf,
  hasForeignLabel,
  isLabelledByUs,
  isOwnedBy,
  labelOf,
  OWNER_LABEL,
  stamp,
  type ApplyOwner,
} from "../identity.ts";
import type { AppliedMemory } from "./memory.ts";
import { handOverOf, holdsOnce, objectOf, ONCE_FIELD_MANAGER, onceOf, withOnce, type WantedObject } from "./once.ts";
import { removeOwnerReference } from "./owner-references.ts";
import { describeForeign, failureOf, notOurs } from "./refusal.ts";

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

  async write(resource: Resource, planned: WantedObject, owner: ApplyOwner, options: ObjectWriteOptions): Promise<ObjectResult> {
    const { signal, whole = false, adopt = false } = options;
    const [wanted, once] = [stamp(objectOf(planned), owner), onceOf(planned)];
    const found = await this.#find(resource, wanted, signal);
    if (!found.ok) return { did: "failed", failure: failureOf(wanted, found.error) };
    const before = found.value;
    const refusal = before === undefined ? undefined : ownershipError(wanted, before, owner, adopt);
    if (refusal !== undefined) return { did: "failed", failure: notOurs(wanted, refusal) };
    const written = await this.#bring({ resource, wanted, once, before }, owner, signal);
    if (!written.ok) return { did: "failed", failure: failureOf(wanted, written.error) };
    // of a kind that is watched by metadata only, the wanted object is compared
    const asIs: Result<CleanupResult, KubeError> = ok({ after: written.value, healed: {}, clean: true });
    const cleaned = resource.view === "metadata" ? asIs : await this.#clean({ resource, wanted }, written.value, options);
    if (!cleaned.ok) return { did: "failed", failure: failureOf(wanted, cleaned.error) };
    const { after, healed, clean } = cleaned.value;
    if (clean && (after !== before || resource.view === "metadata")) this.#options.memory.remember(idOf(wanted), wanted, after);
    const edited = whole && before !== undefined ? revertedFields(wanted, before, written.value) : {};
    return { did: actionOf(before, after), object: describeObject(wanted), ...edited, ...healed };
  }

  /** The live or written object: as wanted, with fields that other clients added. */
  async #bring(item: Write, owner: ApplyOwner, signal: AbortSignal): Promise<Result<KubeObject, KubeError>> {
    const { wanted, once, before } = item;
    const resource = wholeOf(item.resource);
    const holds = before !== undefined && once !== undefined && holdsOnce(before, once);
    const isDone = before !== undefined && !holds && this.#isAsWanted(wanted, before, owner);
    const live = isDone ? ok(before) : await this.#apply({ ...item, resource }, signal);
    return live.ok ? removeOwnerReference({ client: this.#options.client, resource, live: live.value, owner, signal }) : live;
  }

  /**
   * Removes fields that another client added. A response may contain fields that were added meanwhile, so it is checked again. A field that
   * is still there unchanged is a default of the API server, and stays.
   */
  async #clean(
    { resource, wanted }: Pick<Write, "resource" | "wanted">,
    live: KubeObject,
    options: ObjectWriteOptions,
  ): Promise<Result<CleanupResult, KubeError>> {
    const { client, memory } = this.#options;
    const { whole = false, signal } = options;
    let [after, previous, healed]: readonly [KubeObject, JsonObject | undefined, RemovedFields] = [live, undefined, {}];
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const patch = removalOfForeign(wanted, after, whole);
      if (patch === undefined || (previous !== undefined && jsonEqual(patch, previous))) return ok({ after, healed, clean: true });
      if (memory.isAsApplied(idOf(wanted), wanted, after)) return ok({ after, healed, clean: true });
      const answer = await client.patch<KubeObject>(
        resource,
        keyOf(wanted),
        { type: "merge", patch },
        { fieldManager: FIELD_MANAGER, signal },
      );
      if (!answer.ok) return answer;
      if (answer.value.metadata.resourceVersion !== after.metadata.resourceVersion) healed = { healed: describeFields(patch) };
      [after, previous] = [answer.value, patch];
    }
    return ok({ after, healed, clean: false });
  }

  /** Read again before it is created: the cache may lack an object that was just created. */
  async #find(resource: Resource, wanted: KubeObject, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const cached = this.#options.cache.get(resource, keyOf(wanted));
    if (cached !== undefined && resource.view === undefined) return ok(cached);
    // unchanged since it was as wanted, so its contents are known though they are not in the cache
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
      // a conflict means that another manager owns them by now, as intended
      if (!taken.ok && taken.error.kind !== "conflict") return taken;
    }
    return client.apply<KubeObject>(resource, wanted, { ...options, force });
  }

  /**
   * Without owner references, a label that another client set (a move, a restore) is applied again: only our own proves that the object may be
   * deleted, and no garbage collector deletes it.
   */
  #isAsWanted(wanted: KubeObject, live: KubeObject, owner: ApplyOwner): boolean {
    const isClaimed = owner.ownerReferences !== "none" || isLabelledByUs(live);
    return (isClaimed && !hasDrifted(wanted, live)) || this.#options.memory.isAsApplied(idOf(wanted), wanted, live);
  }
}

export type ObjectWriteOptions = {
  readonly signal: AbortSignal;
  /** All fields but metadata and status are ours. */
  readonly whole?: boolean;
  /** The name is reserved: the object is ours, even if another client created it. */
  readonly adopt?: boolean;
};

/** Attempts to remove fields that are added again meanwhile; after that the next pass continues. */
const MAX_ROUNDS = 3;

type RemovedFields = { readonly healed?: string };
type CleanupResult = { readonly after: KubeObject; readonly healed: RemovedFields; readonly clean: boolean };

type Write = {
  readonly resource: Resource;
  readonly wanted: KubeObject;
  readonly once: JsonObject | undefined;
  readonly before: KubeObject | undefined;
};

function ownershipError(wanted: KubeObject, live: KubeObject, owner: ApplyOwner, adopt: boolean): string | undefined {
  if (isOwnedBy(live, owner) || (adopt && hasForeignLabel(live))) return undefined;
  const label = labelOf(live, OWNER_LABEL);
  if (label !== undefined) return `it belongs to another owner (${label})`;
  if (annotationOf(live, ADOPT_ANNOTATION) === "true" || annotationOf(wanted, ADOPT_ANNOTATION) === "true") return undefined;
  return describeForeign(live);
}

/** Fields that had to be applied again although the same was applied before: another client had changed them. */
function revertedFields(wanted: KubeObject, before: KubeObject, after: KubeObject): RemovedFields {
  const same = annotationOf(before, APPLIED_ANNOTATION) === annotationOf(wanted, APPLIED_ANNOTATION);
  if (!same || before.metadata.resourceVersion === after.metadata.resourceVersion) return {};
  const patch = removalOfForeign(wanted, before, true);
  return patch === undefined ? {} : { healed: describeFields(patch) };
}

function actionOf(before: KubeObject | undefined, after: KubeObject): "created" | "configured" | "unchanged" {
  if (before === undefined) return "created";
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? "unchanged" : "configured";
}

/** Reads and writes whole objects of a kind that is watched by metadata only. */
function wholeOf(resource: Resource): Resource {
  const { view: _view, ...whole } = resource;
  return whole;
}

/**
 * DELETE of one object: it is removed at once, or marked until its finalizers are removed or its grace period has passed.
 *
 * The propagation policy becomes a finalizer ("orphan", "foregroundDeletion") for the garbage collector. This server has none, so the object
 * stays until a client removes the finalizer, as on an API server without a controller manager.
 */
import { ok, timestamp, whenOk, whenThere, type Later, type Result } from "#base";
import { fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { CLEANUP_FINALIZER, terminating } from "../custom-resources/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { attributesOf, deleteOptionsOf } from "./attributes.ts";
import { beginChange, oneFromStorage, oneToStorage, withMetadataOf } from "../protocol/convert-objects.ts";
import { inVersion, readStored, storeKey, type RequestContext } from "../protocol/core.ts";
import type { DeleteRequestOptions } from "./delete-options.ts";
import { asJsonObject, asObject } from "../protocol/managed-kinds.ts";
import { finalizersOf, metaNumber, metaText, withMetadata } from "../protocol/object-meta.ts";
import { conflict, internalError, notFound, refuse, type Failure } from "../protocol/status.ts";
import type { Store, Stored } from "../store/index.ts";

export type Deleted = {
  /** In the version of the request. */
  readonly object: KubeObject;
  readonly gone: boolean;
};

type Deletion = { readonly call: RequestContext; readonly stored: Stored; readonly options: DeleteRequestOptions };

/** `name`: for admission; "" for the objects of a collection. */
export function deleteObject(
  call: RequestContext,
  stored: Stored,
  options: DeleteRequestOptions,
  name = call.target.name ?? "",
): Later<Result<Deleted, Failure>> {
  const { type } = call.target;
  return whenOk(oneFromStorage(type, stored.object), () => {
    const meant = checkPreconditions(type, stored.object, options);
    if (!meant.ok) return meant;
    // a real server reads the object for the preconditions, and again for the change
    return whenOk(beginChange(type, stored.object, options.dryRun), () => {
      const shown = { stored, options, name, old: inVersion(type, stored.object) };
      return whenThere(admit(call, shown), (admitted): Later<Result<Deleted, Failure>> => {
        if (admitted.ok) return deleteShown(call, shown);
        return options.dryRun ? admitted : whenOk(oneFromStorage(type, stored.object), () => admitted);
      });
    });
  });
}

type Shown = { readonly stored: Stored; readonly options: DeleteRequestOptions; readonly name: string; readonly old: KubeObject };

function admit(call: RequestContext, { stored, options, name, old }: Shown): Later<Result<unknown, Failure>> {
  const { core, target } = call;
  const admissionOptions = () => deleteOptionsOf(target.type, stored.object, options);
  const attributes = attributesOf(call, {
    operation: "DELETE",
    name,
    dryRun: options.dryRun,
    object: undefined,
    old,
    options: admissionOptions,
  });
  return whenOk(core.admission.mutate(attributes), () => core.admission.validate(attributes));
}

function deleteShown(call: RequestContext, { stored, options, name }: Shown): Later<Result<Deleted, Failure>> {
  const { resource } = call.target.type;
  const again = (): Later<Result<Deleted, Failure>> => {
    const current = readStored(call, stored.object.metadata.name);
    if (current === undefined) return notFound({ resource, name: stored.object.metadata.name });
    return deleteObject(call, current, options, name);
  };
  const isCurrent = () => readStored(call, stored.object.metadata.name)?.revision === stored.revision;
  // the object has changed since a webhook was called with it: the webhook is called again
  if (!isCurrent()) return again();
  return whenThere(deleteAdmitted(call, stored, options), (deleted) => (deleted === CHANGED ? again() : deleted));
}

/** For an eviction, which was admitted as an Eviction. */
export function deleteWithoutAdmission(
  call: RequestContext,
  stored: Stored,
  options: DeleteRequestOptions,
): Later<Result<Deleted, Failure>> {
  const meant = checkPreconditions(call.target.type, stored.object, options);
  if (!meant.ok) return meant;
  return whenThere(deleteAdmitted(call, stored, options), (deleted) => (deleted === CHANGED ? internalError(CHANGED_TEXT) : deleted));
}

const CHANGED_TEXT = "the object changed while it was deleted";
/** Another write happened during the call of a conversion webhook. */
const CHANGED = internalError(CHANGED_TEXT);

function deleteAdmitted(call: RequestContext, stored: Stored, options: DeleteRequestOptions): Later<Result<Deleted, Failure>> {
  const step = { call, stored, options };
  const waits = isPending(stored.object) && !canShorten(stored.object, options);
  if (waits || (metaText(stored.object, "deletionTimestamp") !== "" && heldBySpec(stored.object)))
    return ok({ object: inVersion(call.target.type, stored.object), gone: false });
  const asked = finalizersAfter(call.target.type, stored.object, options);
  const fresh = isDefinition(stored.object) && metaText(stored.object, "deletionTimestamp") === "";
  const finalizers = fresh && !asked.includes(CLEANUP_FINALIZER) ? [...asked, CLEANUP_FINALIZER] : asked;
  const grace = graceOf(step);
  const held = heldBySpec(stored.object);
  if (finalizers.length === 0 && !held && grace === undefined) return remove(step, stored);
  return mark(step, finalizers, grace, held);
}

export function checkPreconditions(
  type: ResourceType,
  object: KubeObject,
  { uid, resourceVersion }: DeleteRequestOptions,
): Result<void, Failure> {
  const preconditionFailed = (why: string) => {
    const { group, kind } = type.resource;
    const { name } = object.metadata;
    const message = `Operation cannot be fulfilled on ${group === "" ? kind : `${kind}.${group}`} "${name}": ${why}`;
    return refuse({ code: 409, reason: "Conflict", message, details: { name, ...(group === "" ? {} : { group }), kind } });
  };
  const current = { uid: metaText(object, "uid"), version: metaText(object, "resourceVersion") };
  if (type.collection === NAMESPACES) return checkNamespacePreconditions(type, object, { uid, resourceVersion });
  if (uid !== undefined && uid !== current.uid) {
    return preconditionFailed(
      `the UID in the precondition (${uid}) does not match the UID in record (${current.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== current.version) {
    return preconditionFailed(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${current.version}). The object might have been modified`,
    );
  }
  return ok(undefined);
}

/** Namespaces have their own deletion code on a real server, with other messages. */
function checkNamespacePreconditions(
  type: ResourceType,
  object: KubeObject,
  wanted: Pick<DeleteRequestOptions, "uid" | "resourceVersion">,
): Result<void, Failure> {
  for (const [name, field] of [
    ["UID", "uid"],
    ["ResourceVersion", "resourceVersion"],
  ] as const) {
    const [asked, found] = [wanted[field], metaText(object, field)];
    const why = `Precondition failed: ${name} in precondition: ${asked ?? ""}, ${name} in object meta: ${found}`;
    if (asked !== undefined && asked !== found) return conflict({ resource: type.resource, name: object.metadata.name }, why);
  }
  return ok(undefined);
}

/** Already deleted, with grace time left. */
function isPending(object: KubeObject): boolean {
  return metaText(object, "deletionTimestamp") !== "" && (metaNumber(object, "deletionGracePeriodSeconds") ?? 0) > 0;
}

function canShorten(object: KubeObject, { gracePeriodSeconds }: DeleteRequestOptions): boolean {
  return gracePeriodSeconds !== undefined && gracePeriodSeconds < (metaNumber(object, "deletionGracePeriodSeconds") ?? 0);
}

const NAMESPACES = "/namespaces";
const GC_FINALIZERS = new Set(["orphan", "foregroundDeletion"]);

function finalizersAfter(type: ResourceType, object: KubeObject, options: DeleteRequestOptions): readonly string[] {
  const before = finalizersOf(object);
  const wanted = policyOf(type, before, options);
  const kept = before.filter((finalizer) => !GC_FINALIZERS.has(finalizer));
  const after = wanted === undefined ? kept : [...kept, wanted];
  return after.length === before.length && after.every((finalizer) => before.includes(finalizer)) ? before : after;
}

/** The policy of this request, else that of an earlier delete, else the default of the kind. */
function policyOf(
  type: ResourceType,
  before: readonly string[],
  options: DeleteRequestOptions,
): "orphan" | "foregroundDeletion" | undefined {
  if (options.orphanDependents !== undefined) {
    if (options.orphanDependents) return "orphan";
    return type.collection === NAMESPACES ? "foregroundDeletion" : undefined;
  }
  if (options.propagationPolicy === "Orphan") return "orphan";
  if (options.propagationPolicy === "Foreground") return "foregroundDeletion";
  if (options.propagationPolicy === "Background") return undefined;
  const known = before.find((finalizer) => GC_FINALIZERS.has(finalizer));
  if (known === "orphan" || known === "foregroundDeletion") return known;
  return type.deletion.defaultPropagation === "Orphan" ? "orphan" : undefined;
}

/** Seconds until removal; undefined for kinds without a grace period. */
function graceOf({ call, stored, options }: Deletion): number | undefined {
  const { type } = call.target;
  if (type.collection !== "/pods" || isOverdue(stored.object)) return undefined;
  const byDefault = type.deletion.gracePeriodSeconds(stored.object);
  if (byDefault === 0) return 0;
  const asked = options.gracePeriodSeconds ?? byDefault;
  return asked < 0 ? 1 : asked;
}

/** Already deleted, and kept only by finalizers: a later delete grants no new grace period. */
function isOverdue(object: KubeObject): boolean {
  return metaText(object, "deletionTimestamp") !== "" && !isPending(object);
}

/** A definition is kept until its objects are removed; the server adds its own finalizer for that. */
function isDefinition(object: KubeObject): boolean {
  return object.kind === "CustomResourceDefinition" && object.apiVersion.startsWith("apiextensions.k8s.io/");
}

/** A namespace is kept until its content is removed. */
function heldBySpec(object: KubeObject): boolean {
  if (object.kind !== "Namespace" || object.apiVersion !== "v1") return false;
  if (metaText(object, "deletionTimestamp") === "") return true; // the first delete only sets deletionTimestamp, even without finalizers
  const finalizers = fieldAt(object, "spec", "finalizers");
  return Array.isArray(finalizers) && finalizers.length > 0;
}

function mark(step: Deletion, finalizers: readonly string[], grace: number | undefined, held: boolean): Later<Result<Deleted, Failure>> {
  const { call, stored, options } = step;
  const { type } = call.target;
  const before = stored.object;
  const next = marked(step, finalizers, grace);
  if (next === undefined)
    return whenOk(convertMarked(type, { before, next: before }, options), () =>
      whenOk(unchanged(type, before, options), (object) => ok({ object, gone: false })),
    );
  const stays = finalizers.length > 0 || held || (grace ?? 0) > 0;
  return whenOk(convertMarked(type, { before, next }, options), (converted) => {
    if (options.dryRun) return whenOk(shownAsIfStored(type, converted, before), (object) => ok({ object, gone: !stays }));
    const key = storeKey(call.target, before.metadata.name);
    const object = (revision: number) => withMetadata(converted, { resourceVersion: String(revision) });
    const written = call.core.store.write({ collection: type.collection, key, expected: stored.revision, object });
    if (!written.ok || written.value === undefined) return notWritten(written);
    const after = written.value;
    return whenOk(oneFromStorage(type, after.object), (shown) => {
      if (stays) return ok({ object: shown, gone: false });
      return whenOk(beginChange(type, after.object, false), () => remove(step, after));
    });
  });
}

type Marked = { readonly before: KubeObject; readonly next: KubeObject };

/** The stored object of a metadata change. A webhook converts it too, because a real server changes the object in the requested version. */
function convertMarked(type: ResourceType, { before, next }: Marked, { dryRun }: DeleteRequestOptions): Later<Result<KubeObject, Failure>> {
  return type.conversion === undefined ? ok(next) : oneToStorage(type, withMetadataOf(type, next, before), dryRun);
}

function shownAsIfStored(type: ResourceType, converted: KubeObject, before: KubeObject): Later<Result<KubeObject, Failure>> {
  return type.conversion === undefined ? ok(withMetadataOf(type, converted, before)) : oneFromStorage(type, converted, true);
}

/** As an update that changes nothing: a real server reads the object twice, to compare and for the response. */
function unchanged(type: ResourceType, before: KubeObject, { dryRun }: DeleteRequestOptions): Later<Result<KubeObject, Failure>> {
  const read = oneFromStorage(type, before, dryRun);
  return dryRun ? read : whenOk(read, () => oneFromStorage(type, before));
}

/** Undefined: already marked, nothing changes. */
function marked(step: Deletion, finalizers: readonly string[], grace: number | undefined): KubeObject | undefined {
  const { call, stored } = step;
  const before = stored.object;
  const first = metaText(before, "deletionTimestamp") === "";
  if (!first && grace === undefined && sameFinalizers(finalizers, before)) return undefined;
  const generation = metaNumber(before, "generation");
  const isNamespace = before.kind === "Namespace" && before.apiVersion === "v1";
  // a real server has its own code for these two kinds, which sets neither grace period nor generation
  const plain = isNamespace || isDefinition(before);
  const next = withMetadata(before, {
    finalizers,
    deletionTimestamp: deletionTime(step, grace ?? 0),
    ...(plain ? {} : { deletionGracePeriodSeconds: grace ?? 0 }),
    ...(first && generation !== undefined && !plain ? { generation: generation + 1 } : {}),
  });
  return isNamespace
    ? asObject({ ...asJsonObject(next), status: { ...statusOf(next), phase: "Terminating" } })
    : withTerminatingCondition(next, call);
}

function notWritten(written: ReturnType<Store["write"]>): Result<never, Failure> {
  if (written.ok) return internalError("the object was not stored");
  return written.error.kind === "storage" ? internalError(written.error.message) : CHANGED;
}

function sameFinalizers(finalizers: readonly string[], object: KubeObject): boolean {
  const before = finalizersOf(object);
  return before.length === finalizers.length && finalizers.every((finalizer) => before.includes(finalizer));
}

function statusOf(object: KubeObject): JsonObject {
  const status = fieldAt(object, "status");
  return isJsonObject(status) ? status : {};
}

/** A definition gets the condition Terminating. */
function withTerminatingCondition(object: KubeObject, { core }: RequestContext): KubeObject {
  return isDefinition(object) ? asObject(terminating(asJsonObject(object), timestamp(core.clock))) : object;
}

/** A second delete can only make the deletionTimestamp earlier, but not earlier than now. */
function deletionTime({ call, stored }: Deletion, grace: number): string {
  const { clock } = call.core;
  const known = Date.parse(metaText(stored.object, "deletionTimestamp"));
  const now = clock.now();
  const start = Number.isNaN(known) ? now : known - (metaNumber(stored.object, "deletionGracePeriodSeconds") ?? 0) * 1_000;
  if (Number.isNaN(known) && grace === 0) return timestamp(clock);
  const due = Math.max(start + grace * 1_000, Number.isNaN(known) ? now : Math.min(now, known));
  return new Date(due).toISOString().replace(/\.\d{3}Z$/, "Z");
}

function remove({ call, options }: Deletion, stored: Stored): Later<Result<Deleted, Failure>> {
  const { core, target } = call;
  const { type } = target;
  if (options.dryRun) return ok({ object: inVersion(type, stored.object), gone: true });
  const key = storeKey(target, stored.object.metadata.name);
  const written = core.store.write({ collection: type.collection, key, expected: stored.revision, object: undefined });
  if (!written.ok) return notWritten(written);
  const last = withMetadata(stored.object, { resourceVersion: String(core.store.revision) });
  return whenOk(oneFromStorage(type, last), (object) => ok({ object, gone: true }));
}

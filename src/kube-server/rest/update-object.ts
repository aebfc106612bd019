/**
 * Updates an object: tracks field owners, prepares, validates, stores. Used by PUT, the four patches and the subresources.
 *
 * Two cases are not a write: an update without changes keeps the resourceVersion and sends no event, and the removal of the last finalizer of
 * a deleted object removes the object.
 */
import { ok, timestamp, whenOk, whenThere, type Later, type Result } from "#base";
import { jsonEqual, type KubeObject } from "#kube";
import { keepTimesIfUnchanged, trackUpdate, withoutManagedFields } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { attributesOf } from "./attributes.ts";
import { checkObjectSize } from "./body-parts.ts";
import { beginChange, oneFromStorage, oneToStorage } from "../protocol/convert-objects.ts";
import { inVersion, nextStep, readStored, storeKey, type RequestContext } from "../protocol/core.ts";
import { shareWith } from "../share-json.ts";
import { asJsonObject, asObject } from "../protocol/managed-kinds.ts";
import { matchNamespace } from "../protocol/namespaces.ts";
import { finalizersOf, metaNumber, metaText, withMetadata, withoutDuplicateOwners } from "../protocol/object-meta.ts";
import { storagePath } from "./storage-path.ts";
import { conflict, internalError, invalid, MODIFIED, subjectOf, errorWithoutReason, type Failure } from "../protocol/status.ts";
import { withVersions } from "./tracked-versions.ts";
import type { WriteOptions } from "../protocol/write-options.ts";
import type { Attributes } from "../protocol/admission-port.ts";
import type { Stored } from "../store/index.ts";

export type ChangedObject = {
  readonly previous: Stored;
  /** In the version of the request, decoded and with defaults. */
  readonly next: KubeObject;
  readonly options: Pick<WriteOptions, "dryRun" | "fieldManager">;
  readonly tracked: boolean;
  /** For validation and preparation; managedFields have the subresource of the target. */
  readonly subresource?: string | undefined;
  /** Replaces the preparation of the kind, for subresources with rules of their own. */
  readonly prepare?: (next: KubeObject, previous: KubeObject) => KubeObject;
  /** A change by the server itself to an object that is known to be valid. */
  readonly trusted?: boolean;
  /** What admission receives instead of the object, and how its changes are written back: a Scale for the replicas of an object. */
  readonly admissionView?: AdmissionView;
};

export type AdmissionView = {
  readonly kind: Attributes["kind"];
  readonly subresource: string;
  readonly of: (object: KubeObject) => KubeObject;
  readonly back: (object: KubeObject, changed: KubeObject) => KubeObject;
};

export function updateObject(call: RequestContext, change: ChangedObject): Later<Result<KubeObject, Failure>> {
  const { type } = call.target;
  const previous = inVersion(type, change.previous.object);
  const clean = sharing(
    previous,
    withoutDuplicateOwners(change.next, (text) => call.warnings.add(text)),
  );
  const owned = change.tracked ? clean : nextStep(call, () => trackWriter(call, clean, previous, change.options.fieldManager));
  return whenThere(owned, (next) => nextStep(call, () => admitAndWrite(call, { change, previous }, next)));
}

function admitAndWrite(call: RequestContext, update: Update, owned: KubeObject): Later<Result<KubeObject, Failure>> {
  const { change } = update;
  if (change.trusted === true) return whenOk(prepare(call, update, owned), (next) => replace(call, change, next));
  const { admission } = call.core;
  return whenOk(admission.mutate(updateAttributes(call, update, owned)), (admitted) => {
    const object = fromView(change, owned, admitted);
    // a plugin that changed the object made new parts that may equal the old ones
    return whenOk(prepare(call, update, object === owned ? object : sharing(update.previous, object)), (prepared) =>
      nextStep(call, () => whenOk(admission.validate(updateAttributes(call, update, prepared)), () => replace(call, change, prepared))),
    );
  });
}

function sharing(previous: KubeObject, next: KubeObject): KubeObject {
  return shareWith(asJsonObject(previous), asJsonObject(next)) as unknown as KubeObject;
}

type Update = { readonly change: ChangedObject; readonly previous: KubeObject };

function updateAttributes(call: RequestContext, { change, previous }: Update, next: KubeObject): Attributes {
  const { admissionView: view, options } = change;
  return attributesOf(call, {
    operation: "UPDATE",
    name: previous.metadata.name,
    dryRun: options.dryRun,
    object: view === undefined ? next : view.of(next),
    old: view === undefined ? previous : view.of(previous),
    ...(view === undefined ? {} : { kind: view.kind, subresource: view.subresource }),
  });
}

function fromView({ admissionView: view }: ChangedObject, next: KubeObject, admitted: KubeObject | undefined): KubeObject {
  if (admitted === undefined) return next;
  return view === undefined ? admitted : view.back(next, admitted);
}

/** Prepares and validates the change by the rules of its kind. */
function prepare(call: RequestContext, { change, previous }: Update, next: KubeObject): Later<Result<KubeObject, Failure>> {
  const { type, subresource } = call.target;
  const view = change.subresource ?? subresource;
  const clean = withoutDuplicateOwners(next, (text) => call.warnings.add(text), " after mutating admission happens");
  const versioned = checkVersion(call, clean, previous);
  if (!versioned.ok) return versioned;
  const problem = missingTypeMeta(clean);
  if (problem !== undefined) return internalError(problem);
  const placed = matchNamespace(call, versioned.value);
  if (!placed.ok) return placed;
  const own =
    change.prepare ?? ((object: KubeObject, old: KubeObject) => type.prepareForUpdate(object, old, view, timestamp(call.core.clock)));
  const prepared = carryOver(type, own(placed.value, previous), previous, view !== "status" && change.trusted !== true);
  const validated = change.trusted === true ? [] : (type.validatePaced ?? type.validate)(prepared, previous, view);
  return whenThere(validated, (causes): Result<KubeObject, Failure> => {
    if (causes.length > 0) return invalid(subjectOf(type, prepared), causes);
    for (const warning of type.warnings(prepared, previous)) call.warnings.add(warning);
    return ok(asObject(keepTimesIfUnchanged(asJsonObject(previous), asJsonObject(prepared))));
  });
}

/** A patch can remove apiVersion and kind of a custom resource. */
function missingTypeMeta({ apiVersion, kind }: Partial<KubeObject>): string | undefined {
  const isMissing = (text: unknown) => typeof text !== "string" || text === "";
  if (isMissing(kind)) return "Object 'Kind' is missing in 'object has no kind field '";
  return isMissing(apiVersion) ? "Object 'apiVersion' is missing in 'object has no apiVersion field'" : undefined;
}

function trackWriter(call: RequestContext, next: KubeObject, old: KubeObject, manager: string): Later<KubeObject> {
  const { type, subresource } = call.target;
  const now = timestamp(call.core.clock);
  return withVersions({ types: call.core.types, type, subresource }, (kind) => {
    const tracked = trackUpdate({ ...kind, manager, now, old: asJsonObject(old), next: asJsonObject(next) });
    return asObject(tracked.ok ? tracked.value : withoutManagedFields(asJsonObject(next)));
  });
}

/** Optimistic locking: a resourceVersion must be the current one. */
function checkVersion(call: RequestContext, next: KubeObject, previous: KubeObject): Result<KubeObject, Failure> {
  const { type } = call.target;
  const { name } = previous.metadata;
  const given = metaText(next, "resourceVersion");
  const current = metaText(previous, "resourceVersion");
  if (!/^[0-9]{0,19}$/.test(given)) return errorWithoutReason(`strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`);
  if (given === "" || given === "0") {
    if (type.unconditionalUpdate) return ok(withMetadata(next, { resourceVersion: current }));
    const { group, plural } = type.resource;
    const detail = "Invalid value: 0: must be specified for an update";
    return invalid({ group, kind: plural, name }, [{ reason: "FieldValueInvalid", field: "metadata.resourceVersion", detail }]);
  }
  return given === current ? ok(next) : conflict({ resource: type.resource, name }, MODIFIED);
}

/** A uid in the body must be that of the stored object, otherwise it is a conflict. */
export function checkUid(call: RequestContext, next: KubeObject, current: KubeObject | undefined): Result<void, Failure> {
  const { type, name = "" } = call.target;
  const wanted = metaText(next, "uid");
  const found = metaText(current, "uid");
  if (wanted === "" || wanted === found) return ok(undefined);
  const where = storagePath(type, call.target.namespace, name);
  const problem = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${where}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`;
  return conflict({ resource: type.resource, name }, why);
}

/** Fields that an update cannot change. The generation counts changes of the desired state, of which a status is no part. */
function carryOver(type: ResourceType, next: KubeObject, previous: KubeObject, mayMove: boolean): KubeObject {
  const generation = metaNumber(previous, "generation");
  const moved = mayMove && type.generationOf !== undefined && !jsonEqual(type.generationOf(next), type.generationOf(previous));
  const deletion = metaText(previous, "deletionTimestamp");
  const grace = metaNumber(previous, "deletionGracePeriodSeconds");
  const uid = metaText(next, "uid");
  return withMetadata(next, {
    generation: moved ? (generation ?? 0) + 1 : generation,
    creationTimestamp: previous.metadata.creationTimestamp,
    uid: uid === "" ? previous.metadata.uid : uid,
    ...(deletion === "" ? {} : { deletionTimestamp: deletion }),
    ...(grace === undefined || metaNumber(next, "deletionGracePeriodSeconds") !== undefined ? {} : { deletionGracePeriodSeconds: grace }),
  });
}

function replace(call: RequestContext, change: ChangedObject, next: KubeObject): Later<Result<KubeObject, Failure>> {
  const { previous, options } = change;
  if (isFinished(next, previous.object)) return finish(call, change, next);
  return whenOk(oneToStorage(call.target.type, next, options.dryRun), (stored) => write(call, change, { next, stored }));
}

/** The last finalizer was removed. A real server reads the object, deletes the cached one, and reads the deleted one. */
function finish(call: RequestContext, { previous, options }: ChangedObject, next: KubeObject): Later<Result<KubeObject, Failure>> {
  const { core, target } = call;
  const { type } = target;
  const read = oneFromStorage(type, previous.object);
  if (options.dryRun) return whenOk(read, () => ok(next));
  const key = storeKey(target, previous.object.metadata.name);
  const checked = whenOk(read, () => beginChange(type, previous.object, false));
  return whenOk(checked, () => {
    const gone = core.store.write({ collection: type.collection, key, expected: previous.revision, object: undefined });
    return gone.ok ? whenOk(oneFromStorage(type, previous.object), () => ok(next)) : lost(call, gone.error);
  });
}

type Written = { readonly next: KubeObject; readonly stored: KubeObject };

function write(call: RequestContext, { previous, options }: ChangedObject, { next, stored }: Written): Later<Result<KubeObject, Failure>> {
  const { core, target } = call;
  const { type } = target;
  const key = storeKey(target, previous.object.metadata.name);
  if (jsonEqual(stored, previous.object)) return unchanged(type, stored, { previous, options });
  const fits = checkObjectSize(stored, type.collection);
  if (!fits.ok) return fits;
  if (options.dryRun) return type.conversion === undefined ? ok(next) : oneFromStorage(type, stored, true);
  const object = (revision: number) => withMetadata(stored, { resourceVersion: String(revision) });
  const written = core.store.write({ collection: type.collection, key, expected: previous.revision, object });
  if (!written.ok) return lost(call, written.error);
  return written.value === undefined ? internalError("the object was not stored") : oneFromStorage(type, written.value.object);
}

/** A real server reads the object twice, to compare and for the response. */
function unchanged(
  type: ResourceType,
  stored: KubeObject,
  { previous, options }: Pick<ChangedObject, "previous" | "options">,
): Later<Result<KubeObject, Failure>> {
  if (type.conversion === undefined) return ok(inVersion(type, previous.object));
  if (options.dryRun) return oneFromStorage(type, stored, true);
  return whenOk(oneFromStorage(type, previous.object), () => oneFromStorage(type, previous.object));
}

/** Deleted and without finalizers: a namespace also has `spec.finalizers`. */
function isFinished(next: KubeObject, previous: KubeObject): boolean {
  if (metaText(previous, "deletionTimestamp") === "") return false;
  if (finalizersOf(next).length > 0 || (metaNumber(next, "deletionGracePeriodSeconds") ?? 0) > 0) return false;
  const spec =
    next.kind === "Namespace" && next.apiVersion === "v1" ? (next as { spec?: { finalizers?: readonly string[] } }).spec : undefined;
  return (spec?.finalizers ?? []).length === 0;
}

const MAX_TRIES = 5;

type Attempts = { readonly dryRun: boolean; readonly tries?: number };

/**
 * Reads, changes and writes an object; retries after a conflict with another write. Conflicts happen only during a wait for a webhook:
 * otherwise nothing runs between reading and writing.
 */
export function changeStored<T>(
  call: RequestContext,
  attempt: (previous: Stored | undefined) => Later<Result<T, Failure>>,
  { dryRun, tries = MAX_TRIES }: Attempts,
): Later<Result<T, Failure>> {
  const { type, name = "" } = call.target;
  const previous = readStored(call, name);
  const fresh = dryRun || tries < MAX_TRIES;
  const begun = previous === undefined ? ok(undefined) : beginChange(type, previous.object, fresh);
  return whenOk(begun, () =>
    whenThere(attempt(previous), (answered): Later<Result<T, Failure>> => {
      if (answered.ok) return answered;
      const moved = readStored(call, name)?.revision !== previous?.revision;
      if (moved && answered.error.code === 409 && tries > 1) return changeStored(call, attempt, { dryRun, tries: tries - 1 });
      // a real server reads the object from storage, in case the change failed because its cache was stale
      return fresh || previous === undefined ? answered : whenOk(oneFromStorage(type, previous.object), () => answered);
    }),
  );
}

/** The stored object has changed, or the store failed. */
function lost(call: RequestContext, error: { readonly kind: "storage" | "conflict"; readonly message?: string }): Result<never, Failure> {
  if (error.kind === "storage") return internalError(error.message ?? "the storage failed");
  return conflict({ resource: call.target.type.resource, name: call.target.name ?? "" }, MODIFIED);
}

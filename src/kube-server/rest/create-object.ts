/** Creates an object: tracks field owners, prepares, names, validates, stores. Used by POST, and by PUT and apply of a missing object. */
import { ok, timestamp, whenOk, whenThere, type Later, type Result } from "#base";
import { groupResourceOf, type KubeObject } from "#kube";
import { trackUpdate, withoutManagedFields } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { attributesOf } from "./attributes.ts";
import { oneFromStorage, oneToStorage } from "../protocol/convert-objects.ts";
import { generateName, newUid, nextStep, readStored, storeKey, type RequestContext } from "../protocol/core.ts";
import { asJsonObject, asObject, managedKind } from "../protocol/managed-kinds.ts";
import { checkNamespace, matchNamespace, matchNameAndNamespace } from "../protocol/namespaces.ts";
import { metaNumber, metaText, withMetadata, withoutDuplicateOwners } from "../protocol/object-meta.ts";
import { alreadyExists, internalError, invalid, refuse, subjectOf, errorWithoutReason, type Failure } from "../protocol/status.ts";
import type { WriteOptions } from "../protocol/write-options.ts";
import type { Stored } from "../store/index.ts";

export type NewObject = {
  readonly object: KubeObject;
  readonly options: WriteOptions;
  /** Apply has already set managedFields. */
  readonly tracked: boolean;
};

const NAME_TRIES = 8;

export function createObject(call: RequestContext, { object, options, tracked }: NewObject): Later<Result<KubeObject, Failure>> {
  const given = metaText(object, "resourceVersion");
  // PUT and apply may also be updates, which need a numeric version
  if (call.target.verb !== "create" && !isVersion(given))
    return errorWithoutReason(`strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`);
  const clean = withoutDuplicateOwners(object, (text) => call.warnings.add(text));
  const owned = tracked ? clean : trackCreator(call, clean, options.fieldManager);
  const inNamespace = checkNamespace(call, owned);
  return inNamespace.ok ? nextStep(call, () => admitAndInsert(call, owned, options)) : inNamespace;
}

function admitAndInsert(call: RequestContext, owned: KubeObject, options: WriteOptions): Later<Result<KubeObject, Failure>> {
  const name = metaText(owned, "name");
  const attributes = attributesOf(call, { operation: "CREATE", name, dryRun: options.dryRun, object: owned, old: undefined });
  return whenOk(call.core.admission.mutate(attributes), (admitted) => {
    return whenOk(prepare(call, admitted ?? owned), (prepared) => {
      const validated = { ...attributes, object: prepared, name: name === "" ? prepared.metadata.name : name };
      return nextStep(call, () => whenOk(call.core.admission.validate(validated), () => insert(call, prepared, options.dryRun)));
    });
  });
}

/** Prepares and validates a new object by the rules of its kind. */
function prepare(call: RequestContext, object: KubeObject): Later<Result<KubeObject, Failure>> {
  const { core, target } = call;
  const { type } = target;
  const clean = withoutDuplicateOwners(object, (text) => call.warnings.add(text), " after mutating admission happens");
  // PUT and apply were authorized for one name: admission cannot choose another
  const placed = target.name === undefined ? matchNamespace(call, clean) : matchNameAndNamespace(call, clean);
  if (!placed.ok) return placed;
  // set before preparation, because a Job copies its uid into its labels
  const identity = { uid: newUid(core.random), creationTimestamp: timestamp(core.clock) };
  // repeated after admission: a new object with a deletionTimestamp could be neither used nor deleted
  const named = nameFor(call, withMetadata(withoutSystemFields(placed.value), identity));
  const made = type.prepareForCreate(named);
  const prepared = type.generationOf === undefined || type.generationAfterChange === true ? made : withMetadata(made, { generation: 1 });
  return whenThere((type.validatePaced ?? type.validate)(prepared, undefined, undefined), (causes): Result<KubeObject, Failure> => {
    if (causes.length > 0) return invalid(subjectOf(type, prepared), causes);
    for (const warning of type.warnings(prepared, undefined)) call.warnings.add(warning);
    return ok(prepared);
  });
}

/** A write that cannot be tracked is stored without managedFields, as on a real server. */
function trackCreator(call: RequestContext, object: KubeObject, manager: string): KubeObject {
  const kind = managedKind(call.core.types, call.target.type, undefined);
  const next = asJsonObject(object);
  const tracked = trackUpdate({ ...kind, manager, now: timestamp(call.core.clock), old: undefined, next });
  return asObject(tracked.ok ? tracked.value : withoutManagedFields(next));
}

function nameFor(call: RequestContext, object: KubeObject): KubeObject {
  const prefix = metaText(object, "generateName");
  if (metaText(object, "name") !== "" || prefix === "") return object;
  let name = generateName(prefix, call.core.random);
  for (let tries = 1; tries < NAME_TRIES && readStored(call, name) !== undefined; tries += 1) name = generateName(prefix, call.core.random);
  return withMetadata(object, { name });
}

function insert(call: RequestContext, object: KubeObject, dryRun: boolean): Later<Result<KubeObject, Failure>> {
  const { type } = call.target;
  const existing = readStored(call, object.metadata.name);
  if (existing !== undefined)
    return whenOk(readExisting(type, object, { existing, dryRun }), () => nameConflict(call, object, existing.object));
  if (dryRun) return asIfStored(type, withMetadata(object, { resourceVersion: undefined }));
  const version = metaText(object, "resourceVersion");
  if (/[1-9]/.test(version) && isVersion(version)) return errorWithoutReason("resourceVersion should not be set on objects to be created");
  return whenOk(oneToStorage(type, object), (stored) => write(call, object, stored));
}

/** The conversions of a real server: it detects the conflict when it writes, or in a dry run when it reads; then it reads the existing object. */
function readExisting(type: ResourceType, object: KubeObject, { existing, dryRun }: ExistingName): Later<Result<unknown, Failure>> {
  if (type.conversion === undefined) return ok(undefined);
  const found = dryRun ? oneFromStorage(type, existing.object) : oneToStorage(type, object);
  return whenOk(found, () => oneFromStorage(type, existing.object));
}

type ExistingName = { readonly existing: Stored; readonly dryRun: boolean };

/** Converts to storage and back: a dry run fails if the webhook cannot convert the object. */
function asIfStored(type: ResourceType, object: KubeObject): Later<Result<KubeObject, Failure>> {
  if (type.conversion === undefined) return ok(object);
  return whenOk(oneToStorage(type, object, true), (stored) => oneFromStorage(type, stored, true));
}

/** Any other text is ignored when an object is created. */
function isVersion(text: string): boolean {
  return /^[0-9]*$/.test(text);
}

/** An update that creates ignores its resourceVersion; an invalid one stays and is reported later. */
export function withoutVersion(object: KubeObject): KubeObject {
  return isVersion(metaText(object, "resourceVersion")) ? withMetadata(object, { resourceVersion: undefined }) : object;
}

function write(call: RequestContext, object: KubeObject, stored: KubeObject): Later<Result<KubeObject, Failure>> {
  const { core, target } = call;
  const { type } = target;
  const written = core.store.write({
    collection: type.collection,
    key: storeKey(target, object.metadata.name),
    expected: undefined,
    object: (revision) => withMetadata(stored, { resourceVersion: String(revision) }),
  });
  if (!written.ok) return written.error.kind === "storage" ? internalError(written.error.message) : nameConflict(call, object, undefined);
  return written.value === undefined ? internalError("the object was not stored") : oneFromStorage(type, written.value.object);
}

function nameConflict(call: RequestContext, object: KubeObject, existing: KubeObject | undefined): Result<never, Failure> {
  const { resource } = call.target.type;
  const { name } = object.metadata;
  if (metaText(object, "generateName") !== "") {
    const message = `${groupResourceOf(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`;
    const details = { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural, retryAfterSeconds: 1 };
    return refuse({ code: 409, reason: "AlreadyExists", message, details });
  }
  const going = existing !== undefined && metaText(existing, "deletionTimestamp") !== "";
  return alreadyExists({ resource, name }, going ? "object is being deleted: " : "");
}

const SYSTEM_FIELDS = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

/** Removes fields that neither a client nor admission can choose for a new object. */
export function withoutSystemFields(object: KubeObject): KubeObject {
  // a custom resource may have no metadata here
  const given: KubeObject["metadata"] | undefined = object.metadata;
  if (given === undefined || !SYSTEM_FIELDS.some((name) => Object.hasOwn(given, name))) return object;
  const grace = metaNumber(object, "deletionGracePeriodSeconds");
  const changes = { uid: undefined, creationTimestamp: undefined, deletionTimestamp: undefined, selfLink: undefined };
  return withMetadata(object, grace === undefined ? changes : { ...changes, deletionGracePeriodSeconds: undefined });
}

/**
 * How applied objects are marked with their owner. The owner label *is* the inventory: it is written in the same request as the object, so no
 * crash can separate the two (ADR 0006).
 *
 * The label names the owner by kind and name, not by uid: a pivot or a restore gives the owner a new uid, and the objects that it applied
 * before must still be recognised.
 */
import { sha256Hex } from "#base";
import {
  canonicalJson,
  field,
  fieldAt,
  isJsonObject,
  keyOf,
  keyText,
  parseKey,
  type Json,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
} from "#kube";

export const FIELD_MANAGER = "lattice";
/** "<controller>.<hash of the owner's group, kind and key>". */
export const OWNER_LABEL = "lattice.dev/owned-by";
/** The owner's "namespace/name", to find the owner of an object. */
export const OWNER_ANNOTATION = "lattice.dev/owner";
/** Digest of the object as last applied: removing a field changes the digest. */
export const APPLIED_ANNOTATION = "lattice.dev/applied";
/** "never" on an object prevents pruning. */
export const PRUNE_ANNOTATION = "lattice.dev/prune";
/** "true" on an object of another client lets Lattice take it over. */
export const ADOPT_ANNOTATION = "lattice.dev/adopt";

/** Deleting one of these deletes objects or data of others with it. Only a user may do that: no prune, and no garbage collector. */
export const KEPT_KINDS: ReadonlySet<string> = new Set([
  "Namespace",
  "CustomResourceDefinition",
  "PersistentVolumeClaim",
  "PersistentVolume",
]);

export type ApplyOwner = {
  readonly controller: string;
  readonly object: KubeObject;
  /** Its objects get no owner reference to it, and lose one that an earlier version set: the label alone is the inventory. */
  readonly ownerReferences?: "none" | undefined;
  /** All objects of the controller are this owner's, also those that an earlier version has applied for another one. */
  readonly owns?: "all" | undefined;
};

export function ownerLabelOf({ controller, object }: ApplyOwner): string {
  return `${controller}.${sha256Hex(`${groupOf(object.apiVersion)}/${object.kind}/${keyText(keyOf(object))}`).slice(0, 16)}`;
}

export function labelOf(object: KubeObject, name: string): string | undefined {
  const value = fieldAt(object.metadata, "labels", name);
  return typeof value === "string" ? value : undefined;
}

export function annotationOf(object: KubeObject, name: string): string | undefined {
  const value = fieldAt(object.metadata, "annotations", name);
  return typeof value === "string" ? value : undefined;
}

/** The owner of an applied object, if this controller applied it. */
export function ownerKeyOf(object: KubeObject, controller: string): ObjectKey | undefined {
  const key = annotationOf(object, OWNER_ANNOTATION);
  return key !== undefined && labelOf(object, OWNER_LABEL)?.startsWith(`${controller}.`) === true ? parseKey(key) : undefined;
}

/** The object as it is applied: with owner label, annotations, and an owner reference where Kubernetes and the owner allow one. */
export function stamp(wanted: KubeObject, owner: ApplyOwner): KubeObject {
  const references = ownerReferencesFor(wanted, owner);
  const metadata = {
    ...wanted.metadata,
    labels: { ...wanted.metadata.labels, [OWNER_LABEL]: ownerLabelOf(owner) },
    annotations: { ...wanted.metadata.annotations, [OWNER_ANNOTATION]: keyText(keyOf(owner.object)) },
    ...(references === undefined ? {} : { ownerReferences: references }),
  };
  const digest = sha256Hex(canonicalJson({ ...withoutValues(wanted), metadata })).slice(0, 32);
  return { ...wanted, metadata: { ...metadata, annotations: { ...metadata.annotations, [APPLIED_ANNOTATION]: digest } } };
}

/** A hash of a weak password can be guessed, and many can read annotations. The names of the keys are enough to notice a removed one. */
function withoutValues(wanted: KubeObject): KubeObject {
  const data = field(wanted, "data");
  if (wanted.kind !== "Secret" || !isJsonObject(data)) return wanted;
  const keys = { ...wanted, data: Object.keys(data).toSorted() };
  return keys;
}

/** A namespaced owner can own only in its own namespace: the garbage collector deletes dependents in others. */
export function canReference(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata.namespace === undefined || owner.metadata.namespace === object.metadata.namespace;
}

function ownerReferencesFor(object: KubeObject, owner: ApplyOwner): readonly OwnerReference[] | undefined {
  const { ownerReferences: planned } = object.metadata;
  if (owner.ownerReferences === "none") return planned === undefined ? undefined : withoutOwner(object, owner.object);
  const { apiVersion, kind, metadata } = owner.object;
  const { name, uid } = metadata;
  if (uid === undefined || KEPT_KINDS.has(object.kind) || !canReference(object, owner.object)) return planned;
  return [...(planned ?? []), { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}

/**
 * The owner references of an object that point at other owners. Compared by kind and name: a pivot or a restore gives the owner a new uid,
 * and a reference with the old one is ours too.
 */
export function withoutOwner(object: KubeObject, owner: KubeObject): readonly OwnerReference[] {
  const all = object.metadata.ownerReferences ?? [];
  if (!canReference(object, owner)) return all;
  const isOwner = ({ apiVersion, kind, name }: OwnerReference) =>
    kind === owner.kind && groupOf(apiVersion) === groupOf(owner.apiVersion) && name === owner.metadata.name;
  return all.filter((reference) => !isOwner(reference));
}

/** The fields that our field manager set, as `fieldsV1`; undefined when it set none or the object has no managedFields. */
export function ownedFieldsOf(object: KubeObject): Json | undefined {
  for (const entry of object.metadata.managedFields ?? []) {
    if (!isJsonObject(entry) || entry["manager"] !== FIELD_MANAGER || entry["operation"] !== "Apply") continue;
    if (field(entry, "subresource") === undefined) return field(entry, "fieldsV1");
  }
  return undefined;
}

/**
 * May be deleted: it has this owner's label *and* the label was set by our field manager. A user who copies an object
 * copies its labels too, but sets them under another manager.
 */
export function isOurs(object: KubeObject, owner: ApplyOwner): boolean {
  return labelOf(object, OWNER_LABEL) === ownerLabelOf(owner) && isLabelledByUs(object);
}

/** It has an owner label, set by our field manager. */
export function isLabelledByUs(object: KubeObject): boolean {
  return fieldAt(ownedFieldsOf(object), "f:metadata", "f:labels", `f:${OWNER_LABEL}`) !== undefined;
}

/**
 * Applied for this owner. The owner label decides, unless our field manager did not write it: another client changed or removed
 * it, and the annotation still names the owner.
 */
export function isOwnedBy(object: KubeObject, owner: ApplyOwner): boolean {
  const label = labelOf(object, OWNER_LABEL);
  if (label === ownerLabelOf(owner)) return true;
  if (owner.owns === "all" && label?.startsWith(`${owner.controller}.`) === true) return isLabelledByUs(object);
  return hasForeignLabel(object) && annotationOf(object, OWNER_ANNOTATION) === keyText(keyOf(owner.object));
}

/** There is no owner label, or another client wrote it. */
export function hasForeignLabel(object: KubeObject): boolean {
  return labelOf(object, OWNER_LABEL) === undefined || !isLabelledByUs(object);
}

/** "group/Kind". */
export function resourceId(object: KubeObject): string {
  return `${groupOf(object.apiVersion)}/${object.kind}`;
}

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** "group/Kind/namespace/name". */
export function idOf(object: KubeObject): string {
  return `${resourceId(object)}/${keyText(keyOf(object))}`;
}

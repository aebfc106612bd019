/**
 * Copies of objects with changed metadata. Fields are in the order in which Go writes them, without empty ones, so that the text of an object
 * (part of some error messages) equals that of a real server.
 */
import { field, isJsonObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "#kube";

const ORDER = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const;

export type MetaName = (typeof ORDER)[number];
export type MetaChanges = { readonly [name in MetaName]?: Json | undefined };

/** A field given as `undefined` is removed. */
export function withMetadata(object: KubeObject, changes: MetaChanges): KubeObject {
  const before = metadataOf(object);
  const metadata: Record<string, Json> = {};
  for (const name of ORDER) {
    const value = Object.hasOwn(changes, name) ? changes[name] : before[name];
    if (value !== undefined && !isEmptyMeta(name, value)) metadata[name] = value;
  }
  return assemble(object, metadata);
}

/** The cast is safe: metadata was checked by the kind's `decode`. */
function assemble(object: KubeObject, metadata: JsonObject): KubeObject {
  if (isInOrder(object)) return { ...object, metadata: metadata as ObjectMeta };
  const { apiVersion, kind, metadata: _, ...rest } = object;
  return { kind, apiVersion, metadata: metadata as ObjectMeta, ...rest };
}

const FIRST = ["kind", "apiVersion", "metadata"];

/** True for most stored objects, which need no reordering. */
function isInOrder(object: KubeObject): boolean {
  let at = 0;
  for (const name in object) {
    if (name !== FIRST[at]) return false;
    at += 1;
    if (at === FIRST.length) return true;
  }
  return false;
}

function isEmptyMeta(name: string, value: Json): boolean {
  if (name === "deletionGracePeriodSeconds") return value === null;
  if (value === null || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function metadataOf(object: unknown): JsonObject {
  const metadata = field(object, "metadata");
  return isJsonObject(metadata) ? metadata : {};
}

export function metaText(object: unknown, name: MetaName): string {
  const value = field(metadataOf(object), name);
  return typeof value === "string" ? value : "";
}

export function metaNumber(object: unknown, name: MetaName): number | undefined {
  const value = field(metadataOf(object), name);
  return typeof value === "number" ? value : undefined;
}

export function finalizersOf(object: KubeObject): readonly string[] {
  return object.metadata.finalizers ?? [];
}

const DUPLICATE_OWNERS =
  "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ";

/** Removes duplicate owners with a warning. `when`: a webhook may have added the duplicate. */
export function withoutDuplicateOwners(
  object: KubeObject,
  warn: (text: string) => void,
  when: "" | " after mutating admission happens" = "",
): KubeObject {
  const owners = object.metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return object;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => {
    const text = JSON.stringify(owner);
    return seen.has(text) ? false : seen.add(text) !== undefined;
  });
  if (kept.length === owners.length) return object;
  const doubled = [...new Set(owners.filter((owner) => !kept.includes(owner)).map(({ uid }) => uid))];
  warn(`.metadata.ownerReferences contains duplicate entries${when}; ${DUPLICATE_OWNERS}${doubled.join(", ")}`);
  return withMetadata(object, { ownerReferences: kept });
}

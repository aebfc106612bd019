/**
 * Converts managedFields of an object to those of its Scale, and back: in a Scale the replicas are at `.spec.replicas`, in the object at a path
 * that depends on its kind.
 */
import { map, type Result } from "#base";
import type { Json, JsonObject } from "#kube";
import { difference, fieldSetOf, has, isEmpty } from "./field-set.ts";
import { decodeManaged, encodeManaged, type ManagedFields, type ManagerId, type VersionedSet } from "./managers.ts";
import { fieldPath, type FieldPath } from "./path-element.ts";

const SCALE_VERSION = "autoscaling/v1";
const REPLICAS_IN_SCALE = fieldPath("spec", "replicas");

/** The path of the replicas per version; `undefined` for a version without a scale subresource. */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

/** The entries that own the replicas, as entries of a Scale. */
export function scaleEntries(parent: Json | undefined, paths: ReplicasPaths): Result<JsonObject[], string> {
  return map(decodeManaged(parent), ({ managers, times }) => {
    const inScale = new Map<ManagerId, VersionedSet>();
    for (const [id, { set, apiVersion, applied }] of managers) {
      const path = paths.get(apiVersion);
      if (path !== undefined && has(set, path)) inScale.set(id, { set: fieldSetOf(REPLICAS_IN_SCALE), apiVersion: SCALE_VERSION, applied });
    }
    return encodeManaged({ managers: inScale, times });
  });
}

export type ScaleWrite = {
  /** managedFields of the object before the write, and of the Scale after it. */
  readonly parent: Json | undefined;
  readonly scale: Json | undefined;
  /** The version of the object in the path of the scale request. */
  readonly apiVersion: string;
  readonly paths: ReplicasPaths;
};

/**
 * The object's entries after a write to its Scale: a manager that lost the replicas in the Scale loses them in the object. Entries from the
 * Scale have no time, as on a real server.
 */
export function parentEntries({ parent, scale, apiVersion, paths }: ScaleWrite): Result<JsonObject[], string> {
  const before = decodeManaged(parent);
  if (!before.ok) return before;
  return map(decodeManaged(scale), (written) => encodeManaged(joined(before.value, written, { apiVersion, paths })));
}

function joined(
  before: ManagedFields,
  written: ManagedFields,
  { apiVersion, paths }: Pick<ScaleWrite, "apiVersion" | "paths">,
): ManagedFields {
  const managers = new Map<ManagerId, VersionedSet>();
  const unmatched = new Map(written.managers);
  for (const [id, versioned] of before.managers) {
    if (!paths.has(versioned.apiVersion)) continue; // no longer served
    const path = paths.get(versioned.apiVersion);
    const owned = path !== undefined && has(versioned.set, path);
    const kept = owned && !unmatched.delete(id) ? difference(versioned.set, fieldSetOf(path)) : versioned.set;
    if (!isEmpty(kept)) managers.set(id, { ...versioned, set: kept });
  }
  const replicas = paths.get(apiVersion);
  for (const [id, { set, applied }] of unmatched) {
    if (replicas !== undefined && has(set, REPLICAS_IN_SCALE)) managers.set(id, { set: fieldSetOf(replicas), apiVersion, applied });
  }
  return { managers, times: before.times };
}

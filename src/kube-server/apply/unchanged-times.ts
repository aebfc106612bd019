/**
 * A write that changes nothing but times changes nothing: times of managedFields entries go back to what they were, so that the stored
 * object stays byte for byte the same and no watcher is woken.
 */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { withoutManagedFields } from "./managed-metadata.ts";

/** Call it last, when defaults and admission have had their say. */
export function keepTimesIfUnchanged(old: JsonObject, next: JsonObject): JsonObject {
  const before = entriesOf(old);
  const after = entriesOf(next);
  if (after.length === 0 || after.length !== before.length || !hasSameParts(old, next)) return next;
  if (!after.every((entry, index) => jsonEqual(withoutTime(entry), withoutTime(before[index])))) return next;
  if (!jsonEqual(withoutManagedFields(old), withoutManagedFields(next))) return next;
  const metadata = field(next, "metadata");
  return { ...next, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields: before } };
}

/** Beside the metadata: there it is where nearly every change is. */
function hasSameParts(old: JsonObject, next: JsonObject): boolean {
  for (const name in next) if (name !== "metadata" && !jsonEqual(next[name], field(old, name))) return false;
  return true;
}

function entriesOf(object: JsonObject): readonly Json[] {
  const entries = fieldAt(object, "metadata", "managedFields");
  return Array.isArray(entries) ? entries : [];
}

function withoutTime(entry: Json | undefined): Json | undefined {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}

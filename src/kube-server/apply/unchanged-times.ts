/**
 * A write that changes only times of managedFields entries is no change: the old times are restored, so that the stored object stays the same
 * and no watch event is sent.
 */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { withoutManagedFields } from "./managed-metadata.ts";

/** Called last, after defaulting and admission. */
export function keepTimesIfUnchanged(old: JsonObject, next: JsonObject): JsonObject {
  const before = entriesOf(old);
  const after = entriesOf(next);
  if (after.length === 0 || after.length !== before.length || !hasSameParts(old, next)) return next;
  if (!after.every((entry, index) => jsonEqual(withoutTime(entry), withoutTime(before[index])))) return next;
  if (!jsonEqual(withoutManagedFields(old), withoutManagedFields(next))) return next;
  const metadata = field(next, "metadata");
  return { ...next, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields: before } };
}

/** Compared without metadata first, because nearly every change is outside metadata. */
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

/** Removes and sets `metadata.managedFields`, and chooses between those of the stored object and those that a client sent. */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { decodeManaged, decodeStored, encodeForStore, encodeManaged, NO_MANAGERS, type ManagedFields } from "./managers.ts";

export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = field(object, "metadata");
  if (!isJsonObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** `again`: the object is likely to be written again soon, so its parsed managers are cached. */
export function withManagedFields(object: JsonObject, managed: ManagedFields, again = true): JsonObject {
  if (managed.managers.size === 0) return withoutManagedFields(object);
  const metadata = field(object, "metadata");
  const managedFields = again ? encodeForStore(managed) : encodeManaged(managed);
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields } };
}

type Write = { readonly old: JsonObject | undefined; readonly next: JsonObject; readonly subresource?: string | undefined };

/** Clients may change managedFields in an update; invalid or absent ones count as unchanged, `[]` and `[{}]` clear them. */
export function managedOfUpdate({ old, next, subresource }: Write): ManagedFields {
  const given = fieldAt(next, "metadata", "managedFields");
  const stored = decodeStored(fieldAt(old, "metadata", "managedFields"));
  const live = stored.ok ? stored.value : NO_MANAGERS;
  if (subresource !== undefined && subresource !== "") return live;
  if (isReset(given)) return NO_MANAGERS;
  // most clients send the managedFields that they received
  if (stored.ok && jsonEqual(given, fieldAt(old, "metadata", "managedFields"))) return live;
  const decoded = decodeManaged(given);
  return decoded.ok && decoded.value.managers.size > 0 ? decoded.value : live;
}

function isReset(managedFields: Json | undefined): boolean {
  if (!Array.isArray(managedFields)) return false;
  const [only, ...more] = managedFields;
  const isBlank = (value: unknown) => value === undefined || value === null || value === "";
  return only === undefined || (more.length === 0 && isJsonObject(only) && Object.values(only).every(isBlank));
}

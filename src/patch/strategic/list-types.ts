/**
 * Lists by their list-type, for custom resources, as an option. Kubernetes itself rejects strategic merge on custom resources and
 * ignores list types in it; this is for tests and tools that apply strategic patches with CRD schemas.
 *
 * map: elements with the same keys are merged, new ones appended. set: a union in order. atomic, or no list type: replaced.
 */
import { ok, type Result } from "#base";
import { badDirective, noMergeKey, type PatchError } from "../errors.ts";
import { fieldOf, isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge } from "../schema/port.ts";
import { PATCH } from "./directives.ts";
import type { MergedList } from "./merge-list.ts";
import { mergeObjects, type MergeMode } from "./merge-object.ts";

export function mergeByListType(
  original: readonly Json[],
  patch: readonly Json[],
  field: FieldMerge,
  mode: MergeMode,
): Result<MergedList, PatchError> {
  if (field.strategy === "replace") return ok({ merged: patch, backing: original });
  switch (field.listType) {
    case "set":
      return ok({ merged: union(original, patch), backing: original });
    case "map": {
      const merged = mergeMapList(original, patch, field, mode);
      return merged.ok ? ok({ merged: merged.value, backing: original }) : merged;
    }
    case "atomic":
    case undefined:
      return ok({ merged: patch, backing: original });
  }
}

function union(original: readonly Json[], patch: readonly Json[]): readonly Json[] {
  return [...new Map([...original, ...patch].map((item) => [JSON.stringify(item), item])).values()];
}

function mergeMapList(
  original: readonly Json[],
  patch: readonly Json[],
  field: FieldMerge,
  mode: MergeMode,
): Result<readonly Json[], PatchError> {
  const keys = field.listMapKeys ?? [];
  const replace = patch.some((item) => isObject(item) && fieldOf(item, PATCH) === "replace");
  const merged = new Map<string, Json>((replace ? [] : original).map((item) => [identityOf(item, keys), item]));
  for (const item of patch) {
    const directive = isObject(item) ? fieldOf(item, PATCH) : undefined;
    if (directive === "replace") continue;
    const missing = isObject(item) ? keys.find((key) => fieldOf(item, key) === undefined && keys.length === 1) : undefined;
    if (missing !== undefined) return noMergeKey(item as JsonObject, missing);
    const result = mergeElement(merged, item, directive, field, mode);
    if (!result.ok) return result;
  }
  return ok([...merged.values()]);
}

function mergeElement(
  merged: Map<string, Json>,
  item: Json,
  directive: Json | undefined,
  field: FieldMerge,
  mode: MergeMode,
): Result<undefined, PatchError> {
  const identity = identityOf(item, field.listMapKeys ?? []);
  const current = merged.get(identity);
  if (directive === "delete") {
    merged.delete(identity);
  } else if (directive !== undefined) {
    return badDirective(directive, item as JsonObject);
  } else if (isObject(current) && isObject(item)) {
    const both = mergeObjects(current, item, field.schema, mode);
    if (!both.ok) return both;
    merged.set(identity, both.value);
  } else {
    merged.set(identity, item);
  }
  return ok(undefined);
}

/** All keys together; a missing key (it may have a default) counts as a value. */
function identityOf(item: Json, keys: readonly string[]): string {
  return isObject(item) ? JSON.stringify(keys.map((key) => fieldOf(item, key) ?? null)) : JSON.stringify(item);
}

/** Elements in the order are sorted among their own positions; all others keep their position. */
export function orderByListType(list: readonly Json[], order: readonly Json[], field: FieldMerge): readonly Json[] {
  const keys = field.listType === "map" ? (field.listMapKeys ?? []) : [];
  const places = new Map(order.map((item, index) => [identityOf(item, keys), index]));
  const placeOf = (item: Json): number | undefined => places.get(identityOf(item, keys));
  const named = list.filter((item) => placeOf(item) !== undefined).toSorted((a, b) => (placeOf(a) ?? 0) - (placeOf(b) ?? 0));
  let next = 0;
  return list.map((item) => (placeOf(item) === undefined ? item : (named[next++] as Json)));
}

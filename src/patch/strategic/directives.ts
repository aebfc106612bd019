/**
 * The directives of a strategic patch, and their removal where there is nothing to merge with.
 *
 * Only `$patch` is removed from new values. `$setElementOrder` and `$retainKeys` stay in them, as in Kubernetes.
 */
import { ok, type Result } from "#base";
import { badDirective, type PatchError } from "../errors.ts";
import { fieldOf, isList, isObject, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";

export const PATCH = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList";
export const SET_ELEMENT_ORDER = "$setElementOrder";

/** Whether a field starts with "$" and may be a directive; most patches have none, and skip the directives. */
export function hasDirectives(patch: JsonObject): boolean {
  for (const name in patch) if (name.charCodeAt(0) === 36) return true;
  return false;
}

/** The list name in "$setElementOrder/containers". The prefix must be all of the text before the slash. */
export function listNamedBy(key: string, prefix: string, malformed: () => Result<never, PatchError>): Result<string, PatchError> {
  return key.startsWith(`${prefix}/`) ? ok(key.slice(prefix.length + 1)) : malformed();
}

/** `$patch` in an object replaces merging. */
export function applyObjectDirective(directive: Json, patch: JsonObject): Result<JsonObject, PatchError> {
  if (directive === "replace") return ok(without(patch, PATCH));
  if (directive === "delete") return ok({});
  return badDirective(directive, patch);
}

/** A value that has nothing to merge with: without `$patch` elements and, on request, without nulls. */
export function asNewValue(value: Json, nulls: "keep" | "drop"): Json | undefined {
  if (isList(value)) return cleanList(value, nulls);
  return isObject(value) ? cleanObject(value, nulls) : value;
}

/** Elements with `$patch: delete` are dropped; a null in the list is kept as an element. */
function cleanList(list: readonly Json[], nulls: "keep" | "drop"): readonly Json[] {
  let changed = false;
  const kept: Json[] = [];
  for (const item of list) {
    const cleaned = asNewValue(item, nulls);
    changed ||= cleaned !== item;
    if (cleaned !== undefined) kept.push(cleaned);
  }
  return changed ? kept : list;
}

function cleanObject(object: JsonObject, nulls: "keep" | "drop"): JsonObject | undefined {
  const directive = fieldOf(object, PATCH);
  if (directive !== undefined && !(directive === null && nulls === "drop")) return undefined;
  let changed = false;
  const kept: MutableObject = {};
  for (const name of Object.keys(object)) {
    const value = object[name];
    const cleaned = value === undefined || (value === null && nulls === "drop") ? undefined : asNewValue(value, nulls);
    changed ||= cleaned !== value;
    if (cleaned !== undefined) setField(kept, name, cleaned);
  }
  return changed ? kept : object;
}

function without(object: JsonObject, name: string): JsonObject {
  const rest: MutableObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (key !== name && value !== undefined) setField(rest, key, value);
  }
  return rest;
}

/** Splits a list into elements to keep and elements marked `$patch: delete`. */
export function splitDeletions(items: readonly JsonObject[]): { readonly kept: JsonObject[]; readonly deletions: JsonObject[] } {
  const kept: JsonObject[] = [];
  const deletions: JsonObject[] = [];
  for (const item of items) (fieldOf(item, PATCH) === "delete" ? deletions : kept).push(item);
  return { kept, deletions };
}

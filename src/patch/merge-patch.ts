/**
 * JSON merge patch (RFC 7396) as kube-apiserver applies it, and the creation of such patches.
 *
 * Kubernetes differs in two places: nulls are also dropped from objects inside a new list, and a patch must be an object or a list.
 * `dialect: "rfc7396"` follows the RFC exactly.
 */
import { ok, type Result } from "#base";
import { badJson, failure, tooDeep, type PatchError } from "./errors.ts";
import { depthExceeds, fieldOf, isEmpty, isList, isObject, jsonEqual, MAX_DEPTH, setField } from "./json.ts";
import type { Json, JsonObject, MutableObject } from "./json.ts";
import { conflictError } from "./strategic/conflict-error.ts";
import { checkPreconditions, type CreateOptions, type ThreeWay } from "./strategic/create.ts";

/** How a merge patch is applied. */
export type MergePatchOptions = { readonly dialect?: "kubernetes" | "rfc7396" };

/**
 * Applies a JSON merge patch: null deletes, objects merge, everything else replaces.
 *
 * @example applyMergePatch({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } }) // ok: { b: { c: 2, d: 3 } }
 */
export function applyMergePatch(document: Json | undefined, patch: Json, options: MergePatchOptions = {}): Result<Json, PatchError> {
  if (depthExceeds(patch, MAX_DEPTH)) return tooDeep();
  const kubernetes = options.dialect !== "rfc7396";
  if (kubernetes && document === null) return failure("bad-json", "Invalid JSON Document");
  if (kubernetes && !isObject(patch) && !isList(patch)) return failure("bad-json", "Invalid JSON Patch");
  return ok(merge(document, patch, kubernetes));
}

function merge(current: Json | undefined, patch: Json, pruneLists: boolean): Json {
  if (!isObject(patch)) return isObject(current) || !pruneLists ? patch : prune(patch, true);
  if (!isObject(current)) return prune(patch, pruneLists);
  const merged: MutableObject = { ...current };
  for (const name of Object.keys(patch)) {
    const value = patch[name];
    if (value === null) delete merged[name];
    else if (value !== undefined) setField(merged, name, merge(fieldOf(current, name), value, pruneLists));
  }
  return merged;
}

/** Removes nulls from the objects of a new value: there is nothing to delete. */
function prune(value: Json, lists: boolean): Json {
  if (isList(value)) return lists ? value.map((item) => prune(item, lists)) : value;
  if (!isObject(value)) return value;
  const kept: MutableObject = {};
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (field !== null && field !== undefined) setField(kept, name, prune(field, lists));
  }
  return kept;
}

/**
 * The merge patch that turns `original` into `modified`.
 *
 * @example createMergePatch({ a: 1, b: 2 }, { b: 3 }) // ok: { a: null, b: 3 }
 */
export function createMergePatch(original: Json | undefined, modified: Json | undefined): Result<JsonObject, PatchError> {
  const before = original ?? {};
  const after = modified ?? {};
  if (!isObject(before) || !isObject(after)) return badJson();
  if (depthExceeds(before, MAX_DEPTH) || depthExceeds(after, MAX_DEPTH)) return tooDeep();
  return ok(diff(before, after));
}

function diff(before: JsonObject, after: JsonObject): JsonObject {
  const patch: MutableObject = {};
  for (const name of Object.keys(after)) {
    const [old, now] = [fieldOf(before, name), after[name]];
    if (now === undefined) continue;
    if (isObject(old) && isObject(now)) {
      const inner = diff(old, now);
      if (!isEmpty(inner)) setField(patch, name, inner);
    } else if (!jsonEqual(old, now)) {
      setField(patch, name, now);
    }
  }
  for (const name of Object.keys(before)) {
    if (before[name] !== undefined && fieldOf(after, name) === undefined) setField(patch, name, null);
  }
  return patch;
}

/**
 * The merge patch `kubectl apply` sends for kinds without a schema: changes and additions from current to modified, deletions from
 * original to modified.
 *
 * @example createThreeWayMergePatch({ original: { a: 1, b: 1 }, modified: { b: 2 }, current: { a: 1, b: 1, c: 1 } })
 * // ok: { a: null, b: 2 }
 */
export function createThreeWayMergePatch(
  { original, modified, current }: ThreeWay,
  options: CreateOptions = {},
): Result<JsonObject, PatchError> {
  const changes = createMergePatch(current, modified);
  if (!changes.ok) return changes;
  const deletions = createMergePatch(original, modified);
  if (!deletions.ok) return deletions;
  const added = only("values", changes.value);
  const removed = only("nulls", deletions.value);
  if (mergePatchesConflict(added, removed)) return conflictError(added, removed);
  return checkPreconditions(merge(removed, added, true) as JsonObject, options);
}

/** One half of a patch. An empty object counts as a value; an object that becomes empty is omitted. */
function only(half: "values" | "nulls", patch: JsonObject): JsonObject {
  const kept: MutableObject = {};
  for (const name of Object.keys(patch)) {
    const value = patch[name];
    if (value === undefined) continue;
    if (isObject(value) && !isEmpty(value)) {
      const inner = only(half, value);
      if (!isEmpty(inner)) setField(kept, name, inner);
    } else if ((value === null) === (half === "nulls")) {
      setField(kept, name, value);
    }
  }
  return kept;
}

/**
 * Do two merge patches set the same field to different values? Fields of only one patch are ignored.
 *
 * @example mergePatchesConflict({ a: 1, b: 1 }, { a: 2 }) // true
 */
export function mergePatchesConflict(left: Json, right: Json): boolean {
  if (isList(left)) {
    return !isList(right) || left.length !== right.length || left.some((item, index) => mergePatchesConflict(item, right[index] as Json));
  }
  if (!isObject(left)) return left !== right;
  if (!isObject(right)) return true;
  return Object.keys(left).some((name) => {
    const [mine, theirs] = [left[name], fieldOf(right, name)];
    return mine !== undefined && theirs !== undefined && mergePatchesConflict(mine, theirs);
  });
}

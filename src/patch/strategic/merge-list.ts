/**
 * Merging two lists: scalars become a union, objects are matched by their merge key and merged one by one.
 *
 * `backing` in the result is the backing array of the original list in Go: a deletion moves the following elements, and appended elements are
 * written into the free positions. Kubernetes then uses it as "the server's order", so it determines the positions of new elements.
 */
import { ok, type Result } from "#base";
import { badDirective, failure, noMergeKey, type PatchError } from "../errors.ts";
import { fieldOf, isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge } from "../schema/port.ts";
import { PATCH } from "./directives.ts";
import { orderElements } from "./element-order.ts";
import { dropDuplicates, elementsOf, keyIn } from "./elements.ts";
import { mergeByListType } from "./list-types.ts";
import { mergeObjects, type MergeMode } from "./merge-object.ts";

export type MergedList = { readonly merged: readonly Json[]; readonly backing: readonly Json[] };

/** A list without the merge strategy is replaced. */
export function mergeListsAsDeclared(
  original: readonly Json[],
  patch: readonly Json[],
  field: FieldMerge,
  mode: MergeMode,
): Result<MergedList, PatchError> {
  if (mode.lists === "list-types") return mergeByListType(original, patch, field, mode);
  return field.strategy === "merge" ? mergeLists(original, patch, field, mode) : ok({ merged: patch, backing: original });
}

function mergeLists(original: readonly Json[], patch: readonly Json[], field: FieldMerge, mode: MergeMode): Result<MergedList, PatchError> {
  if (original.length === 0 && patch.length === 0) return ok({ merged: original, backing: original });
  const elements = elementsOf(original, patch);
  if (!elements.ok) return elements;
  if (elements.value === "objects") return mergeObjectLists(original as readonly JsonObject[], patch as readonly JsonObject[], field, mode);
  return mergeScalarLists(original, patch, field.mergeKey);
}

function mergeScalarLists(original: readonly Json[], patch: readonly Json[], mergeKey: string): Result<MergedList, PatchError> {
  const both = [...original, ...patch];
  const union = both.slice(0, dropDuplicates(both));
  const backing = hasRoomFor(patch.length, original.length) ? both.slice(0, original.length) : original;
  const ordered = orderElements(union, { elements: "scalars", mergeKey, patchOrder: patch, serverOrder: backing });
  return ordered.ok ? ok({ merged: ordered.value, backing }) : ordered;
}

/**
 * Go's JSON decoder doubles the capacity of a growing slice. If the patch fits into the free capacity, Go removes duplicates in the original
 * array, and the server's order is the order after that.
 */
function hasRoomFor(more: number, length: number): boolean {
  return length > 0 && length <= 512 && length + more <= 2 ** Math.ceil(Math.log2(length));
}

/** Applies `$deleteFromPrimitiveList`. A list of objects is merged instead, as in Kubernetes. */
export function deleteFromList(original: readonly Json[], doomed: readonly Json[], field: FieldMerge): Result<readonly Json[], PatchError> {
  if (original.length === 0 && doomed.length === 0) return ok(original);
  const elements = elementsOf(original, doomed);
  if (!elements.ok) return elements;
  if (elements.value === "scalars") {
    const out = new Set(doomed);
    return ok(original.filter((item) => !out.has(item)));
  }
  const merged = mergeLists(original, doomed, field, { target: "object", lists: "patch-metadata" });
  return merged.ok ? ok(merged.value.merged) : merged;
}

function mergeObjectLists(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  field: FieldMerge,
  mode: MergeMode,
): Result<MergedList, PatchError> {
  if (field.mergeKey === "") return failure("bad-schema", `cannot merge lists without merge key for ${field.schema.name}`);
  const started = applyElementDirectives(original, patch, field.mergeKey);
  if (!started.ok) return started;
  const { slots, length, plain } = started.value;
  const serverOrder = slots.slice(0, length);
  const merged = mergeElements(started.value, field, mode);
  if (!merged.ok) return merged;
  const ordered = orderElements(merged.value, { elements: "objects", mergeKey: field.mergeKey, patchOrder: plain, serverOrder });
  if (!ordered.ok) return ordered;
  return ok({ merged: ordered.value, backing: slots.slice(0, original.length) });
}

/** A list as a Go slice: the first `length` slots are its elements, the others are leftovers in the array. */
type Slots = { readonly slots: JsonObject[]; readonly length: number; readonly plain: readonly JsonObject[] };

/** Applies `$patch` in elements: deletes elements, or replaces the whole list. */
function applyElementDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): Result<Slots, PatchError> {
  const slots = [...original];
  let length = slots.length;
  const plain: JsonObject[] = [];
  let replace = false;
  for (const item of patch) {
    const directive = fieldOf(item, PATCH);
    if (directive === undefined) {
      plain.push(item);
    } else if (directive === "delete") {
      const key = keyIn(item, mergeKey);
      if (!key.ok) return key;
      length = deleteMatching(slots, length, mergeKey, key.value);
    } else if (directive === "replace") {
      replace = true;
    } else if (directive === "merge") {
      return failure("bad-directive", "merging lists cannot yet be specified in the patch");
    } else {
      return badDirective(directive, item);
    }
  }
  return ok(replace ? { slots: plain, length: plain.length, plain: [] } : { slots, length, plain });
}

function deleteMatching(slots: JsonObject[], length: number, mergeKey: string, key: Json): number {
  let left = length;
  for (let index = 0; index < left;) {
    const item = slots[index];
    if (item !== undefined && fieldOf(item, mergeKey) === key) {
      slots.copyWithin(index, index + 1, left);
      left--;
    } else {
      index++;
    }
  }
  return left;
}

/** Changes `slots` in place and returns the elements of the merged list. */
function mergeElements({ slots, length, plain }: Slots, field: FieldMerge, mode: MergeMode): Result<readonly JsonObject[], PatchError> {
  const positions = new Map<Json, number>();
  for (let index = length - 1; index >= 0; index--) {
    const key = isObject(slots[index]) ? fieldOf(slots[index] as JsonObject, field.mergeKey) : undefined;
    if (key !== undefined) positions.set(key, index);
  }
  let end = length;
  for (const item of plain) {
    const key = fieldOf(item, field.mergeKey);
    if (key === undefined) return noMergeKey(item, field.mergeKey);
    const at = positions.get(key);
    if (at === undefined) {
      positions.set(key, end);
      slots[end++] = item;
      continue;
    }
    const merged = mergeObjects(slots[at] as JsonObject, item, field.schema, mode);
    if (!merged.ok) return merged;
    slots[at] = merged.value;
  }
  return ok(slots.slice(0, end));
}

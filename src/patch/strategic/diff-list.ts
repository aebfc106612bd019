/**
 * The patch between two merge lists: elements to add or change, scalars to delete, and the new order.
 *
 * Kubernetes compares elements in the order of their printed merge keys, and sorts the original list of scalars in place while doing
 * so. Its check "is the order the same" then sees the sorted list. A list that was not sorted gets an order directive it does not need.
 */
import { ok, type Result } from "#base";
import type { PatchError } from "../errors.ts";
import { compareText, formatValue } from "../go-values.ts";
import { goSort } from "../go-sort-unstable.ts";
import { fieldOf, isEmpty, jsonEqual, setField, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge } from "../schema/port.ts";
import { diffObjects, type StrategicDiffOptions } from "./diff-object.ts";
import { PATCH } from "./directives.ts";
import { isSameOrder, sortLike } from "./element-order.ts";
import { checkMergeKeys, elementsOf, withoutDuplicates } from "./elements.ts";

export type ListDiff = { readonly additions: readonly Json[]; readonly deletions: readonly Json[]; readonly order: readonly Json[] };

const nothing: ListDiff = { additions: [], deletions: [], order: [] };

export function diffLists(
  original: readonly Json[],
  modified: readonly Json[],
  field: FieldMerge,
  options: StrategicDiffOptions,
): Result<ListDiff, PatchError> {
  if (original.length === 0) return ok(modified.length === 0 || options.ignoreChanges ? nothing : { ...nothing, additions: modified });
  const elements = elementsOf(original, modified);
  if (!elements.ok) return elements;
  if (elements.value === "scalars") return ok(diffScalars(original, modified, options));
  return diffObjectLists(original, modified, field, options);
}

function diffScalars(original: readonly Json[], modified: readonly Json[], options: StrategicDiffOptions): ListDiff {
  const before = sortedByText(original);
  const after = sortedByText(modified);
  const additions: Json[] = [];
  const deletions: Json[] = [];
  for (const { left, right } of pairUp(before, after)) {
    if (left === undefined && right !== undefined && !options.ignoreChanges) additions.push(right.item);
    if (right === undefined && left !== undefined && !options.ignoreDeletions) deletions.push(left.item);
  }
  const sorted = sortLike(additions, modified, { elements: "scalars", mergeKey: "" });
  const unsorted =
    !options.ignoreChanges &&
    !jsonEqual(
      before.map(({ item }) => item),
      modified,
    );
  const needsOrder = options.elementOrder && ((!options.ignoreDeletions && deletions.length > 0) || unsorted);
  return {
    additions: sorted.ok ? sorted.value : additions,
    deletions: withoutDuplicates(deletions),
    order: needsOrder ? modified : [],
  };
}

function diffObjectLists(
  original: readonly Json[],
  modified: readonly Json[],
  field: FieldMerge,
  options: StrategicDiffOptions,
): Result<ListDiff, PatchError> {
  const changes = diffElements(original, modified, field, options);
  if (!changes.ok) return changes;
  const additions = sortLike(changes.value.additions, modified, { elements: "objects", mergeKey: field.mergeKey });
  if (!additions.ok) return additions;
  const sameOrder = isSameOrder(original, modified, field.mergeKey);
  if (!sameOrder.ok) return sameOrder;
  const all = [...additions.value, ...changes.value.deletions];
  const reordered = !options.ignoreChanges && (all.length > 0 || !sameOrder.value);
  const deleted = !options.ignoreDeletions && all.length > 0;
  const order = options.elementOrder && (reordered || deleted) ? modified.map((item) => onlyKey(item, field.mergeKey)) : [];
  return ok({ additions: all, deletions: [], order });
}

function diffElements(
  original: readonly Json[],
  modified: readonly Json[],
  field: FieldMerge,
  options: StrategicDiffOptions,
): Result<{ readonly additions: Json[]; readonly deletions: Json[] }, PatchError> {
  const before = checkMergeKeys(original, field.mergeKey);
  if (!before.ok) return before;
  const after = checkMergeKeys(modified, field.mergeKey);
  if (!after.ok) return after;
  const additions: Json[] = [];
  const deletions: Json[] = [];
  for (const { left, right } of pairUp(sortedByText(before.value, field.mergeKey), sortedByText(after.value, field.mergeKey))) {
    if (left !== undefined && right !== undefined) {
      const changed = diffElement(left.item, right.item, field, options);
      if (!changed.ok) return changed;
      if (changed.value !== undefined) additions.push(changed.value);
    } else if (right !== undefined) {
      if (!options.ignoreChanges) additions.push(right.item);
    } else if (left !== undefined && !options.ignoreDeletions) {
      deletions.push({ ...onlyKey(left.item, field.mergeKey), [PATCH]: "delete" });
    }
  }
  return ok({ additions, deletions });
}

function diffElement(
  left: JsonObject,
  right: JsonObject,
  field: FieldMerge,
  options: StrategicDiffOptions,
): Result<JsonObject | undefined, PatchError> {
  const changed = diffObjects(left, right, field.schema, options);
  if (!changed.ok) return changed;
  if (isEmpty(changed.value)) return ok(undefined);
  const named = { ...changed.value };
  setField(named, field.mergeKey, fieldOf(right, field.mergeKey) ?? null);
  return ok(named);
}

function onlyKey(item: Json, mergeKey: string): JsonObject {
  const key = {};
  setField(key, mergeKey, fieldOf(item as JsonObject, mergeKey) ?? null);
  return key;
}

type Printed<T extends Json> = { readonly item: T; readonly text: string };

/** Sorted by the printed form of the element, or of its merge key. Equal elements count as "less" in Kubernetes, so their order changes. */
export function sortedByText<T extends Json>(items: readonly T[], mergeKey?: string): Printed<T>[] {
  const printed = items.map((item) => ({ item, text: formatValue(mergeKey === undefined ? item : fieldOf(item as JsonObject, mergeKey)) }));
  return goSort(printed, (a, b) => compareText(a.text, b.text) <= 0);
}

type Pair<T extends Json> = { readonly left: Printed<T> | undefined; readonly right: Printed<T> | undefined };

/** Merges two sorted lists into pairs; an element of only one list has an empty partner. */
function pairUp<T extends Json>(before: readonly Printed<T>[], after: readonly Printed<T>[]): Pair<T>[] {
  const pairs: Pair<T>[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    const left = before[i];
    const right = after[j];
    const order = left === undefined ? 1 : right === undefined ? -1 : compareText(left.text, right.text);
    pairs.push({ left: order <= 0 ? left : undefined, right: order >= 0 ? right : undefined });
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return pairs;
}

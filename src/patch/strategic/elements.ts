/**
 * The elements of lists: their type and their merge key.
 *
 * All elements of a list, original and patch together, have one type; Kubernetes checks that before it merges any element.
 */
import { ok, type Result } from "#base";
import { failure, listOfLists, noMergeKey, notComparable, wrongType, type PatchError } from "../errors.ts";
import { formatValue, goTypeOf, isComparable, type GoValueType } from "../go-values.ts";
import { fieldOf, isList, isObject, type Json, type JsonObject } from "../json.ts";

export type Elements = "objects" | "scalars";

/** The common type of all elements of all lists. */
export function elementsOf(...lists: readonly (readonly Json[])[]): Result<Elements, PatchError> {
  let type: GoValueType | undefined;
  for (const list of lists) {
    for (const item of list) {
      const current = goTypeOf(item);
      if (type === undefined) {
        if (current === "list") return listOfLists();
        if (current === "nil") return failure("bad-elements", "a list to be merged holds null");
        type = current;
      } else if (current !== type) {
        return failure("bad-elements", `list element types are not identical: [${lists.map(formatValue).join(" ")}]`);
      }
    }
  }
  if (type === undefined) return failure("bad-elements", "no elements in any of the given slices");
  return ok(type === "map" ? "objects" : "scalars");
}

/** Every element must be an object with the merge key. */
export function checkMergeKeys(items: readonly Json[], mergeKey: string): Result<readonly JsonObject[], PatchError> {
  for (const item of items) {
    const key = keyIn(item, mergeKey);
    if (!key.ok) return key;
  }
  return ok(items as readonly JsonObject[]);
}

export function keyIn(item: Json, mergeKey: string): Result<Json, PatchError> {
  if (!isObject(item)) return wrongType("map", item);
  const key = fieldOf(item, mergeKey);
  return key === undefined ? noMergeKey(item, mergeKey) : ok(key);
}

/** Whether two elements have the same merge key. Two maps or two lists cannot be compared: Go panics there. */
export function sameKey(left: Json, right: Json, mergeKey: string): Result<boolean, PatchError> {
  const leftKey = keyIn(left, mergeKey);
  if (!leftKey.ok) return leftKey;
  const rightKey = keyIn(right, mergeKey);
  if (!rightKey.ok) return rightKey;
  if (!isComparable(leftKey.value) && !isComparable(rightKey.value)) return notComparable(leftKey.value);
  return ok(leftKey.value === rightKey.value);
}

/** The first position of each key; later elements with the same key are ignored, as in Kubernetes. */
export function firstPositions(items: readonly Json[], identity: (item: Json) => Json | undefined): Map<Json, number> {
  const positions = new Map<Json, number>();
  for (const [index, item] of items.entries()) {
    const key = identity(item);
    if (key !== undefined && !positions.has(key)) positions.set(key, index);
  }
  return positions;
}

/** The identity of an element: its merge key, or the scalar itself. */
export function identityBy(mergeKey: string): (item: Json) => Json | undefined {
  return mergeKey === "" ? (item) => item : (item) => (isObject(item) ? fieldOf(item, mergeKey) : undefined);
}

/** A copy without duplicates. */
export function withoutDuplicates(items: readonly Json[]): Json[] {
  const kept = [...items];
  return kept.slice(0, dropDuplicates(kept));
}

/**
 * Removes duplicates as Kubernetes does: the last element replaces each duplicate, which changes the order. Returns the new length; elements
 * after it are leftovers.
 */
export function dropDuplicates(items: Json[]): number {
  let length = items.length;
  if (new Set(items).size === length) return length;
  for (let left = 0; left < length - 1; left++) {
    for (let right = left + 1; right < length; right++) {
      if (items[left] !== items[right]) continue;
      length--;
      items[right] = items[length] as Json;
      right--;
    }
  }
  return length;
}

export function asList(value: Json | undefined): Result<readonly Json[] | undefined, PatchError> {
  return value === undefined || isList(value) ? ok(value) : wrongType("list", value);
}

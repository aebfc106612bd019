/**
 * Merges an applied value into the live one. Nothing is removed here; the applied value takes precedence.
 *
 * Items of set and map lists come in the applied order, with live items that were not applied kept where they were between them. Both
 * values must have been validated: then merging cannot fail. Unchanged parts are shared with the live value, not copied.
 */
import { isJsonObject, jsonEqual, type Json } from "#kube";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject, ownField, setField, type GrowingObject } from "./own-fields.ts";
import type { PathElement } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

/** `undefined`: the value is absent on that side; null is a value. */
export function merge(type: TypeSchema, live: Json | undefined, applied: Json | undefined): Json | undefined {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(type, applied);
  if (shape === "map" && type.map?.atomic === false) return mergeMaps(type.map, live, applied);
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") return mergeLists(type.list, live, applied);
  return jsonEqual(live, applied) ? live : applied;
}

function mergeMaps(map: MapSchema, live: Json, applied: Json): Json | undefined {
  const left = isJsonObject(live) && !isEmptyObject(live) ? live : undefined;
  const right = isJsonObject(applied) && !isEmptyObject(applied) ? applied : undefined;
  if (right === undefined) return left ?? applied; // null and {} are different
  if (left === undefined) return right;
  let merged: GrowingObject | undefined;
  for (const name in right) {
    const below = ownField(left, name);
    const value = merge(fieldType(map, name) ?? untypedAtomic, below, right[name]);
    if (value === below) continue;
    merged ??= { ...left };
    if (value === undefined) delete merged[name];
    else setField(merged, name, value);
  }
  return merged ?? left;
}

type Side = {
  readonly items: readonly Json[];
  readonly elements: readonly PathElement[];
  /** One value per element; null for duplicates, which cannot be merged. */
  readonly byElement: ReadonlyMap<PathElement, Json>;
};

function mergeLists(list: ListSchema, live: Json, applied: Json): Json | undefined {
  const left = sideOf(list, live);
  const right = sideOf(list, applied);
  if (left.items.length === 0 && right.items.length === 0) return applied;
  const merged = [...interleave(list, left, right)];
  if (merged.length === left.items.length && merged.every((item, index) => item === left.items[index])) return left.items;
  return merged.length === 0 ? undefined : merged;
}

function sideOf(list: ListSchema, value: Json | undefined): Side {
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const elements = items.map((item) => elementOrNone(list, item));
  const byElement = new Map<PathElement, Json>();
  for (const [index, element] of elements.entries()) byElement.set(element, byElement.has(element) ? null : (items[index] ?? null));
  return { items, elements, byElement };
}

/**
 * Traverses both lists at once. A live item that is also applied is emitted in the applied order; one that is not applied is emitted at its
 * live position.
 */
function* interleave(list: ListSchema, left: Side, right: Side): Generator<Json> {
  const shared = right.elements.filter((element) => left.byElement.has(element));
  const done = new Set<PathElement>();
  let nextShared = 0;
  for (let l = 0, r = 0; l < left.elements.length || r < right.elements.length;) {
    const mine = left.elements[l];
    const theirs = right.elements[r];
    if (mine !== undefined && theirs !== undefined && mine !== theirs && right.byElement.has(mine)) {
      if (nextShared < shared.length && shared[nextShared] !== mine) {
        l++; // in both lists, but not next in the applied order
        continue;
      }
    }
    if (mine !== undefined && mine !== theirs && !right.byElement.has(mine)) {
      yield* mergedItem(list, left.items[l], undefined);
      l++;
      continue;
    }
    if (mine !== undefined && (mine === theirs || done.has(mine))) l++;
    if (theirs === undefined) continue;
    done.add(theirs);
    yield* mergedItem(list, left.byElement.get(theirs), right.byElement.get(theirs));
    if (shared[nextShared] === theirs) nextShared++;
    r++;
  }
}

function* mergedItem(list: ListSchema, live: Json | undefined, applied: Json | undefined): Generator<Json> {
  const value = merge(list.element, live, applied);
  if (value !== undefined) yield value;
}

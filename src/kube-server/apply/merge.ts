/**
 * Lays an applied value over the live one. Nothing is removed here; what is in both is taken from the applied one.
 *
 * Items of set and map lists come in the applied order, with live items that were not applied kept where they were between them. Both
 * values must have been validated: then merging cannot fail.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject, ownField, setField, type GrowingObject } from "./own-fields.ts";
import type { PathElement } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

/** `undefined` on one side: it does not say anything about this value. Null does. */
export function merge(type: TypeSchema, live: Json | undefined, applied: Json | undefined): Json | undefined {
  const shape = shapeOf(type, applied === undefined ? live : applied);
  if (shape === "map" && type.map?.atomic === false) return mergeMaps(type.map, live, applied);
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") return mergeLists(type.list, live, applied);
  return applied === undefined ? live : applied;
}

function mergeMaps(map: MapSchema, live: Json | undefined, applied: Json | undefined): Json | undefined {
  const left = isJsonObject(live) && !isEmptyObject(live) ? live : undefined;
  const right = isJsonObject(applied) && !isEmptyObject(applied) ? applied : undefined;
  if (left === undefined && right === undefined) return applied === undefined ? live : applied; // keeps null and {} apart
  const merged: GrowingObject = {};
  for (const name of fieldsOf(left, right)) {
    const value = merge(fieldType(map, name) ?? untypedAtomic, left && ownField(left, name), right && ownField(right, name));
    if (value !== undefined) setField(merged, name, value);
  }
  return merged;
}

function* fieldsOf(left: JsonObject | undefined, right: JsonObject | undefined): Generator<string> {
  if (left !== undefined) yield* Object.keys(left);
  for (const name of right === undefined ? [] : Object.keys(right)) if (left === undefined || !Object.hasOwn(left, name)) yield name;
}

type Side = {
  readonly items: readonly Json[];
  readonly elements: readonly PathElement[];
  /** One value per element; null when the element is there more than once and so cannot be merged with. */
  readonly byElement: ReadonlyMap<PathElement, Json>;
};

function mergeLists(list: ListSchema, live: Json | undefined, applied: Json | undefined): Json | undefined {
  const left = sideOf(list, live);
  const right = sideOf(list, applied);
  if (left.items.length === 0 && right.items.length === 0) return applied === undefined ? live : applied;
  const merged = [...interleave(list, left, right)];
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
 * Walks both lists at once. A live item that is also applied waits for its turn in the applied order; one that is not applied comes
 * out when the walk meets it.
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
        l++; // shared, but not the one whose turn it is
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

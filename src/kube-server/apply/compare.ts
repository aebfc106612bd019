/**
 * Compares two values; returns three sets of fields: added, modified, removed. They overlap only in list items that are or were duplicates.
 *
 * Where the two sides are of different kinds (a map became a text), both ways of looking at them count: the old parts are removed and
 * the place itself is modified. Both values must have been validated.
 */
import { isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { graft, insert, type FieldNode, type FieldSet, type GrowingSet } from "./field-set.ts";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject, ownField } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type Shape, type TypeSchema } from "./schema.ts";

export type Comparison = { readonly added: FieldSet; readonly modified: FieldSet; readonly removed: FieldSet };

export function compare(type: TypeSchema, before: Json, after: Json): Comparison {
  const walk: Walk = { path: [], added: new Map(), modified: new Map(), removed: new Map() };
  visit(walk, { type, before, after });
  return { added: walk.added, modified: walk.modified, removed: walk.removed };
}

export function mapComparison(comparison: Comparison, change: (set: FieldSet) => FieldSet): Comparison {
  return { added: change(comparison.added), modified: change(comparison.modified), removed: change(comparison.removed) };
}

type Walk = { readonly path: PathElement[]; readonly added: GrowingSet; readonly modified: GrowingSet; readonly removed: GrowingSet };
/** `undefined`: absent on that side; never on both. */
type Pair = { readonly type: TypeSchema; readonly before: Json | undefined; readonly after: Json | undefined };

function visit(walk: Walk, pair: Pair): void {
  if (pair.before === undefined && pair.after !== undefined) return graft(walk.added, walk.path, nodeOfAll(pair.type, pair.after));
  // most of an object is unchanged
  if (pair.before !== undefined && pair.after !== undefined && jsonEqual(pair.before, pair.after)) return;
  const old = shapeOf(pair.type, pair.before);
  const now = shapeOf(pair.type, pair.after);
  if (pair.after === undefined) return visitAs(walk, pair, old);
  if (pair.before !== undefined && old !== now) visitAs(walk, pair, old);
  visitAs(walk, pair, now);
}

/** All fields of a value that did not exist before, including nested ones. */
function nodeOfAll(type: TypeSchema, value: Json): FieldNode {
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map?.atomic === false) return { member: true, children: fieldsOf(type.map, value) };
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic")
    return { member: true, children: itemsOf(type.list, value) };
  return LEAF;
}

const LEAF: FieldNode = { member: true, children: undefined };

function fieldsOf(map: MapSchema, value: Json): FieldSet | undefined {
  const object = filledObject(value);
  if (object === undefined) return undefined;
  const children = new Map<PathElement, FieldNode>();
  for (const name of Object.keys(object)) {
    const below = object[name];
    if (below !== undefined) children.set(fieldElement(name), nodeOfAll(fieldType(map, name) ?? untypedAtomic, below));
  }
  return children;
}

function itemsOf(list: ListSchema, value: Json): FieldSet | undefined {
  const children = new Map<PathElement, FieldNode>();
  for (const [element, items] of itemsByElement(list, value)) {
    const [only] = items;
    children.set(element, items.length === 1 && only !== undefined ? nodeOfAll(list.element, only) : LEAF);
  }
  return children.size === 0 ? undefined : children;
}

function visitAs(walk: Walk, pair: Pair, shape: Shape | undefined): void {
  if (shape === "map" && pair.type.map?.atomic === false) return visitMap(walk, pair.type.map, pair);
  if (shape === "list" && pair.type.list !== undefined && pair.type.list.kind !== "atomic") return visitList(walk, pair.type.list, pair);
  leaf(walk, pair);
}

function visitBelow(walk: Walk, element: PathElement, pair: Pair): void {
  walk.path.push(element);
  visit(walk, pair);
  walk.path.pop();
}

function leaf(walk: Walk, pair: Pair): void {
  if (pair.before === undefined || pair.after === undefined) one(walk, pair);
  else if (!jsonEqual(pair.before, pair.after)) insert(walk.modified, walk.path);
}

/** The field itself is new or removed. */
function one(walk: Walk, { before, after }: Pair): void {
  if (before === undefined) insert(walk.added, walk.path);
  else if (after === undefined) insert(walk.removed, walk.path);
}

function visitMap(walk: Walk, map: MapSchema, pair: Pair): void {
  const before = filledObject(pair.before);
  const after = filledObject(pair.after);
  if (before === undefined && after === undefined) return leaf(walk, pair);
  for (const name of Object.keys(before ?? {}))
    visitField(walk, map, { name, before: before && ownField(before, name), after: after && ownField(after, name) });
  for (const name of Object.keys(after ?? {})) {
    if (before === undefined || ownField(before, name) === undefined)
      visitField(walk, map, { name, before: undefined, after: after && ownField(after, name) });
  }
  one(walk, pair);
}

function visitField(walk: Walk, map: MapSchema, field: Omit<Pair, "type"> & { readonly name: string }): void {
  if (field.before === undefined && field.after === undefined) return;
  visitBelow(walk, fieldElement(field.name), {
    type: fieldType(map, field.name) ?? untypedAtomic,
    before: field.before,
    after: field.after,
  });
}

function filledObject(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) && !isEmptyObject(value) ? value : undefined;
}

function visitList(walk: Walk, list: ListSchema, pair: Pair): void {
  const before = itemsByElement(list, pair.before);
  const after = itemsByElement(list, pair.after);
  if (before.size === 0 && after.size === 0) return leaf(walk, pair);
  for (const [element, items] of before) visitItems(walk, list, { element, before: items, after: after.get(element) ?? [] });
  for (const [element, items] of after) if (!before.has(element)) visitItems(walk, list, { element, before: [], after: items });
  one(walk, pair);
}

function itemsByElement(list: ListSchema, value: Json | undefined): ReadonlyMap<PathElement, readonly Json[]> {
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const known = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = elementOrNone(list, item);
    const same = known.get(element);
    if (same === undefined) known.set(element, [item]);
    else same.push(item);
  }
  return known;
}

type Items = { readonly element: PathElement; readonly before: readonly Json[]; readonly after: readonly Json[] };

/** One item on each side is compared field by field; duplicates only as a whole. */
function visitItems(walk: Walk, list: ListSchema, { element, before, after }: Items): void {
  const manyBefore = before.length > 1;
  const manyAfter = after.length > 1;
  const both = (from: Json | undefined, to: Json | undefined) => {
    if (from !== undefined || to !== undefined) visitBelow(walk, element, { type: list.element, before: from, after: to });
  };
  if (!manyBefore && !manyAfter) return both(before[0], after[0]);
  if (manyBefore && manyAfter) {
    if (!jsonEqual(before, after)) insert(walk.modified, [...walk.path, element]);
    return;
  }
  both(manyBefore ? undefined : before[0], manyAfter ? undefined : after[0]);
  insert(manyBefore ? walk.removed : walk.added, [...walk.path, element]);
}

/** All fields that a value sets: what a manager owns after applying it. */
import { isJsonObject, type Json } from "#kube";
import { insert, type FieldSet, type GrowingSet } from "./field-set.ts";
import { knownElement } from "./list-items.ts";
import { isEmptyObject } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { fieldType, shapeOf, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

export function toFieldSet(type: TypeSchema, value: Json): FieldSet {
  const walk: Walk = { set: new Map(), path: [] };
  visit(walk, type, value);
  return walk.set;
}

type Walk = { readonly set: GrowingSet; readonly path: PathElement[] };

function visit(walk: Walk, type: TypeSchema, value: Json): void {
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map?.atomic === false) return visitMap(walk, type.map, value);
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") return visitList(walk, type.list, value);
  insert(walk.set, walk.path);
}

function visitMap(walk: Walk, map: MapSchema, value: Json): void {
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const below = value[name];
    const type = fieldType(map, name);
    if (below === undefined || type === undefined) continue;
    walk.path.push(fieldElement(name));
    visit(walk, type, below);
    // A map's own entries are things one can own; a struct's field is owned through what is in it, unless there is nothing.
    if (below === null || (isJsonObject(below) && isEmptyObject(below)) || map.field(name) === undefined) insert(walk.set, walk.path);
    walk.path.pop();
  }
}

/** Items that are there more than once are owned as a whole: nobody can say whose is whose. */
function visitList(walk: Walk, list: ListSchema, value: Json): void {
  if (!Array.isArray(value)) return;
  const items: readonly Json[] = value;
  const elements = items.map((item) => knownElement(list, item));
  const repeated = duplicatesOf(elements);
  for (const [index, element] of elements.entries()) {
    if (element === undefined) continue;
    walk.path.push(element);
    if (!repeated.has(element)) visit(walk, list.element, items[index] ?? null);
    insert(walk.set, walk.path);
    walk.path.pop();
  }
}

function duplicatesOf(elements: readonly (PathElement | undefined)[]): ReadonlySet<PathElement> {
  const seen = new Set<PathElement>();
  const repeated = new Set<PathElement>();
  for (const element of elements) {
    if (element === undefined) continue;
    if (seen.has(element)) repeated.add(element);
    seen.add(element);
  }
  return repeated;
}

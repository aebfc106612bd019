/**
 * All fields that a value sets: a manager owns them after applying it. Values of one shape have the same set object (shared-sets.ts).
 */
import { isJsonObject, type Json } from "#kube";
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { shapeOf, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";
import { addToSet, beginSet, LEAF, memberOf, passageOf, type Spelling } from "./shared-sets.ts";

export function toFieldSet(type: TypeSchema, value: Json): FieldSet {
  return visit(type, value, false)?.children ?? EMPTY_SET;
}

/** `itself`: the field itself is owned, not only nested fields. `undefined`: nothing is owned, as in an empty list. */
function visit(type: TypeSchema, value: Json, itself: boolean): FieldNode | undefined {
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map?.atomic === false) return nodeOf(fieldsIn(type.map, value), itself);
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") return nodeOf(itemsIn(type.list, value), itself);
  return LEAF;
}

function nodeOf(set: Spelling, itself: boolean): FieldNode | undefined {
  return itself ? memberOf(set) : passageOf(set);
}

function fieldsIn(map: MapSchema, value: Json): Spelling {
  let at = beginSet();
  if (!isJsonObject(value)) return at;
  for (const name in value) {
    const below = value[name];
    const declared = map.field(name);
    const type = declared ?? map.element;
    if (below === undefined || type === undefined) continue;
    // An entry of a map is owned itself; a field of a struct is owned through its nested fields, unless it has none.
    const itself = declared === undefined || below === null || (isJsonObject(below) && isEmptyObject(below));
    const node = visit(type, below, itself);
    if (node !== undefined) at = addToSet(at, fieldElement(name), node);
  }
  return at;
}

/** Duplicate items are owned as a whole: their owners cannot be distinguished. */
function itemsIn(list: ListSchema, value: Json): Spelling {
  const items = new Map<PathElement, FieldNode>();
  for (const item of Array.isArray(value) ? (value as readonly Json[]) : []) {
    const element = elementOrNone(list, item);
    items.set(element, items.has(element) ? LEAF : (visit(list.element, item, true) ?? LEAF));
  }
  let at = beginSet();
  for (const [element, node] of items) at = addToSet(at, element, node);
  return at;
}

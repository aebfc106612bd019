/** All fields that a value sets: what a manager owns after applying it. */
import { isJsonObject, type Json } from "#kube";
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { shapeOf, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

export function toFieldSet(type: TypeSchema, value: Json): FieldSet {
  return visit(type, value)?.children ?? EMPTY_SET;
}

const LEAF: FieldNode = { member: true, children: undefined };

/** `undefined`: nothing in it is owned, as in an empty list. */
function visit(type: TypeSchema, value: Json): FieldNode | undefined {
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map?.atomic === false) return visitMap(type.map, value);
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") return visitList(type.list, value);
  return LEAF;
}

function visitMap(map: MapSchema, value: Json): FieldNode | undefined {
  if (!isJsonObject(value)) return undefined;
  const children = new Map<PathElement, FieldNode>();
  for (const name of Object.keys(value)) {
    const below = value[name];
    const declared = map.field(name);
    const type = declared ?? map.element;
    if (below === undefined || type === undefined) continue;
    // A map's own entries are things one can own; a struct's field is owned through what is in it, unless there is nothing.
    const itself = declared === undefined || below === null || (isJsonObject(below) && isEmptyObject(below));
    const node = itself ? asMember(visit(type, below)) : visit(type, below);
    if (node !== undefined) children.set(fieldElement(name), node);
  }
  return children.size === 0 ? undefined : { member: false, children };
}

function asMember(node: FieldNode | undefined): FieldNode {
  return node?.children === undefined ? LEAF : { member: true, children: node.children };
}

/** Items that are there more than once are owned as a whole: nobody can say whose is whose. */
function visitList(list: ListSchema, value: Json): FieldNode | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const children = new Map<PathElement, FieldNode>();
  for (const item of value as readonly Json[]) {
    const element = elementOrNone(list, item);
    children.set(element, children.has(element) ? LEAF : asMember(visit(list.element, item)));
  }
  return { member: false, children };
}

/**
 * Adapts a field set to a schema that changed after the set was written: a manager that owned parts of a value that is atomic now owns the
 * whole value. The opposite change (atomic to granular) needs nothing: the owner keeps the top-level field.
 */
import { memoizeByObject } from "#base";
import type { FieldNode, FieldSet } from "./field-set.ts";
import { fieldNameOf, type PathElement } from "./path-element.ts";
import { fieldType, shapeOf, type TypeSchema } from "./schema.ts";

const WHOLE: FieldNode = { member: true, children: undefined };

/** Cached by schema and set, because every write adapts the sets of all managers. */
const reconciledBy = memoizeByObject((type: TypeSchema) => memoizeByObject((set: FieldSet) => reconcileSet(set, type)));

/** Returns the same set if nothing changes. */
export function reconcileFieldSet(set: FieldSet, type: TypeSchema): FieldSet {
  return reconciledBy(type)(set);
}

function reconcileSet(set: FieldSet, type: TypeSchema): FieldSet {
  if (type.map?.deduced === true) return set; // nothing is declared, so nothing can have changed
  let changed: Map<PathElement, FieldNode> | undefined;
  for (const [element, node] of set) {
    const below = node.children === undefined ? undefined : typeOf(type, element);
    const reconciled = below === undefined ? node : reconcileNode(node, below);
    if (reconciled !== node) (changed ??= new Map(set)).set(element, reconciled);
  }
  return changed ?? set;
}

function reconcileNode(node: FieldNode, type: TypeSchema): FieldNode {
  if (node.children === undefined || type.map?.deduced === true) return node;
  const shape = shapeOf(type, null);
  const atomic = shape === "map" ? type.map?.atomic === true : shape === "list" && type.list?.kind === "atomic";
  if (atomic) return WHOLE;
  const children = reconcileSet(node.children, type);
  return children === node.children ? node : { member: node.member, children };
}

function typeOf(type: TypeSchema, element: PathElement): TypeSchema | undefined {
  switch (shapeOf(type, null)) {
    case "map": {
      const name = fieldNameOf(element);
      return type.map && (name === undefined ? type.map.element : fieldType(type.map, name));
    }
    case "list":
      return type.list?.element;
    case "scalar":
    case undefined:
      return undefined;
  }
}

/**
 * Brings a field set in line with a schema that changed after it was written: a manager that owned parts of what is atomic now owns
 * the whole. The other way round (atomic became granular) needs nothing: the owner keeps the top, and new parts find their owners.
 */
import { EMPTY_SET, fieldSetOf, recursiveDifference, union, type FieldNode, type FieldSet } from "./field-set.ts";
import { fieldNameOf, type FieldPath, type PathElement } from "./path-element.ts";
import { fieldType, shapeOf, type TypeSchema } from "./schema.ts";

/** The same set when nothing had to change. */
export function reconcileFieldSet(set: FieldSet, type: TypeSchema): FieldSet {
  const collapsed = fieldSetOf(...atomicTops({ children: set, member: false }, { type, path: [] }));
  return collapsed.size === 0 ? set : union(recursiveDifference(set, collapsed), collapsed);
}

type Place = { readonly type: TypeSchema; readonly path: FieldPath };

function* atomicTops(node: FieldNode, { type, path }: Place): Generator<FieldPath> {
  const shape = shapeOf(type, null);
  const atomic = shape === "map" ? type.map?.atomic === true : shape === "list" && type.list?.kind === "atomic";
  const ownsWhole = node.member && node.children === undefined;
  if (shape === "scalar" || shape === undefined || (shape === "map" && type.map?.deduced === true)) return;
  if (!atomic || ownsWhole) {
    for (const [element, below] of node.children ?? EMPTY_SET) {
      const typeBelow = typeOf(type, element, shape);
      if (typeBelow !== undefined) yield* atomicTops(below, { type: typeBelow, path: [...path, element] });
    }
    return;
  }
  if (path.length > 0) yield path;
}

function typeOf(type: TypeSchema, element: PathElement, shape: "map" | "list"): TypeSchema | undefined {
  if (shape === "list") return type.list?.element;
  const name = fieldNameOf(element);
  return type.map && (name === undefined ? type.map.element : fieldType(type.map, name));
}

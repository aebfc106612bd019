/**
 * What the apply engine must know of a type: which kinds of value it takes, and who may own which part of it.
 *
 * One type may take several kinds of value (an untyped field takes all three); the value decides which part of the schema holds. The
 * parts are read through getters and functions, so that a schema that contains itself (JSONSchemaProps) is built only as deep as it is used.
 */
import { isJsonObject, type Json } from "#kube";

export type ScalarType = "string" | "numeric" | "boolean" | "untyped";

export interface TypeSchema {
  readonly scalar: ScalarType | undefined;
  readonly list: ListSchema | undefined;
  readonly map: MapSchema | undefined;
}

export interface ListSchema {
  /** `atomic`: one owner for the whole list; `set`: one per value; `map`: one per field of each item, items known by their keys. */
  readonly kind: "atomic" | "set" | "map";
  /** The fields that tell items of a `map` list apart, as declared. */
  readonly keys: readonly string[];
  readonly element: TypeSchema;
}

/** Structs and maps alike: declared fields, and the type of all others (`undefined`: there must be none). */
export interface MapSchema {
  readonly atomic: boolean;
  /** Nothing is declared and everything allowed: a change of the schema cannot be noticed here. */
  readonly deduced: boolean;
  readonly element: TypeSchema | undefined;
  field(name: string): TypeSchema | undefined;
  /** What a missing key field of a list item counts as (a port's protocol is TCP). */
  defaultOf(name: string): Json | undefined;
}

export type Shape = "map" | "scalar" | "list";

/**
 * The part of a type that a value falls under. Null, and a value that the type does not take at all, fall under the first part there
 * is: null is a valid map and a valid list, and for the rest the error names what was expected.
 */
export function shapeOf(type: TypeSchema, value: Json | undefined): Shape | undefined {
  const own = value === undefined || value === null ? undefined : shapeOfValue(value);
  if (own !== undefined && type[own] !== undefined) return own;
  if (type.map !== undefined) return "map";
  if (type.scalar !== undefined) return "scalar";
  return type.list === undefined ? undefined : "list";
}

function shapeOfValue(value: Json): Shape {
  if (Array.isArray(value)) return "list";
  return isJsonObject(value) ? "map" : "scalar";
}

/** The type of a field: as declared, or what all undeclared fields are. */
export function fieldType(map: MapSchema, name: string): TypeSchema | undefined {
  return map.field(name) ?? map.element;
}

export function scalarSchema(scalar: ScalarType): TypeSchema {
  return { scalar, list: undefined, map: undefined };
}

/** Anything, owned as a whole. */
export const untypedAtomic: TypeSchema = {
  scalar: "untyped",
  list: {
    kind: "atomic",
    keys: [],
    get element() {
      return untypedAtomic;
    },
  },
  map: openMap({ atomic: true, deduced: false, element: () => untypedAtomic }),
};

/** Anything, with the type read off the value: maps are owned field by field, lists as a whole. Kinds without a schema are this. */
export const deduced: TypeSchema = {
  scalar: "untyped",
  list: untypedAtomic.list,
  map: openMap({ atomic: false, deduced: true, element: () => deduced }),
};

function openMap(map: { readonly atomic: boolean; readonly deduced: boolean; readonly element: () => TypeSchema }): MapSchema {
  return {
    atomic: map.atomic,
    deduced: map.deduced,
    get element() {
      return map.element();
    },
    field: () => undefined,
    defaultOf: () => undefined,
  };
}

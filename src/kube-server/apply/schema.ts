/**
 * The schema of a type for the apply engine: the allowed kinds of values, and the granularity of ownership.
 *
 * One type may allow several kinds of values (an untyped field allows all three); the value decides which part of the schema applies. Parts
 * are read through getters and functions, so that a recursive schema (JSONSchemaProps) is expanded only as deep as it is used.
 */
import { isJsonObject, type Json } from "#kube";

export type ScalarType = "string" | "numeric" | "boolean" | "untyped";

export interface TypeSchema {
  readonly scalar: ScalarType | undefined;
  readonly list: ListSchema | undefined;
  readonly map: MapSchema | undefined;
}

export interface ListSchema {
  /** `atomic`: one owner for the whole list; `set`: one per value; `map`: one per field of each item, items are identified by their keys. */
  readonly kind: "atomic" | "set" | "map";
  /** The key fields of a `map` list, as declared. */
  readonly keys: readonly string[];
  readonly element: TypeSchema;
}

/** Structs and maps alike: declared fields, and the type of all others (`undefined`: none are allowed). */
export interface MapSchema {
  readonly atomic: boolean;
  /** Nothing is declared and everything is allowed: schema changes cannot be detected. */
  readonly deduced: boolean;
  readonly element: TypeSchema | undefined;
  field(name: string): TypeSchema | undefined;
  /** The default of a missing key field of a list item (a port's protocol is TCP). */
  defaultOf(name: string): Json | undefined;
}

export type Shape = "map" | "scalar" | "list";

/**
 * The part of a type that applies to a value. For null, and for a value that the type does not allow, it is the first part: null is a valid
 * map and a valid list, and in the other case the error names the expected kind.
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

/** The type of a field: as declared, or that of all undeclared fields. */
export function fieldType(map: MapSchema, name: string): TypeSchema | undefined {
  return map.field(name) ?? map.element;
}

export function scalarSchema(scalar: ScalarType): TypeSchema {
  return { scalar, list: undefined, map: undefined };
}

/** Any value, owned as a whole. */
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

/** Any value, with its type deduced: maps are owned field by field, lists as a whole. Used for kinds without a schema. */
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

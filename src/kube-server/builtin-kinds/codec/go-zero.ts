/** Go's zero values: what Go writes for a field that is not set, and what it leaves out as empty. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import type { GoField, GoType } from "./go-types.ts";

/** A field of a kind with nothing set in it, such as the status of a new object. */
export function zeroField(type: GoType, name: string): Json | undefined {
  const known = type.kind === "struct" ? type.fields().get(name) : undefined;
  return known === undefined ? undefined : zeroOf(known);
}

/** What Go writes for a field that is not set; undefined when it writes nothing. */
export function zeroOf({ type, pointer, omitEmpty, omitZero }: GoField): Json | undefined {
  if (omitZero) return undefined;
  if (pointer) return omitEmpty ? undefined : null;
  switch (type.kind) {
    case "struct":
      return zeroStruct(type);
    case "quantity":
      return "0";
    case "intOrString":
      return 0;
    case "time":
    case "microTime":
    case "any":
      return null;
    case "list":
    case "map":
    case "bytes":
      return omitEmpty ? undefined : null;
    case "string":
      return omitEmpty ? undefined : "";
    case "bool":
      return omitEmpty ? undefined : false;
    default:
      return omitEmpty ? undefined : 0;
  }
}

function zeroStruct(type: Extract<GoType, { readonly kind: "struct" }>): JsonObject {
  const written: { [field: string]: Json } = {};
  for (const known of type.fields().values()) {
    const zero = zeroOf(known);
    if (zero !== undefined) written[known.name] = zero;
  }
  return written;
}

/** Empty for `omitempty`; structs never are. */
export function isEmptyValue(type: GoType, value: Json): boolean {
  switch (type.kind) {
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "map":
      return isJsonObject(value) && hasNoFields(value);
    case "string":
    case "bytes":
      return value === "";
    case "bool":
      return value === false;
    case "int32":
    case "int64":
    case "float64":
      return value === 0;
    default:
      return false;
  }
}

function hasNoFields(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

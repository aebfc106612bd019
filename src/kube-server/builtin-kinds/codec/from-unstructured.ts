/**
 * A value as Go's converter makes a type of it (`runtime.DefaultUnstructuredConverter`): used for strategic merge patches and
 * server-side apply. It differs from the JSON decoder: other messages for the same mistakes, and an integer that is too
 * large for its field is not refused but cut to the bits that fit, as Go cuts it.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { setField, type Draft } from "../draft.ts";
import type { GoType } from "./go-types.ts";

type Converted = Result<Json, string>;

/** Returns the value itself if nothing was truncated. Types with their own decoder (times, quantities) are not converted here. */
export function fromUnstructured(type: GoType, value: Json): Converted {
  if (value === null) return ok(value);
  switch (type.kind) {
    case "struct":
      return isJsonObject(value) ? fields(type, value) : err(`cannot restore struct from: ${goKindOf(value)}`);
    case "map":
      return isJsonObject(value) ? entries(type.element, value) : err(`cannot restore map from ${goKindOf(value)}`);
    case "list":
      return Array.isArray(value) ? items(type.element, value) : err(`cannot restore slice from ${goKindOf(value)}`);
    case "bytes":
      return typeof value === "string" || Array.isArray(value) ? ok(value) : err(`cannot restore slice from ${goKindOf(value)}`);
    case "string":
      if (typeof value === "string") return ok(value);
      // Go rejects the conversion of an integer to a string
      return err(goKindOf(value) === "int64" ? `cannot convert int64 to ${type.go}` : "unrecognized type: string");
    case "bool":
      return typeof value === "boolean" ? ok(value) : err("unrecognized type: bool");
    case "float64":
      return typeof value === "number" ? ok(value) : err("unrecognized type: float64");
    case "int32":
    case "int64":
      return typeof value === "number" ? whole(value, type.kind) : err(`unrecognized type: ${type.kind}`);
    default:
      return ok(value);
  }
}

function fields(type: Extract<GoType, { readonly kind: "struct" }>, value: JsonObject): Converted {
  let copy: Draft | undefined;
  for (const { name, type: inner } of type.fields().values()) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined) continue;
    const read = fromUnstructured(inner, given);
    if (!read.ok) return read;
    if (read.value !== given) setField((copy ??= { ...value }), name, read.value);
  }
  return ok(copy ?? value);
}

function entries(element: GoType, value: JsonObject): Converted {
  let copy: Draft | undefined;
  for (const name of Object.keys(value)) {
    const given = value[name] ?? null;
    const read = fromUnstructured(element, given);
    if (!read.ok) return read;
    if (read.value !== given) setField((copy ??= { ...value }), name, read.value);
  }
  return ok(copy ?? value);
}

function items(element: GoType, list: readonly Json[]): Converted {
  let copy: Json[] | undefined;
  for (const [index, given] of list.entries()) {
    const read = fromUnstructured(element, given);
    if (!read.ok) return read;
    if (read.value !== given) (copy ??= [...list])[index] = read.value;
  }
  return ok(copy ?? list);
}

const BITS = { int32: 32, int64: 64 } as const;
const LEAST_INT64 = -(2n ** 63n);

function whole(value: number, kind: keyof typeof BITS): Converted {
  if (!Number.isInteger(value)) return err(`cannot convert float64 to ${kind}`);
  // an integer beyond 64 bits was decoded as a float, which converts to the smallest integer
  const long = goKindOf(value) === "int64" ? BigInt(value) : LEAST_INT64;
  return ok(Number(BigInt.asIntN(BITS[kind], long)));
}

const INT64 = 2 ** 63;

/** The Go type that Go's JSON decoder chooses. */
function goKindOf(value: Json): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < INT64 ? "int64" : "float64";
  return typeof value === "object" ? "map" : typeof value === "boolean" ? "bool" : "string";
}

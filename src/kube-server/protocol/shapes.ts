/**
 * Decodes JSON into the shape of a Go struct and back, as an API server with typed objects does.
 *
 * Unknown fields are dropped and reported, a wrong type is an error with the message of Go's decoder, and empty values of
 * `omitempty` fields are removed. Inside a type with its own decoder (`opaque`) unknown fields are not reported.
 */
import { err, ok, type Result } from "#base";
import { depthExceeds, isJsonObject, MAX_DEPTH, type Json, type JsonObject } from "#kube";

export type GoShape =
  | { readonly kind: "string" | "boolean"; readonly goType: string }
  | { readonly kind: "integer" | "float"; readonly goType: string }
  | { readonly kind: "any" }
  | { readonly kind: "parsed"; readonly goType: string; readonly check: (text: string) => string | undefined }
  | { readonly kind: "list"; readonly goType: string; readonly of: () => GoShape }
  | { readonly kind: "map"; readonly goType: string; readonly of: () => GoShape }
  | { readonly kind: "struct"; readonly goType: string; readonly fields: () => ReadonlyMap<string, Field> }
  | { readonly kind: "opaque"; readonly read: (value: Json) => Result<Json | undefined, string> };

/**
 * always: written with its zero value when absent. omitEmpty: omitted when empty. pointer: omitted only when absent or null.
 */
export type Field = { readonly shape: GoShape; readonly keep: "always" | "omitEmpty" | "pointer" };

export const STRING: GoShape = { kind: "string", goType: "string" };
export const BOOLEAN: GoShape = { kind: "boolean", goType: "bool" };
export const STRINGS: GoShape = { kind: "list", goType: "[]string", of: () => STRING };

export const optional = (shape: GoShape): Field => ({ shape, keep: "omitEmpty" });
export const pointer = (shape: GoShape): Field => ({ shape, keep: "pointer" });
export const always = (shape: GoShape): Field => ({ shape, keep: "always" });

export type Shaped = { readonly value: JsonObject; readonly unknown: readonly string[] };

type Place = { readonly path: string; readonly goPath: string; readonly struct: string };
type Reader = { readonly unknown: string[] };

export function readShape(shape: GoShape, value: Json): Result<Shaped, string> {
  if (depthExceeds(value, MAX_DEPTH)) return err("json: exceeded max depth");
  const reader: Reader = { unknown: [] };
  const read = readValue(reader, shape, value, { path: "", goPath: "", struct: "" });
  return read.ok ? ok({ value: (read.value ?? {}) as JsonObject, unknown: reader.unknown }) : read;
}

function readValue(reader: Reader, shape: GoShape, value: Json, at: Place): Result<Json | undefined, string> {
  if (value === null) return ok(undefined);
  switch (shape.kind) {
    case "any":
      return ok(value);
    case "opaque":
      return shape.read(value);
    case "parsed":
      return readParsed(shape, value, at);
    case "string":
    case "boolean":
      return typeof value === shape.kind ? ok(value) : wrongType(value, shape.goType, at);
    case "integer":
    case "float":
      return readNumber(shape, value, at);
    case "list":
      return Array.isArray(value) ? readList(reader, shape.of(), value, at) : wrongType(value, shape.goType, at);
    case "map":
      return isJsonObject(value) ? readMap(reader, shape.of(), value, at) : wrongType(value, shape.goType, at);
    case "struct":
      return isJsonObject(value) ? readStruct(reader, shape, value, at) : wrongType(value, shape.goType, at);
  }
}

function readParsed(shape: Extract<GoShape, { kind: "parsed" }>, value: Json, at: Place): Result<Json, string> {
  if (typeof value !== "string") return wrongType(value, shape.goType, at);
  const problem = shape.check(value);
  return problem === undefined ? ok(value) : err(problem);
}

function readNumber(shape: Extract<GoShape, { goType: string }>, value: Json, at: Place): Result<Json, string> {
  if (typeof value !== "number") return wrongType(value, shape.goType, at);
  if (shape.kind === "float" || Number.isInteger(value)) return ok(value);
  return err(`json: cannot unmarshal number ${value} into ${fieldText(at)} of type ${shape.goType}`);
}

function readList(reader: Reader, of: GoShape, value: readonly Json[], at: Place): Result<Json, string> {
  if (of.kind === "string" && value.every((item) => typeof item === "string")) return ok(value);
  const items: Json[] = [];
  for (const [position, item] of value.entries()) {
    const read = readValue(reader, of, item, { ...at, path: `${at.path}[${position}]` });
    if (!read.ok) return read;
    items.push(read.value ?? zeroOf(of));
  }
  return ok(items);
}

function readMap(reader: Reader, of: GoShape, value: JsonObject, at: Place): Result<Json, string> {
  if (of.kind === "string" && hasOnlyStrings(value)) return ok(value);
  const entries: [string, Json][] = [];
  for (const [name, item] of Object.entries(value)) {
    const read = readValue(reader, of, item ?? null, { ...at, path: joined(at.path, name) });
    if (!read.ok) return read;
    entries.push([name, read.value ?? zeroOf(of)]);
  }
  return ok(Object.fromEntries(entries));
}

/** True for most string maps, which may be large: then no entry needs decoding. */
function hasOnlyStrings(value: JsonObject): boolean {
  for (const name in value) if (typeof value[name] !== "string") return false;
  return true;
}

function readStruct(reader: Reader, shape: Extract<GoShape, { kind: "struct" }>, value: JsonObject, at: Place): Result<Json, string> {
  const fields = shape.fields();
  const read = new Map<string, Json>();
  for (const [name, item] of Object.entries(value)) {
    const known = fields.get(name);
    if (known === undefined) {
      reader.unknown.push(joined(at.path, name));
      continue;
    }
    const place = { path: joined(at.path, name), goPath: joined(at.goPath, name), struct: shape.goType.replace(/^.*\./, "") };
    const result = readValue(reader, known.shape, item ?? null, place);
    if (!result.ok) return result;
    if (result.value !== undefined && !(known.keep === "omitEmpty" && isEmpty(result.value))) read.set(name, result.value);
  }
  const entries: [string, Json][] = [];
  for (const [name, { shape: of, keep }] of fields) {
    const item = read.get(name) ?? (keep === "always" ? zeroOf(of) : undefined);
    if (item !== undefined) entries.push([name, item]);
  }
  return ok(Object.fromEntries(entries));
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function fieldText(at: Place): string {
  return at.struct === "" ? "Go value" : `Go struct field ${at.struct}.${at.goPath}`;
}

function wrongType(value: Json, goType: string, at: Place): Result<never, string> {
  return err(`json: cannot unmarshal ${jsonTypeOf(value)} into ${fieldText(at)} of type ${goType}`);
}

function jsonTypeOf(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function zeroOf(shape: GoShape): Json {
  if (shape.kind === "string" || shape.kind === "parsed") return "";
  if (shape.kind === "boolean") return false;
  if (shape.kind === "integer" || shape.kind === "float") return 0;
  if (shape.kind !== "struct") return null;
  const entries = [...shape.fields()].flatMap(([name, field]): [string, Json][] =>
    field.keep === "always" ? [[name, zeroOf(field.shape)]] : [],
  );
  return Object.fromEntries(entries);
}

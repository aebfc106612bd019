/**
 * Decodes a JSON value as the Go type of its kind: unknown fields are dropped and reported, null is absence, empty values that Go omits are
 * omitted, and structs that Go always writes are present.
 *
 * Errors are Go's: the first wrong type is recorded and decoding continues, but an error of a type with its own decoder (a quantity, a time)
 * ends it.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { mismatch, type Reading, readScalar } from "./go-scalars.ts";
import type { GoField, GoType } from "./go-types.ts";
import { isEmptyValue, zeroOf } from "./go-zero.ts";
import { soundValue, UNSOUND } from "./sound-values.ts";

type Draft = { [field: string]: Json | undefined };

type Struct = Extract<GoType, { readonly kind: "struct" }>;

export type GoValue = { readonly value: JsonObject; readonly findings: readonly string[] };

/** `like` was decoded before: parts that are shared with it are valid. */
export function readGoValue(type: GoType, value: Json, like?: Json): Result<GoValue, string> {
  const sound = soundValue(type, value, like);
  if (sound !== UNSOUND && isJsonObject(sound)) return ok({ value: sound, findings: [] });
  return readClosely(type, value);
}

/** The general decoder, for values with errors or warnings. */
export function readClosely(type: GoType, value: Json): Result<GoValue, string> {
  const reading: Reading = { findings: [], mismatch: undefined, refusal: undefined, goPath: [], struct: "" };
  const read = readValue(reading, type, value, "");
  const wrong = reading.refusal ?? reading.mismatch;
  if (wrong !== undefined) return err(wrong);
  return ok({ value: isJsonObject(read) ? read : {}, findings: reading.findings });
}

/** undefined: Go's zero value. */
function readValue(reading: Reading, type: GoType, value: Json, path: string): Json | undefined {
  if (reading.refusal !== undefined || value === null) return undefined;
  switch (type.kind) {
    case "any":
      return value;
    case "struct":
      return isJsonObject(value) ? readStruct(reading, type, value, path) : mismatch(reading, value, type.go);
    case "map":
      return isJsonObject(value) ? readMap(reading, type.element, value, path) : mismatch(reading, value, type.go);
    case "list":
      return Array.isArray(value) ? readList(reading, type.element, value, path) : mismatch(reading, value, type.go);
    default:
      return readScalar(reading, type.kind, type.go, value);
  }
}

function readStruct(reading: Reading, type: Struct, value: JsonObject, path: string): JsonObject {
  const fields = type.fields();
  const read = new Map<string, Json | undefined>();
  const outer = reading.struct;
  for (const [name, inner] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const known = fields.get(name);
    if (known === undefined) reading.findings.push(`unknown field "${at}"`);
    else if (inner !== undefined) read.set(name, readField(reading, type, known, { value: inner, at }));
    reading.struct = outer;
  }
  return writeStruct(type, read);
}

function readField(
  reading: Reading,
  type: Struct,
  known: GoField,
  { value, at }: { readonly value: Json; readonly at: string },
): Json | undefined {
  const steps = known.inlined === undefined ? [known.name] : [known.inlined, known.name];
  reading.struct = type.name;
  reading.goPath.push(...steps);
  const read = readValue(reading, known.type, value, at);
  reading.goPath.length -= steps.length;
  return read;
}

function writeStruct(type: Struct, read: ReadonlyMap<string, Json | undefined>): JsonObject {
  const written: Draft = {};
  for (const known of type.fields().values()) {
    const value = read.get(known.name);
    if (value === undefined) {
      const zero = zeroOf(known);
      if (zero !== undefined) written[known.name] = zero;
    } else if (known.pointer || !known.omitEmpty || !isEmptyValue(known.type, value)) written[known.name] = value;
  }
  return written;
}

function readMap(reading: Reading, element: GoType, value: JsonObject, path: string): JsonObject {
  const read: Draft = {};
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const item = readValue(reading, element, inner, path === "" ? name : `${path}.${name}`) ?? zeroElement(element);
    // a plain assignment to "__proto__" would set the prototype
    if (name === "__proto__") Object.defineProperty(read, name, { value: item, enumerable: true, configurable: true, writable: true });
    else read[name] = item;
  }
  return read;
}

function readList(reading: Reading, element: GoType, value: readonly Json[], path: string): readonly Json[] {
  return value.map((item, index) => readValue(reading, element, item, `${path}[${index}]`) ?? zeroElement(element));
}

function zeroElement(type: GoType): Json {
  return zeroOf({ name: "", type, pointer: false, omitEmpty: false, omitZero: false, inlined: undefined }) ?? null;
}

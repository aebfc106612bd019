/**
 * The value of a mutation's expression as JSON.
 *
 * Values of a JSON patch are encoded as protobuf on a real server: integers that a double cannot hold become texts there, as do times.
 */
import { err, ok, type Result } from "#base";
import type { Json, JsonObject } from "#kube";
import {
  CelDuration,
  CelOptional,
  CelStruct,
  CelTimestamp,
  CelUint,
  formatInstant,
  formatSeconds,
  isList,
  isMap,
  itemsOf,
  typeName,
  type CelValue,
} from "#cel";

export function toJson(value: CelValue): Result<Json, string> {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number") return ok(value);
  if (typeof value === "bigint") return ok(wholeNumber(value));
  if (value instanceof CelUint) return ok(wholeNumber(value.value));
  if (value instanceof CelStruct) return structJson(value);
  if (value instanceof CelOptional && value.value !== undefined) return toJson(value.value);
  if (isList(value)) return listJson(itemsOf(value));
  if (isMap(value)) return mapJson(value);
  const text = textOf(value);
  const name = typeName(value);
  return text === undefined ? err(`type conversion error from '${name.slice(name.lastIndexOf(".") + 1)}' to '*structpb.Value'`) : ok(text);
}

function wholeNumber(value: bigint): Json {
  const exact = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
  return exact ? Number(value) : String(value);
}

function textOf(value: CelValue): string | undefined {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof CelTimestamp) return formatInstant(value.instant);
  return value instanceof CelDuration ? formatSeconds(value.nanos) : undefined;
}

function listJson(items: readonly CelValue[]): Result<Json, string> {
  const made: Json[] = [];
  for (const item of items) {
    const json = toJson(item);
    if (!json.ok) return json;
    made.push(json.value);
  }
  return ok(made);
}

function mapJson(map: Extract<CelValue, { readonly kind: "map" }>): Result<Json, string> {
  const entries: [string, CelValue][] = [];
  for (const key of map.keys()) {
    if (typeof key !== "string") return err(`unsupported type conversion from '${typeName(key)}' to string`);
    entries.push([key, map.get(key) ?? null]);
  }
  return entriesJson(entries);
}

export function structJson({ fields }: CelStruct): Result<JsonObject, string> {
  return entriesJson([...fields]);
}

/** `fromEntries` defines own properties, so "__proto__" is an ordinary name. */
function entriesJson(entries: readonly (readonly [string, CelValue])[]): Result<JsonObject, string> {
  const made: [string, Json][] = [];
  for (const [name, value] of entries) {
    const json = toJson(value);
    if (!json.ok) return json;
    made.push([name, json.value]);
  }
  return ok(Object.fromEntries(made));
}

/** The type name of each struct must be its path: `Object.spec.template` below `spec`, `template`. Lists and maps in the path are not counted. */
export function wrongNames(value: CelValue, path: readonly string[]): readonly string[] {
  if (isList(value)) return itemsOf(value).flatMap((item) => wrongNames(item, path));
  if (isMap(value)) return value.keys().flatMap((key) => wrongNames(value.get(key) ?? null, path));
  if (!(value instanceof CelStruct)) return [];
  const wanted = path.join(".");
  const { name } = value.type;
  const own = `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(wanted)}, which matches field name path from root Object type`;
  return [...(name === wanted ? [] : [own]), ...[...value.fields].flatMap(([field, inner]) => wrongNames(inner, [...path, field]))];
}

/**
 * An object's JSON as CEL values, typed by its schema: a number is an int or a double because the schema says so, a string with
 * a format is a time. Values are made when they are asked for; most rules look at little of an object.
 */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import { parseGoDuration } from "../validation/durations.ts";
import { goTypeOf, isInt64 } from "../validation/numbers.ts";
import { parseDate, parseTimestamp } from "../validation/timestamps.ts";
import { withResourceFields } from "./declared-type.ts";
import { equal } from "./equality.ts";
import { escapeName, unescapeName } from "./escaping.ts";
import {
  CelDuration,
  CelFailure,
  CelPreserved,
  CelTimestamp,
  failure,
  itemAt,
  itemsOf,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelMap,
  type CelValue,
} from "./values.ts";

export function schemaValue(json: Json, schema: JsonSchema): CelValue {
  if (json === null) return schema.nullable ? null : failure("invalid data, got null for schema with nullable=false");
  if (schema.intOrString) return intOrString(json);
  switch (schema.type) {
    case "object":
      return isJsonObject(json)
        ? objectValue(json, schema)
        : failure("invalid data, expected a map for the provided schema with type=object");
    case "array":
      return Array.isArray(json)
        ? arrayValue(json, schema)
        : failure("invalid data, expected an array for the provided schema with type=array");
    case "string":
      return typeof json === "string" ? textValue(json, schema.format) : failure(`invalid data, expected string, got ${goTypeOf(json)}`);
    case "number":
      return typeof json === "number" ? json : failure(`invalid data, expected float, got ${goTypeOf(json)}`);
    case "integer":
      return typeof json === "number" && isInt64(json) ? BigInt(json) : failure(`invalid data, expected int, got ${goTypeOf(json)}`);
    case "boolean":
      return typeof json === "boolean" ? json : failure(`invalid data, expected bool, got ${goTypeOf(json)}`);
    default:
      return schema.preserveUnknownFields === true ? new CelPreserved(json) : failure("invalid type");
  }
}

function intOrString(json: Json): CelValue {
  if (typeof json === "string") return json;
  if (typeof json === "number" && isInt64(json)) return BigInt(json);
  return failure("invalid data, expected XIntOrString value to be either a string or integer");
}

function textValue(text: string, format: string): CelValue {
  switch (format) {
    case "duration": {
      const nanos = parseGoDuration(text);
      return nanos === undefined ? failure(`Invalid duration ${text}: unable to parse ${text} as duration`) : new CelDuration(nanos);
    }
    case "date": {
      const date = parseDate(text);
      return date.value === undefined ? failure(`Invalid date formatted string ${text}: ${date.error}`) : new CelTimestamp(date.value);
    }
    case "date-time":
      return timeValue(text);
    case "byte":
      return bytesValue(text);
    default:
      return text;
  }
}

/** A time without a zone is allowed here, and is UTC. */
function timeValue(text: string): CelValue {
  const time = parseTimestamp(text);
  const local = time.value === undefined ? parseTimestamp(`${text}Z`) : time;
  return local.value === undefined ? failure(`Invalid date-time formatted string ${text}: ${time.error}`) : new CelTimestamp(local.value);
}

function bytesValue(text: string): CelValue {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) return failure(`Invalid byte formatted string ${text}: illegal base64 data`);
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

type SchemaMap = CelMap & { readonly json: JsonObject };

function objectValue(json: JsonObject, declared: JsonSchema): SchemaMap {
  const schema = declared.embeddedResource ? withResourceFields(declared) : declared;
  const isObject = schema.properties !== undefined;
  const schemaOf = (name: string): JsonSchema | undefined => (isObject ? schema.properties?.get(name) : valueSchema(schema));
  const find = (key: CelValue): CelValue | undefined => {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    const name = isObject ? unescapeName(key) : key;
    const value = name === undefined ? undefined : field(json, name);
    const known = name === undefined ? undefined : schemaOf(name);
    if (value === undefined || known === undefined || (isObject && value === null)) return undefined;
    return schemaValue(value, known);
  };
  const map: SchemaMap = {
    kind: "map",
    json,
    size: Object.keys(json).length,
    get: find,
    keys: () => Object.keys(json).flatMap((name) => (schemaOf(name) === undefined ? [] : [isObject ? (escapeName(name) ?? name) : name])),
    equalTo: (other) => equalFields(json, map, other, schemaOf),
  };
  return map;
}

function equalFields(
  json: JsonObject,
  map: CelMap,
  other: CelMap,
  schemaOf: (name: string) => JsonSchema | undefined,
): boolean | CelFailure {
  for (const [name, value] of Object.entries(json)) {
    if (schemaOf(name) === undefined) {
      if (!isSchemaMap(other)) return NO_SUCH_OVERLOAD;
      const raw = field(other.json, name);
      if (raw !== undefined && !jsonEqual(value, raw)) return false;
      continue;
    }
    const [mine, theirs] = [map.get(name), other.get(name)];
    if (mine === undefined && theirs === undefined) continue;
    if (mine === undefined || theirs === undefined) return false;
    const same = equal(mine, theirs);
    if (same !== true) return same;
  }
  return true;
}

function isSchemaMap(map: CelMap): map is SchemaMap {
  return "json" in map;
}

type SchemaList = CelList & { readonly json: readonly Json[] };

function arrayValue(json: readonly Json[], schema: JsonSchema): CelValue {
  const { items } = schema;
  if (items === undefined) return failure("invalid array type, expected Items with a non-empty Schema");
  const get = (position: number): CelValue =>
    position < json.length ? schemaValue(json[position] ?? null, items) : failure(`index out of bounds: ${position}`);
  const list: SchemaList = {
    kind: "list",
    json,
    size: json.length,
    get,
    equalTo: (other) => equalItems(list, other, schema),
    addAll: (other) => joined(json, other, schema),
  };
  return list;
}

/** The order of sets and of lists with keys does not count. */
function equalItems(list: SchemaList, other: CelList, schema: JsonSchema): boolean | CelFailure {
  const others = itemsOf(other);
  if (schema.listType === "set") return others.every((item) => itemsOf(list).some((mine) => equal(mine, item) === true));
  for (const [position, item] of others.entries()) {
    const mine = schema.listType === "map" ? withSameKeys(list, item, schema) : list.get(position);
    const same = mine === undefined ? false : equal(mine, item);
    if (same !== true) return same;
  }
  return true;
}

function keysOf(item: CelValue, schema: JsonSchema): readonly (CelValue | undefined)[] {
  return schema.listMapKeys.map((name) =>
    typeof item === "object" && item !== null && "kind" in item && item.kind === "map" ? item.get(escapeName(name) ?? name) : undefined,
  );
}

function withSameKeys(list: CelList, item: CelValue, schema: JsonSchema): CelValue | undefined {
  const wanted = keysOf(item, schema);
  return itemsOf(list).find((mine) =>
    keysOf(mine, schema).every((key, at) => key !== undefined && wanted[at] !== undefined && equal(key, wanted[at] ?? null) === true),
  );
}

/** Adding to a set leaves out what is there; adding to a list with keys replaces what has the same ones. */
function joined(json: readonly Json[], other: CelList, schema: JsonSchema): CelValue {
  const mine = itemsOf(arrayValue(json, { ...schema, listType: undefined }) as CelList);
  const result = [...mine];
  for (const item of itemsOf(other)) {
    const at = sameItem(result, item, schema);
    if (at < 0) result.push(item);
    else if (schema.listType === "map") result[at] = item;
  }
  return { kind: "list", size: result.length, get: (position) => itemAt(result, position) };
}

function sameItem(items: readonly CelValue[], item: CelValue, schema: JsonSchema): number {
  if (schema.listType === "set") return items.findIndex((mine) => equal(mine, item) === true);
  if (schema.listType !== "map") return -1;
  const wanted = keysOf(item, schema);
  return items.findIndex((mine) => keysOf(mine, schema).every((key, at) => key !== undefined && equal(key, wanted[at] ?? null) === true));
}

/**
 * An object's JSON as CEL values, typed by its schema: a number is an int or a double by its schema, a string with a format is a time. Values
 * are made on first access; most rules read only a small part of an object.
 */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import {
  CelDuration,
  CelPreserved,
  CelTimestamp,
  equal,
  escapeName,
  failure,
  jsonSize,
  NO_SUCH_OVERLOAD,
  parseDate,
  parseGoDuration,
  parseLocalTime,
  parseTimestamp,
  unescapeName,
  type CelFailure,
  type CelMap,
  type CelValue,
  type Meter,
} from "#cel";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import { goTypeOf, isInt64 } from "../validation/numbers.ts";
import { arrayValue } from "./schema-lists.ts";
import { withResourceFields } from "./schema-type.ts";

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
        ? arrayValue(json, schema, schemaValue)
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
  const zoned = parseTimestamp(text);
  const time = zoned.value === undefined ? parseLocalTime(text) : zoned;
  return time.value === undefined ? failure(`Invalid date-time formatted string ${text}: ${time.error}`) : new CelTimestamp(time.value);
}

function bytesValue(text: string): CelValue {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) return failure(`Invalid byte formatted string ${text}: illegal base64 data`);
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/**
 * An object or a map of the schema. Its size and its values are made once: a loop that looks up every key of a map must not make the map again
 * each time.
 */
class SchemaMap implements CelMap {
  readonly kind = "map";
  readonly json: JsonObject;
  readonly #schema: JsonSchema;
  readonly #isObject: boolean;
  #size: number | undefined;
  #keys: readonly CelValue[] | undefined;
  #values: Map<string, CelValue> | undefined;

  constructor(json: JsonObject, schema: JsonSchema) {
    this.json = json;
    this.#schema = schema;
    this.#isObject = schema.properties !== undefined;
  }

  get size(): number {
    return (this.#size ??= Object.keys(this.json).length);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    const known = this.#values?.get(key);
    if (known !== undefined) return known;
    const found = this.#find(key);
    if (typeof found === "object" && found !== null) (this.#values ??= new Map()).set(key, found);
    return found;
  }

  #find(key: string): CelValue | undefined {
    const name = this.#isObject ? unescapeName(key) : key;
    const value = name === undefined ? undefined : field(this.json, name);
    const schema = name === undefined ? undefined : this.#schemaOf(name);
    if (value === undefined || schema === undefined || (this.#isObject && value === null)) return undefined;
    return schemaValue(value, schema);
  }

  keys(): readonly CelValue[] {
    return (this.#keys ??= Object.keys(this.json).flatMap((name) => {
      if (this.#schemaOf(name) === undefined) return [];
      return [this.#isObject ? (escapeName(name) ?? name) : name];
    }));
  }

  equalTo(other: CelMap, meter: Meter): boolean | CelFailure {
    const spent = meter.work(this.size * 20);
    if (spent !== undefined) return spent;
    for (const [name, value] of Object.entries(this.json)) {
      const same = this.#schemaOf(name) === undefined ? equalUnknown({ name, value }, other, meter) : this.#equalField(name, other, meter);
      if (same !== true) return same;
    }
    return true;
  }

  #equalField(name: string, other: CelMap, meter: Meter): boolean | CelFailure {
    const [mine, theirs] = [this.get(name), other.get(name)];
    if (mine === undefined || theirs === undefined) return mine === theirs;
    return equal(mine, theirs, meter);
  }

  #schemaOf(name: string): JsonSchema | undefined {
    return this.#isObject ? this.#schema.properties?.get(name) : valueSchema(this.#schema);
  }
}

/** A field that is not in the schema. */
function equalUnknown(
  { name, value }: { readonly name: string; readonly value: Json | undefined },
  other: CelMap,
  meter: Meter,
): boolean | CelFailure {
  if (!(other instanceof SchemaMap)) return NO_SUCH_OVERLOAD;
  const raw = field(other.json, name);
  return meter.work(jsonSize(value) * 4) ?? (raw === undefined || jsonEqual(value, raw));
}

function objectValue(json: JsonObject, declared: JsonSchema): SchemaMap {
  return new SchemaMap(json, declared.embeddedResource ? withResourceFields(declared) : declared);
}

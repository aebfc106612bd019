/**
 * Sets the defaults of a schema in an object, and handles nulls.
 *
 * A null on a field that is not nullable takes the default; without a default it is dropped, as if it had not been sent.
 * Surprise: defaults are set only in existing objects, so the default of a nested field has no effect without its parent.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { schemaOfField, valueSchema, type JsonSchema } from "./json-schema.ts";
import { mapFields, mapItems } from "./prune.ts";

export function applyDefaults(value: Json, schema: JsonSchema | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return mapItems(value, (item) => applyDefaults(isRefusedNull(item, items) ? (items.default ?? null) : item, items));
  }
  return isJsonObject(value) ? defaultFields(value, schema) : value;
}

function defaultFields(value: JsonObject, schema: JsonSchema): JsonObject {
  const filled = fillMissing(value, schema);
  return mapFields(filled, (item, name) => {
    const known = schema.properties?.get(name);
    if (known !== undefined) return applyDefaults(item, known);
    const values = valueSchema(schema);
    return values === undefined ? item : applyDefaults(isRefusedNull(item, values) ? (values.default ?? null) : item, values);
  });
}

function fillMissing(value: JsonObject, schema: JsonSchema): JsonObject {
  const missing: [string, Json][] = [];
  for (const [name, property] of schema.properties ?? []) {
    if (property.default === undefined) continue;
    const present = Object.hasOwn(value, name) && value[name] !== undefined;
    if (!present || isRefusedNull(value[name] ?? null, property)) missing.push([name, property.default]);
  }
  return missing.length === 0 ? value : Object.fromEntries([...Object.entries(value), ...missing]);
}

function isRefusedNull(value: Json, schema: JsonSchema): boolean {
  return value === null && !schema.nullable;
}

/** Drops nulls that are neither allowed nor replaced by a default. Nulls in lists stay and are refused later. */
export function dropRefusedNulls(value: Json, schema: JsonSchema | undefined): Json {
  if (Array.isArray(value)) return mapItems(value, (item) => dropRefusedNulls(item, schema?.items));
  if (!isJsonObject(value)) return value;
  return mapFields(value, (item, name) => {
    const known = schemaOfField(schema, name);
    if (known !== undefined && isRefusedNull(item, known) && known.default === undefined) return undefined;
    return dropRefusedNulls(item, known);
  });
}

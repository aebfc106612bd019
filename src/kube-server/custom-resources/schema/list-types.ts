/** Lists of type set or map: no duplicate elements or keys. */
import { canonicalJson, field, isJsonObject, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { duplicate, invalid } from "../causes/causes.ts";
import { child, index, key, type CausePath } from "../causes/field-path.ts";
import { valueSchema, type JsonSchema } from "./json-schema.ts";

export function validateListTypes(path: CausePath, schema: JsonSchema | undefined, value: Json): readonly FieldCause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) return validateList(path, schema, value);
  return isJsonObject(value) ? validateFields(path, schema, value) : [];
}

function validateFields(path: CausePath, schema: JsonSchema, value: JsonObject): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const values = valueSchema(schema);
  for (const [name, item] of Object.entries(value)) {
    if (values !== undefined) causes.push(...validateListTypes(key(path, name), values, item ?? null));
    const property = schema.properties?.get(name);
    if (property !== undefined) causes.push(...validateListTypes(child(path, name), property, item ?? null));
  }
  return causes;
}

function validateList(path: CausePath, schema: JsonSchema, items: readonly Json[]): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (schema.listType === "set") {
    for (const position of repeated(items)) causes.push(duplicate(index(path, position), items[position]));
  }
  if (schema.listType === "map") causes.push(...validateMapList(path, schema, items));
  for (const [position, item] of items.entries()) causes.push(...validateListTypes(index(path, position), schema.items, item));
  return causes;
}

function validateMapList(path: CausePath, schema: JsonSchema, items: readonly Json[]): readonly FieldCause[] {
  const notObject = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (notObject >= 0) return [invalid(index(path, notObject), items[notObject], "must be an object for an array of list-type map")];
  const keys = items.map((item) => keyOf(item, schema.listMapKeys));
  return repeated(keys).map((position) => duplicate(index(path, position), keys[position]));
}

function keyOf(item: Json, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = field(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The position at which a value appears for the second time; further ones are not reported. */
function repeated(values: readonly Json[]): readonly number[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, position) => {
    const text = canonicalJson(value);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [position] : [];
  });
}

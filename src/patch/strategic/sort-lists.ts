/** Sorts all merge lists of an object by their keys: two objects that differ only in the order of such lists then compare equal. */
import { ok, type Result } from "#base";
import { badElementOrder, badJson, badPrimitiveList, badRetainKeys, tooDeep, type PatchError } from "../errors.ts";
import { depthExceeds, isList, isObject, MAX_DEPTH, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";
import type { FieldMerge, PatchSchema } from "../schema/port.ts";
import { sortedByText } from "./diff-list.ts";
import { DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./directives.ts";
import { elementsOf, withoutDuplicates } from "./elements.ts";

/**
 * @example sortMergeLists({ spec: { containers: [{ name: "b" }, { name: "a" }] } }, podSchema)
 * // ok: { spec: { containers: [{ name: "a" }, { name: "b" }] } }
 */
export function sortMergeLists(document: Json | undefined, schema: PatchSchema): Result<JsonObject, PatchError> {
  const object = document ?? {};
  if (!isObject(object)) return badJson();
  return depthExceeds(object, MAX_DEPTH) ? tooDeep() : sortObject(object, schema);
}

function sortObject(object: JsonObject, schema: PatchSchema): Result<JsonObject, PatchError> {
  const sorted: MutableObject = {};
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const field = name.startsWith("$") ? sortDirective(name, value, schema) : sortField(name, value, schema);
    if (!field.ok) return field;
    setField(sorted, name, field.value);
  }
  return ok(sorted);
}

function sortDirective(name: string, value: Json, schema: PatchSchema): Result<Json, PatchError> {
  if (name === PATCH) return ok(value);
  if (name === RETAIN_KEYS) return isList(value) ? ok(sortScalars(value)) : badRetainKeys();
  if (name.startsWith(DELETE_FROM_PRIMITIVE_LIST)) return isList(value) ? ok(sortScalars(value)) : badPrimitiveList();
  if (name.startsWith(SET_ELEMENT_ORDER)) return isList(value) ? ok(value) : badElementOrder();
  return sortField(name, value, schema);
}

function sortField(name: string, value: Json, schema: PatchSchema): Result<Json, PatchError> {
  if (isObject(value)) {
    const field = schema.objectField(name);
    return field.ok ? sortObject(value, field.value.schema) : field;
  }
  if (!isList(value)) return ok(value);
  const field = schema.listField(name);
  if (!field.ok) return field;
  return field.value.strategy === "merge" ? sortList(value, field.value) : ok(value);
}

function sortList(list: readonly Json[], field: FieldMerge): Result<Json, PatchError> {
  if (list.length === 0) return ok(list);
  const elements = elementsOf(list);
  if (!elements.ok) return elements;
  if (elements.value === "scalars") return ok(sortScalars(withoutDuplicates(list)));
  const items: JsonObject[] = [];
  for (const item of list as readonly JsonObject[]) {
    const sorted = sortObject(item, field.schema);
    if (!sorted.ok) return sorted;
    items.push(sorted.value);
  }
  return ok(sortedByText(items, field.mergeKey).map(({ item }) => item));
}

function sortScalars(list: readonly Json[]): readonly Json[] {
  return sortedByText(list).map(({ item }) => item);
}

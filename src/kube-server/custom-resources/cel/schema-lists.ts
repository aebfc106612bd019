/**
 * Lists of an object as CEL values. Sets and lists with keys are compared and added to by their elements, not by position.
 *
 * Elements are found by a digest of their content: a rule that compares two long lists pays for their length, and no more.
 */
import type { Json } from "#kube";
import type { JsonSchema } from "../schema/json-schema.ts";
import { contentText, equal } from "./equality.ts";
import { escapeName } from "./escaping.ts";
import { failure, isMap, itemAt, itemsOf, type CelFailure, type CelList, type CelValue } from "./values.ts";

/** How an item becomes a value; schema-values.ts knows. */
type ValueOf = (json: Json, schema: JsonSchema) => CelValue;

export function arrayValue(json: readonly Json[], schema: JsonSchema, valueOf: ValueOf): CelValue {
  const { items } = schema;
  if (items === undefined) return failure("invalid array type, expected Items with a non-empty Schema");
  const list: CelList = {
    kind: "list",
    size: json.length,
    get: (position) => (position < json.length ? valueOf(json[position] ?? null, items) : failure(`index out of bounds: ${position}`)),
    equalTo: (other) => equalItems(list, other, schema),
    addAll: (other) => joined(list, other, schema),
  };
  return list;
}

/** The order of sets and of lists with keys does not count. */
function equalItems(list: CelList, other: CelList, schema: JsonSchema): boolean | CelFailure {
  const known = isKeyed(schema) ? byIdentity(itemsOf(list), schema) : undefined;
  for (let position = 0; position < other.size; position++) {
    const item = other.get(position);
    const mine = known === undefined ? list.get(position) : known.get(identityOf(item, schema));
    if (mine === undefined) return false;
    const same = equal(mine, item);
    if (same !== true) return same;
  }
  return true;
}

function isKeyed(schema: JsonSchema): boolean {
  return schema.listType === "set" || schema.listType === "map";
}

function byIdentity(items: readonly CelValue[], schema: JsonSchema): ReadonlyMap<string, CelValue> {
  return new Map(items.map((item) => [identityOf(item, schema), item]));
}

/** What makes an element the same one: its keys, or all of it. */
function identityOf(item: CelValue, schema: JsonSchema): string {
  if (schema.listType !== "map" || !isMap(item)) return contentText(item);
  return schema.listMapKeys.map((name) => contentText(item.get(escapeName(name) ?? name) ?? null)).join();
}

/** Adding to a set leaves out what is there; adding to a list with keys replaces what has the same ones. */
function joined(list: CelList, other: CelList, schema: JsonSchema): CelValue {
  const result = [...itemsOf(list)];
  const places = new Map(isKeyed(schema) ? result.map((item, at) => [identityOf(item, schema), at]) : []);
  for (const item of itemsOf(other)) {
    const identity = isKeyed(schema) ? identityOf(item, schema) : "";
    const at = places.get(identity);
    if (at === undefined) {
      if (isKeyed(schema)) places.set(identity, result.length);
      result.push(item);
    } else if (schema.listType === "map") result[at] = item;
  }
  return { kind: "list", size: result.length, get: (position) => itemAt(result, position) };
}

/**
 * Lists of an object as CEL values. Sets and lists with keys are compared and concatenated by element, not by position.
 *
 * Elements are found by a digest of their content: comparing two long lists takes linear time.
 */
import type { Json } from "#kube";
import {
  CelFailure,
  contentText,
  equal,
  escapeName,
  failure,
  isMap,
  itemsOf,
  listOf,
  tooManyItems,
  type CelList,
  type CelValue,
  type Meter,
} from "#cel";
import type { JsonSchema } from "../schema/json-schema.ts";

/** Converts an item to a value; see schema-values.ts. */
type ValueOf = (json: Json, schema: JsonSchema) => CelValue;

export function arrayValue(json: readonly Json[], schema: JsonSchema, valueOf: ValueOf): CelValue {
  const { items } = schema;
  if (items === undefined) return failure("invalid array type, expected Items with a non-empty Schema");
  const values: CelValue[] = [];
  const list: CelList = {
    kind: "list",
    size: json.length,
    get: (position) => {
      if (position >= json.length) return failure(`index out of bounds: ${position}`);
      return (values[position] ??= valueOf(json[position] ?? null, items));
    },
    equalTo: (other, meter) => equalItems({ list, other, schema, meter }),
    addAll: (other, meter) => joined({ list, other, schema, meter }),
  };
  return list;
}

type Both = { readonly list: CelList; readonly other: CelList; readonly schema: JsonSchema; readonly meter: Meter };

/** The order of sets and of lists with keys is ignored. */
function equalItems({ list, other, schema, meter }: Both): boolean | CelFailure {
  const known = isKeyed(schema) ? positions(itemsOf(list), schema, meter) : undefined;
  if (known instanceof CelFailure) return known;
  for (let position = 0; position < other.size; position++) {
    const item = other.get(position);
    const identity = known === undefined ? "" : identityOf(item, schema, meter);
    if (identity instanceof CelFailure) return identity;
    const at = known === undefined ? position : known.get(identity);
    if (at === undefined) return false;
    const same = equal(list.get(at), item, meter);
    if (same !== true) return same;
  }
  return true;
}

function isKeyed(schema: JsonSchema): boolean {
  return schema.listType === "set" || schema.listType === "map";
}

/** The last position of each identity. */
function positions(items: readonly CelValue[], schema: JsonSchema, meter: Meter): Map<string, number> | CelFailure {
  const found = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const identity = identityOf(item, schema, meter);
    if (identity instanceof CelFailure) return identity;
    found.set(identity, at);
  }
  return found;
}

/** The identity of an element: its keys, or its whole content. */
function identityOf(item: CelValue, schema: JsonSchema, meter: Meter): string | CelFailure {
  if (schema.listType !== "map" || !isMap(item)) return contentText(item, meter);
  const keys = schema.listMapKeys.map((name) => item.get(escapeName(name) ?? name) ?? null);
  return contentText(listOf(keys), meter);
}

/** Adding to a set skips existing elements; adding to a list with keys replaces elements with the same keys. */
function joined({ list, other, schema, meter }: Both): CelValue {
  const refused = tooManyItems(list.size + other.size) ?? meter.work(list.size + other.size);
  if (refused !== undefined) return refused;
  const result = [...itemsOf(list)];
  const places = isKeyed(schema) ? positions(result, schema, meter) : new Map<string, number>();
  if (places instanceof CelFailure) return places;
  for (const item of itemsOf(other)) {
    const identity = isKeyed(schema) ? identityOf(item, schema, meter) : "";
    if (identity instanceof CelFailure) return identity;
    const at = places.get(identity);
    if (at === undefined) {
      if (isKeyed(schema)) places.set(identity, result.length);
      result.push(item);
    } else if (schema.listType === "map") result[at] = item;
  }
  return listOf(result);
}

/** The path element of an item of a set or map list: its value, or its key fields with their defaults. */
import { boundedMap, err, memoizeByObject, ok, type Result } from "#base";
import { goCompareText, isJsonObject, goQuote, type Json, type JsonObject } from "#kube";
import { keyElement, valueElement, type KeyField, type PathElement } from "./path-element.ts";
import type { ListSchema } from "./schema.ts";

export function elementOfItem(list: ListSchema, item: Json): Result<PathElement, string> {
  return list.kind === "map" ? elementByKeys(list, item) : elementByValue(item);
}

/** The path element of an item without keys: pruning removed all its fields, and null is left. */
const NO_ELEMENT: PathElement = "";

/**
 * For validated values, and for the results of pruning. As on a real server, an item without keys still counts as an item: the list is not
 * empty.
 */
export function elementOrNone(list: ListSchema, item: Json): PathElement {
  const element = elementOfItem(list, item);
  return element.ok ? element.value : NO_ELEMENT;
}

function elementByValue(item: Json): Result<PathElement, string> {
  if (item === null) return err("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) return err("not supported: associative list with lists as elements");
  if (isJsonObject(item)) return err("associative list without keys has an element that's a map type");
  return ok(valueElement(item));
}

/** A cache of path elements by key values: items with the same name occur repeatedly. */
const elementsOf = memoizeByObject((_list: ListSchema) => boundedMap<string | number, Result<PathElement, string>>({ limit: 5_000 }));

function elementByKeys(list: ListSchema, item: Json): Result<PathElement, string> {
  if (item === null) return err("associative list with keys may not have a null element");
  if (!isJsonObject(item)) return err("associative list with keys may not have non-map elements");
  const value = keyOf(list.keys, item);
  if (value === undefined) return readElement(list, item);
  const known = elementsOf(list);
  return known.get(value) ?? known.set(value, readElement(list, item));
}

/** The cache key of an item: the value of a single key, or the text of several. Undefined: not cacheable. */
function keyOf(keys: readonly string[], item: JsonObject): string | number | undefined {
  const [first = ""] = keys;
  if (keys.length === 1) return plainKey(item, first);
  let text = "";
  for (const key of keys) {
    const value = plainKey(item, key);
    if (value === undefined) return undefined;
    text += typeof value === "string" ? `${value.length}:${value}` : `#${value}|`; // unique: no other values have this text
  }
  return text;
}

function plainKey(item: JsonObject, key: string): string | number | undefined {
  const value = Object.hasOwn(item, key) ? item[key] : undefined;
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

function readElement(list: ListSchema, item: JsonObject): Result<PathElement, string> {
  const fields: KeyField[] = [];
  for (const name of list.keys) {
    const own = Object.hasOwn(item, name) ? item[name] : undefined;
    if (own === undefined && list.element.map === undefined)
      return err(`couldn't find default value for ${name}: associative list may not have non-map types`);
    const value = own ?? (own === null ? null : list.element.map?.defaultOf(name));
    if (value !== undefined) fields.push([name, value]);
  }
  if (fields.length === 0) return err(withoutKeys(list.keys));
  return ok(keyElement(fields.length === 1 ? fields : fields.toSorted(([a], [b]) => goCompareText(a, b))));
}

function withoutKeys(keys: readonly string[]): string {
  const names = `[${keys.map(goQuote).join(" ")}]`;
  return `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`;
}

/**
 * Roughly how many bytes of memory a JSON value takes: for limits. A value of many small parts takes ten times as much memory as text.
 *
 * Called for every update, so it must be fast: `for in` creates no array of the fields, and JSON objects inherit none.
 */
import { isJsonObject } from "#kube";

const STRING = 24;
const OBJECT = 56;
const ARRAY = 32;
const FIELD = 24;
const SLOT = 8;

export function approximateSize(value: unknown): number {
  if (typeof value === "string") return value.length + STRING;
  if (typeof value !== "object" || value === null) return SLOT;
  if (Array.isArray(value)) {
    let size = ARRAY;
    for (const item of value) size += approximateSize(item);
    return size;
  }
  let size = OBJECT;
  if (isJsonObject(value)) for (const name in value) size += name.length + FIELD + approximateSize(value[name]);
  return size;
}

/** The size of the parts of `value` that are not shared with `other` at the same path: the cost of keeping both. */
export function sizeBeside(value: unknown, other: unknown): number {
  if (value === other || typeof value !== "object" || value === null) return value === other ? 0 : approximateSize(value);
  if (Array.isArray(value) && Array.isArray(other)) {
    let size = ARRAY;
    for (let index = 0; index < value.length; index += 1) size += sizeBeside(value[index], other[index]);
    return size;
  }
  if (!isJsonObject(value) || !isJsonObject(other)) return approximateSize(value);
  let size = OBJECT;
  for (const name in value) size += name.length + FIELD + sizeBeside(value[name], other[name]);
  return size;
}

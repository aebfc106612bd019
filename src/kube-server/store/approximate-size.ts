/**
 * Roughly how many bytes a value has as JSON, without making the text: for limits, not for formats.
 *
 * Every update pays for it, so it is written for speed: `for in` makes no array of the fields, and JSON inherits none.
 */
import { isJsonObject } from "#kube";

export function approximateSize(value: unknown): number {
  if (typeof value === "string") return value.length + 3;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += approximateSize(item);
  else if (isJsonObject(value)) for (const name in value) size += name.length + 4 + approximateSize(value[name]);
  else return 6;
  return size;
}

/** What of `value` is not also a part of `other`, in the same place: what it costs to keep both. */
export function sizeBeside(value: unknown, other: unknown): number {
  if (value === other || typeof value !== "object" || value === null) return value === other ? 0 : approximateSize(value);
  let size = 2;
  if (Array.isArray(value) && Array.isArray(other)) {
    for (let index = 0; index < value.length; index += 1) size += sizeBeside(value[index], other[index]);
  } else if (isJsonObject(value) && isJsonObject(other)) {
    for (const name in value) size += name.length + 4 + sizeBeside(value[name], other[name]);
  } else return approximateSize(value);
  return size;
}

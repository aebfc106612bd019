/**
 * A deep copy of a JSON value, where a field that is `undefined` is absent, as in JSON.
 *
 * The object is spread first, then nested values are replaced: V8 copies an object of a known shape at once, several times faster than adding
 * field after field, and than structuredClone. `for in` is twice as fast as `Object.keys` with lookups in objects of many shapes. The
 * `fieldsV1` of managedFields, often the larger part of an object, is frozen and shared by equal objects: it is not copied.
 */
import { MAX_DEPTH, type Json } from "#kube";
import { isSharedFields } from "./apply/index.ts";

export function copyJson(value: unknown): Json {
  return (isNested(value) ? copied(value, MAX_DEPTH) : (value as Json | undefined)) ?? null;
}

function copied(value: object, depth: number): Json {
  if (depth <= 0) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return copiedItems(value as readonly unknown[], depth - 1);
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    const inner = copy[name];
    if (inner === undefined) delete copy[name];
    else if (isNested(inner) && !(name === "fieldsV1" && isSharedFields(inner))) replace(copy, name, copied(inner, depth - 1));
  }
  return copy as Json;
}

function copiedItems(items: readonly unknown[], depth: number): Json {
  const copies: Json[] = [];
  for (const item of items) copies.push(isNested(item) ? copied(item, depth) : ((item as Json | undefined) ?? null));
  return copies;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A plain assignment to "__proto__" would set the prototype. */
function replace(copy: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  else copy[name] = value;
}

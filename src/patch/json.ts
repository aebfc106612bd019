/**
 * JSON values of the patch functions: read-only inputs and results, own fields only.
 *
 * Results share their unchanged parts with the inputs, which makes a patch cheap. Therefore values are never changed in place.
 */
import type { Json, JsonObject } from "#base";

export type { Json, JsonObject, JsonPrimitive } from "#base";
/** An object under construction; it becomes a JsonObject when it leaves the function that made it. */
export type MutableObject = { [field: string]: Json | undefined };

/** Deeper documents are refused: recursion must end before the stack does. Kubernetes' own objects stay below a hundred levels. */
export const MAX_DEPTH = 1_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactFloat);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Own fields only: "constructor" and "__proto__" never return inherited properties. */
export function fieldOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A plain assignment to "__proto__" would change the prototype instead of adding a field. */
export function setField(object: MutableObject, name: string, value: Json): void {
  if (name === "__proto__") Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

/** The names of present fields; a field with `undefined` is absent. */
export function fieldNames(object: JsonObject): string[] {
  return Object.keys(object).filter((name) => object[name] !== undefined);
}

export function isEmpty(object: JsonObject): boolean {
  for (const name in object) if (Object.hasOwn(object, name) && object[name] !== undefined) return false;
  return true;
}

export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = fieldNames(a);
  return names.length === fieldNames(b).length && names.every((name) => jsonEqual(a[name], fieldOf(b, name)));
}

export function depthExceeds(value: unknown, limit: number): boolean {
  return depthOf(value, limit) > limit;
}

/** The number of nested lists and objects; more than `limit` if it exceeds that. */
export function depthOf(value: unknown, limit: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (limit <= 0) return 1;
  let inner = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (typeof item === "object") inner = Math.max(inner, depthOf(item, limit - 1));
      if (inner >= limit) break;
    }
    return inner + 1;
  }
  const object = value as JsonObject;
  for (const name in object) {
    const item = object[name];
    if (typeof item === "object") inner = Math.max(inner, depthOf(item, limit - 1));
    if (inner >= limit) break;
  }
  return inner + 1;
}

/**
 * A number that was written as a float but has a whole value ("1.0"). Go distinguishes it from the integer 1, and so do the `Text` functions.
 * Only exact-text.ts creates these, one per value and call, so that `===` compares them.
 */
export class ExactFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

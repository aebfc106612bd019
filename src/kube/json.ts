/** JSON values: types, equality, canonical text, and parsing that is safe for untrusted input. */
import { err, fromThrowing, describeThrown, type Json, type JsonObject, type Result } from "#base";

export type { Json, JsonObject, JsonPrimitive } from "#base";

export const MAX_DEPTH = 100;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Own fields only: with `hasOwn`, "constructor" and "__proto__" never return inherited properties.
 */
export function field(value: unknown, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function fieldAt(value: unknown, ...path: readonly string[]): Json | undefined {
  let at: unknown = value;
  for (const name of path) at = field(at, name);
  return at as Json | undefined;
}

/** Equal as JSON: the order of fields is ignored, `undefined` equals an absent field. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  let fields = 0;
  for (const name of Object.keys(a)) {
    const value = a[name];
    if (value === undefined) continue;
    if (!Object.hasOwn(b, name) || !jsonEqual(value, b[name])) return false;
    fields += 1;
  }
  return fields === countFields(b);
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!jsonEqual(a[at], b[at])) return false;
  return true;
}

function countFields(object: JsonObject): number {
  let fields = 0;
  for (const name of Object.keys(object)) if (object[name] !== undefined) fields += 1;
  return fields;
}

/** Equal values have the same text: fields sorted, no white space. The input of digests. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const names = Object.keys(value);
  if (isOrdered(names) && names.every((name) => typeof value[name] === "string")) return JSON.stringify(value);
  let text = "";
  for (const name of isOrdered(names) ? names : names.toSorted()) {
    const field = value[name];
    if (field !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(field)}`;
  }
  return `{${text}}`;
}

/** Most field names are sorted already, and the check is cheaper than sorting. */
function isOrdered(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at += 1) if ((names[at - 1] ?? "") > (names[at] ?? "")) return false;
  return true;
}

export function parseJson(text: string): Result<Json, string> {
  const parsed = fromThrowing(
    () => JSON.parse(text) as Json,
    (thrown) => `not JSON: ${describeThrown(thrown)}`,
  );
  if (parsed.ok && depthExceeds(parsed.value, MAX_DEPTH)) return err(`nested deeper than ${MAX_DEPTH} levels`);
  return parsed;
}

export function depthExceeds(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit <= 0) return true;
  // loops: on large objects, `Object.values` and a callback per value take three times as long
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) if (depthExceeds(item, limit - 1)) return true;
    return false;
  }
  const object = value as JsonObject;
  for (const name in object) if (depthExceeds(object[name], limit - 1)) return true;
  return false;
}

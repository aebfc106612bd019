/**
 * Structural sharing: returns the new state of an object with all parts that equal the old one replaced by the old parts themselves.
 *
 * Later comparisons (field owners, generation, no-op writes) then compare references, and history stores only the changed parts. Where parts
 * differ only in the order of their fields, the old order remains.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";

export function shareWith(old: Json | undefined, next: Json): Json {
  if (old === next || typeof old !== "object" || old === null || typeof next !== "object" || next === null) return next;
  if (Array.isArray(next)) return Array.isArray(old) ? sharedList(old, next) : next;
  return isJsonObject(old) ? sharedObject(old, next as JsonObject) : next;
}

function sharedList(old: readonly Json[], next: readonly Json[]): readonly Json[] {
  let copy: Json[] | undefined;
  let same = old.length === next.length;
  for (let index = 0; index < next.length; index += 1) {
    const item = next[index] ?? null;
    const before = old[index];
    const shared = shareWith(before, item);
    if (shared !== before) same = false;
    if (shared !== item) (copy ??= [...next])[index] = shared;
  }
  return same ? old : (copy ?? next);
}

function sharedObject(old: JsonObject, next: JsonObject): JsonObject {
  let copy: { [name: string]: Json | undefined } | undefined;
  let [same, fields] = [true, 0];
  for (const name in next) {
    const value = next[name];
    if (value === undefined) continue;
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    const shared = shareWith(before, value);
    fields += 1;
    if (shared !== before) same = false;
    // spread first, so "__proto__" is a field of the copy and not its prototype
    if (shared !== value) (copy ??= { ...next })[name] = shared;
  }
  return same && fields === fieldsOf(old) ? old : (copy ?? next);
}

function fieldsOf(object: JsonObject): number {
  let fields = 0;
  for (const name in object) if (object[name] !== undefined) fields += 1;
  return fields;
}

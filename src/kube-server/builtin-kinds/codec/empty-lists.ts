/**
 * Storage does not tell an empty list from none: what Go always writes comes back as null. Field owners are found before that, so a
 * client that sent `rules: []` owns it.
 */
import { field, isJsonObject, type Json, type KubeObject } from "#kube";
import { asJson, setField, type Draft } from "../draft.ts";
import type { GoType } from "./go-types.ts";

export function withoutEmptyLists(type: GoType, object: KubeObject): KubeObject {
  const before = asJson(object);
  const after = cleaned(type, before);
  return after === before ? object : (after as unknown as KubeObject);
}

/** The value itself when there was nothing to do. */
function cleaned(type: GoType, value: Json): Json {
  if (!concerned(type)) return value;
  if (type.kind === "struct" && isJsonObject(value)) {
    let copy: Draft | undefined;
    for (const known of type.fields().values()) {
      const inner = field(value, known.name);
      if (inner === undefined || inner === null) continue;
      const lost = !known.omitEmpty && !known.pointer && isEmptyCollection(known.type, inner);
      const next = lost ? null : cleaned(known.type, inner);
      if (next !== inner) setField((copy ??= { ...value }), known.name, next);
    }
    return copy ?? value;
  }
  if (type.kind === "list" && Array.isArray(value)) {
    const items: readonly Json[] = value;
    const next = items.map((item) => cleaned(type.element, item));
    return next.every((item, index) => item === items[index]) ? value : next;
  }
  return value;
}

function isEmptyCollection(type: GoType, value: Json): boolean {
  if (type.kind === "list") return Array.isArray(value) && value.length === 0;
  return type.kind === "map" && isJsonObject(value) && Object.keys(value).length === 0;
}

const memo = new Map<GoType, boolean>();

/** Whether a type has such a list in it, or below. */
function concerned(type: GoType): boolean {
  const known = memo.get(type);
  if (known !== undefined) return known;
  memo.set(type, false); // a type that holds itself has the lists that it has elsewhere
  const found = type.kind === "list" ? concerned(type.element) : type.kind === "struct" && [...type.fields().values()].some(holds);
  memo.set(type, found);
  return found;

  function holds({ type: inner, omitEmpty }: { readonly type: GoType; readonly omitEmpty: boolean }): boolean {
    return (!omitEmpty && (inner.kind === "list" || inner.kind === "map")) || concerned(inner);
  }
}

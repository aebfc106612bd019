/**
 * Storage does not distinguish an empty list from none: fields that Go always writes are read as null. Field owners are tracked before that, so a
 * client that sent `rules: []` owns it.
 */
import { memoizeByObject } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { asJson, setField, type Draft } from "../draft.ts";
import type { GoField, GoType } from "./go-types.ts";

type Struct = Extract<GoType, { readonly kind: "struct" }>;

export function withoutEmptyLists(type: GoType, object: KubeObject): KubeObject {
  const before = asJson(object);
  const after = cleaned(type, before);
  return after === before ? object : (after as unknown as KubeObject);
}

/** Returns the value itself if nothing changes. */
function cleaned(type: GoType, value: Json): Json {
  if (type.kind === "struct" && isJsonObject(value)) return cleanedStruct(type, value);
  if (type.kind === "list" && Array.isArray(value)) return cleanedItems(type.element, value);
  return value;
}

function cleanedStruct(type: Struct, value: JsonObject): JsonObject {
  let copy: Draft | undefined;
  for (const known of concernedFields(type)) {
    const inner = field(value, known.name);
    if (inner === undefined || inner === null) continue;
    const lost = !known.omitEmpty && !known.pointer && isEmptyCollection(known.type, inner);
    const next = lost ? null : cleaned(known.type, inner);
    if (next !== inner) setField((copy ??= { ...value }), known.name, next);
  }
  return copy ?? value;
}

function cleanedItems(element: GoType, items: readonly Json[]): readonly Json[] {
  if (!isConcerned(element)) return items;
  let copy: Json[] | undefined;
  for (const [index, item] of items.entries()) {
    const next = cleaned(element, item);
    if (next !== item) (copy ??= [...items])[index] = next;
  }
  return copy ?? items;
}

function isEmptyCollection(type: GoType, value: Json): boolean {
  if (type.kind === "list") return Array.isArray(value) && value.length === 0;
  return type.kind === "map" && isJsonObject(value) && Object.keys(value).length === 0;
}

/** The fields of a struct that are such lists, or have one below. */
const concernedFields = memoizeByObject((type: Struct): readonly GoField[] => [...type.fields().values()].filter(holds));

function holds({ type, omitEmpty }: GoField): boolean {
  return (!omitEmpty && (type.kind === "list" || type.kind === "map")) || isConcerned(type);
}

/** Whether a type contains such a list at any depth. A recursive reference adds no lists. */
const isConcerned: (type: GoType) => boolean = memoizeByObject(
  (type: GoType) => (type.kind === "list" ? isConcerned(type.element) : type.kind === "struct" && [...type.fields().values()].some(holds)),
  false,
);

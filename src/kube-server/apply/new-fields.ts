/**
 * The fields of a new object, which its creator owns. A fast path of `trackUpdate`: one traversal that also validates the object.
 *
 * It returns undefined for anything unusual (a schema violation, duplicate list items, an empty value where the kind has null); then the
 * general code determines the result, and its error message.
 */
import { isJsonObject, jsonEqual, MAX_DEPTH, type Json, type JsonObject } from "#kube";
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import { elementOfItem } from "./list-items.ts";
import { isEmptyObject, ownField } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { fieldType, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";
import { addToSet, beginSet, LEAF, memberOf, passageOf, type Spelling } from "./shared-sets.ts";
import { fits, scalarFits } from "./validate.ts";

const LENIENT = { allowDuplicates: true };

/** All fields that `object` sets in addition to `empty`, the kind without any fields set. Undefined: use the general code. */
export function fieldsOfNew(type: TypeSchema, empty: JsonObject, object: JsonObject): FieldSet | undefined {
  const node = beyond(type, empty, object, 0);
  if (node === UNUSUAL) return undefined;
  return node?.children ?? EMPTY_SET;
}

const UNUSUAL = Symbol("unusual");

/** Undefined: nothing in it has an owner. */
type Beyond = FieldNode | undefined | typeof UNUSUAL;

function beyond(type: TypeSchema, empty: Json | undefined, value: Json, depth: number): Beyond {
  if (empty === undefined) return allOf(type, value, depth) ?? UNUSUAL;
  if (Array.isArray(value)) return empty === null && isOnlyList(type) ? itemsBeyond(type, value, depth) : UNUSUAL;
  if (isJsonObject(value)) return empty === null || isJsonObject(empty) ? mapBeyond(type, empty, value, depth) : UNUSUAL;
  if (type.map !== undefined || (typeof empty === "object" && empty !== null) || !fits(type, value, LENIENT, depth)) return UNUSUAL;
  return value === empty ? undefined : LEAF;
}

/** In this case null counts as a list. */
function isOnlyList({ map, scalar }: TypeSchema): boolean {
  return map === undefined && scalar === undefined;
}

function mapBeyond(type: TypeSchema, empty: JsonObject | null, value: JsonObject, depth: number): Beyond {
  if (type.map === undefined) return UNUSUAL;
  if (type.map.atomic) return wholeBeyond(type, empty, value, depth);
  if (!isEmptyObject(value)) return fieldsBeyond(type.map, empty ?? {}, value, depth);
  return empty !== null && isEmptyObject(empty) ? undefined : UNUSUAL;
}

function wholeBeyond(type: TypeSchema, empty: Json, value: Json, depth: number): Beyond {
  if (!fits(type, value, LENIENT, depth)) return UNUSUAL;
  return jsonEqual(empty, value) ? undefined : LEAF;
}

function fieldsBeyond(map: MapSchema, empty: JsonObject, value: JsonObject, depth: number): Beyond {
  let at = beginSet();
  for (const name in value) {
    const below = value[name];
    if (below === undefined) continue;
    const type = fieldType(map, name);
    const node = type === undefined ? UNUSUAL : beyond(type, ownField(empty, name), below, depth + 1);
    if (node === UNUSUAL) return UNUSUAL;
    if (node !== undefined) at = addToSet(at, fieldElement(name), node);
  }
  return passageOf(at);
}

function itemsBeyond(type: TypeSchema, value: readonly Json[], depth: number): Beyond {
  const { list } = type;
  if (list === undefined) return UNUSUAL;
  if (list.kind === "atomic") return wholeBeyond(type, null, value, depth);
  const at = value.length === 0 ? undefined : items(list, value, depth);
  return at === undefined ? UNUSUAL : passageOf(at);
}

/** The field itself and all nested fields. Undefined: unusual. */
function allOf(type: TypeSchema, value: Json, depth: number): FieldNode | undefined {
  if (typeof value !== "object" || value === null) return scalarOf(type, value, depth);
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const { list } = type;
    if (list === undefined) return undefined;
    if (list.kind === "atomic") return fits(type, value, LENIENT, depth) ? LEAF : undefined;
    const at = items(list, value, depth);
    return at === undefined ? undefined : memberOf(at);
  }
  const { map } = type;
  if (map === undefined) return undefined;
  if (map.atomic) return fits(type, value, LENIENT, depth) ? LEAF : undefined;
  const at = fields(map, value as JsonObject, depth);
  return at === undefined ? undefined : memberOf(at);
}

function scalarOf(type: TypeSchema, value: Json, depth: number): FieldNode | undefined {
  const fitting = value === null ? fits(type, value, LENIENT, depth) : type.scalar !== undefined && scalarFits(type.scalar, value);
  return fitting ? LEAF : undefined;
}

function fields(map: MapSchema, value: JsonObject, depth: number): Spelling | undefined {
  let at = beginSet();
  for (const name in value) {
    const below = value[name];
    if (below === undefined) continue;
    const type = fieldType(map, name);
    const node = type === undefined ? undefined : allOf(type, below, depth + 1);
    if (node === undefined) return undefined;
    at = addToSet(at, fieldElement(name), node);
  }
  return at;
}

function items(list: ListSchema, value: readonly Json[], depth: number): Spelling | undefined {
  let at = beginSet();
  const seen = new Set<PathElement>();
  for (const item of value) {
    const element = elementOfItem(list, item);
    if (!element.ok || seen.has(element.value)) return undefined;
    seen.add(element.value);
    const node = allOf(list.element, item, depth + 1);
    if (node === undefined) return undefined;
    at = addToSet(at, element.value, node);
  }
  return at;
}

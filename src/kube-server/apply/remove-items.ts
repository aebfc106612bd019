/**
 * Takes fields out of a value, or takes only them.
 *
 * A map or list of which nothing is left becomes null, not absent: that is what a real server stores for custom resources when the
 * schema allows null, and what decoding drops for built-in kinds.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { EMPTY_SET, has, insert, isEmpty, pathsOf, union, type FieldSet, type GrowingSet } from "./field-set.ts";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject, setField, type GrowingObject } from "./own-fields.ts";
import { fieldElement, isKeyElement, keyFieldsOf } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";
import { toFieldSet } from "./to-field-set.ts";

export function removeItems(type: TypeSchema, value: Json, fields: FieldSet): Json {
  return isEmpty(fields) ? value : visit({ extract: false }, { type, value, fields });
}

/** Only these fields; with `keys`, also the fields that tell the list items on the way apart. */
export function extractItems(type: TypeSchema, value: Json, fields: FieldSet, options: { readonly keys?: boolean } = {}): Json {
  const wanted = options.keys === true ? union(fields, keyFieldsOn(fields, toFieldSet(type, value))) : fields;
  return visit({ extract: true }, { type, value, fields: wanted });
}

function keyFieldsOn(fields: FieldSet, present: FieldSet): FieldSet {
  const keys: GrowingSet = new Map();
  for (const path of pathsOf(fields)) {
    if (!has(present, path)) continue;
    for (const [index, element] of path.entries()) {
      if (!isKeyElement(element)) continue;
      for (const [name] of keyFieldsOf(element)) insert(keys, [...path.slice(0, index + 1), fieldElement(name)]);
    }
  }
  return keys;
}

type Mode = { readonly extract: boolean };
type Part = { readonly type: TypeSchema; readonly value: Json; readonly fields: FieldSet };

function visit(mode: Mode, part: Part): Json {
  switch (shapeOf(part.type, part.value)) {
    case "map":
      return part.type.map === undefined || !isJsonObject(part.value)
        ? null
        : visitMap(mode, part.type.map, { ...part, value: part.value });
    case "list":
      return part.type.list === undefined || !Array.isArray(part.value)
        ? null
        : visitList(mode, part.type.list, { ...part, value: part.value });
    case "scalar":
    case undefined:
      return part.value;
  }
}

function visitList(mode: Mode, list: ListSchema, { value, fields }: { readonly value: readonly Json[]; readonly fields: FieldSet }): Json {
  if (value.length === 0 || list.kind === "atomic") return mode.extract ? value : null;
  const kept: Json[] = [];
  for (const item of value) {
    const node = fields.get(elementOrNone(list, item));
    if (mode.extract ? node === undefined : node?.member === true) continue;
    kept.push(node?.children === undefined ? item : visit(mode, { type: list.element, value: item, fields: node.children }));
  }
  return kept.length > 0 ? kept : null;
}

function visitMap(mode: Mode, map: MapSchema, { value, fields }: { readonly value: JsonObject; readonly fields: FieldSet }): Json {
  if (isEmptyObject(value) || map.atomic) return mode.extract ? value : null;
  const kept: GrowingObject = {};
  for (const name of Object.keys(value)) {
    const below = value[name];
    if (below === undefined) continue;
    const result = visitField(mode, map, { name, value: below, fields });
    if (result !== undefined) setField(kept, name, result);
  }
  return isEmptyObject(kept) ? null : kept;
}

type FieldPart = { readonly name: string; readonly value: Json; readonly fields: FieldSet };

function visitField(mode: Mode, map: MapSchema, { name, value, fields }: FieldPart): Json | undefined {
  const node = fields.get(fieldElement(name));
  const type = fieldType(map, name) ?? untypedAtomic;
  if (node?.member === true) return mode.extract ? visit(mode, { type, value, fields: node.children ?? EMPTY_SET }) : undefined;
  if (node?.children !== undefined) return visit(mode, { type, value, fields: node.children });
  return mode.extract ? undefined : value;
}

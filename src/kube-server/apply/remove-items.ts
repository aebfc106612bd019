/**
 * Removes fields from a value.
 *
 * A map or list that becomes empty is replaced by null, not removed: a real server stores null for custom resources if the schema allows it,
 * and decoding drops it for built-in kinds.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { isEmpty, type FieldSet } from "./field-set.ts";
import { elementOrNone } from "./list-items.ts";
import { isEmptyObject, setField, type GrowingObject } from "./own-fields.ts";
import { fieldElement } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

export function removeItems(type: TypeSchema, value: Json, fields: FieldSet): Json {
  return isEmpty(fields) ? value : visit({ type, value, fields });
}

type Part = { readonly type: TypeSchema; readonly value: Json; readonly fields: FieldSet };

function visit(part: Part): Json {
  switch (shapeOf(part.type, part.value)) {
    case "map":
      return part.type.map === undefined || !isJsonObject(part.value) ? null : visitMap(part.type.map, { ...part, value: part.value });
    case "list":
      return part.type.list === undefined || !Array.isArray(part.value) ? null : visitList(part.type.list, { ...part, value: part.value });
    case "scalar":
    case undefined:
      return part.value;
  }
}

function visitList(list: ListSchema, { value, fields }: { readonly value: readonly Json[]; readonly fields: FieldSet }): Json {
  if (value.length === 0 || list.kind === "atomic") return null;
  const kept: Json[] = [];
  for (const item of value) {
    const node = fields.get(elementOrNone(list, item));
    if (node?.member === true) continue;
    kept.push(node?.children === undefined ? item : visit({ type: list.element, value: item, fields: node.children }));
  }
  return kept.length > 0 ? kept : null;
}

function visitMap(map: MapSchema, { value, fields }: { readonly value: JsonObject; readonly fields: FieldSet }): Json {
  if (isEmptyObject(value) || map.atomic) return null;
  const kept: GrowingObject = {};
  for (const name of Object.keys(value)) {
    const below = value[name];
    if (below === undefined) continue;
    const result = visitField(map, { name, value: below, fields });
    if (result !== undefined) setField(kept, name, result);
  }
  return isEmptyObject(kept) ? null : kept;
}

type FieldPart = { readonly name: string; readonly value: Json; readonly fields: FieldSet };

function visitField(map: MapSchema, { name, value, fields }: FieldPart): Json | undefined {
  const node = fields.get(fieldElement(name));
  const type = fieldType(map, name) ?? untypedAtomic;
  if (node?.member === true) return undefined;
  return node?.children === undefined ? value : visit({ type, value, fields: node.children });
}

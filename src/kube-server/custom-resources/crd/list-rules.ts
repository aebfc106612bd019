/** Checks of the list types set and map in a schema. */
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid, notSupported, printed, required } from "../causes/causes.ts";
import { child, key } from "../causes/field-path.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { pointer, wrongType } from "./schema-rules.ts";

export function listTypeCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const at = child(path, "x-kubernetes-list-type");
  if (schema.listType !== undefined && schema.type !== "array")
    causes.push(wrongType(path, schema.type, "must be array if x-kubernetes-list-type is specified"));
  else if (schema.listType === "set" && schema.items !== undefined) causes.push(...setItemCauses(schema.items, child(path, "items")));
  if (schema.listType !== undefined && !["atomic", "set", "map"].includes(schema.listType)) {
    causes.push(notSupported(at, schema.listType, ["atomic", "set", "map"]));
  }
  if (schema.listMapKeys.length > 0 && schema.listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    causes.push(schema.listType === undefined ? required(at, detail) : invalid(at, schema.listType, detail));
  }
  if (schema.listType === "map") causes.push(...mapListCauses(schema, path));
  return [...causes, ...keyCauses(schema, path)];
}

/** Elements of a set are compared as a whole, so nothing inside them may be merged. */
function setItemCauses(items: JsonSchema, path: string): readonly FieldCause[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  if (items.type === "array" && items.listType !== undefined && items.listType !== "atomic") {
    return [invalid(child(path, "x-kubernetes-list-type"), pointer(items.listType), detail)];
  }
  return items.type === "object" && items.mapType !== "atomic"
    ? [invalid(child(path, "x-kubernetes-map-type"), pointer(items.listType), detail)]
    : [];
}

function mapListCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const at = child(path, "x-kubernetes-list-map-keys");
  if (schema.listMapKeys.length === 0) causes.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  const { items } = schema;
  if (items === undefined) {
    const detail = "must have a schema if x-kubernetes-list-type is map";
    return schema.itemList.length === 0 ? [...causes, required(child(path, "items"), detail)] : causes;
  }
  if (items.type !== "object")
    return [...causes, invalid(child(path, "items", "type"), items.type, "must be object if parent array's x-kubernetes-list-type is map")];
  for (const [position, name] of schema.listMapKeys.entries()) {
    const property = items.properties?.get(name);
    const keys = printed(JSON.stringify(schema.listMapKeys));
    if (property === undefined) causes.push(invalid(at, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const typeAt = child(key(child(path, "items", "properties"), name), "type");
      causes.push(invalid(typeAt, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (schema.listMapKeys.indexOf(name) < position) causes.push(invalid(at, keys, "must not contain duplicate entries"));
  }
  return causes;
}

/** A key must always have a value: it is required or has a default, and is never null. */
function keyCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const { items, listType } = schema;
  if (items === undefined || (listType !== "set" && listType !== "map")) return [];
  const causes: FieldCause[] = [];
  if (items.nullable)
    causes.push(forbidden(child(path, "items", "nullable"), `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  if (listType === "set") return causes;
  for (const name of schema.listMapKeys) {
    const property = items.properties?.get(name);
    const at = key(child(path, "items", "properties"), name);
    if (property === undefined) continue;
    if (!items.required.includes(name) && property.default === undefined) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      causes.push(required(child(at, "default"), detail));
    }
    if (property.nullable)
      causes.push(forbidden(child(at, "nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
  }
  return causes;
}

/** A mutation of the kind ApplyConfiguration: the value of its expression is merged into the object, as server-side apply merges. */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import type { CelStruct } from "#cel";
import { merge, pathText, validate, type PathElement, type TypeSchema } from "../../../apply/index.ts";
import { fieldElement, indexElement } from "../../../apply/path-element.ts";
import { fieldType, shapeOf, type Shape } from "../../../apply/schema.ts";
import type { ResourceType } from "../../../resource-type.ts";
import { asJsonObject, asObject } from "../../../protocol/managed-kinds.ts";
import { structJson, wrongNames } from "./mutation-values.ts";

export function applyConfiguration(object: KubeObject, type: ResourceType, made: CelStruct): Result<KubeObject, string> {
  const wrong = wrongNames(made, [made.type.name]);
  if (wrong.length > 0) return err(`type mismatch: ${wrong.join("\n")}`);
  const json = structJson(made);
  if (!json.ok) return json;
  const merged = mergeInto(object, type, { ...json.value, apiVersion: object.apiVersion, kind: object.kind });
  if (!merged.ok) return err(`error applying patch: ${merged.error}`);
  const read = type.custom ? undefined : type.decode(merged.value);
  return ok(read?.ok === true ? read.value.object : asObject(merged.value));
}

function mergeInto(object: KubeObject, type: ResourceType, patch: JsonObject): Result<JsonObject, string> {
  const schema = type.typeSchema;
  if (object.kind !== type.resource.kind) {
    return err(`failed to convert patch object to typed object: no corresponding type for ${object.apiVersion}, Kind=${object.kind}`);
  }
  const nulls = nullsIn(schema, patch, []);
  const fits = nulls.length > 0 ? err(nulls.join("\n")) : validate(schema, patch, { allowDuplicates: false });
  if (!fits.ok) return err(`failed to convert patch object to typed object: ${fits.error}`);
  const atomics = atomicsIn(schema, patch, []);
  if (atomics.length > 0) {
    return err(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`);
  }
  const live = asJsonObject(object);
  const readable = validate(schema, live, { allowDuplicates: true });
  if (!readable.ok) return err(`failed to convert original object to typed object: ${readable.error}`);
  const merged = merge(schema, live, patch);
  return ok(isJsonObject(merged) ? merged : live);
}

/** Null is refused for every type here, unlike in an applied object. The texts are Go's for the null of CEL. */
function nullsIn(schema: TypeSchema, value: Json, path: readonly PathElement[]): readonly string[] {
  if (value === null) return [`${pathText(path)}: ${NULL_PROBLEMS[shapeOf(schema, value) ?? "scalar"](schema)}`];
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, item]) => {
      const type = schema.map === undefined ? undefined : fieldType(schema.map, name);
      return type === undefined || item === undefined ? [] : nullsIn(type, item, [...path, fieldElement(name)]);
    });
  }
  const { list } = schema;
  if (!Array.isArray(value) || list === undefined) return [];
  return (value as readonly Json[]).flatMap((item, index) => nullsIn(list.element, item, [...path, indexElement(index)]));
}

const NULL_PROBLEMS: Readonly<Record<Shape, (schema: TypeSchema) => string>> = {
  map: () => "expected map, got &{NULL_VALUE}",
  list: () => "expected list, got &{NULL_VALUE}",
  scalar: ({ scalar }) => {
    if (scalar === "numeric") return "expected numeric (int or float), got structpb.NullValue";
    return scalar === "boolean" ? "expected boolean, got &{NULL_VALUE}" : "expected string, got &value.valueUnstructured{Value:0}";
  },
};

/** An atomic list or map is refused: setting one of its fields would remove all the others, which is rarely intended. */
function atomicsIn(schema: TypeSchema, value: Json, path: readonly PathElement[]): readonly string[] {
  if (isJsonObject(value) && schema.map !== undefined) {
    const { map } = schema;
    const below = Object.entries(value).flatMap(([name, item]) => {
      const type = map.field(name);
      return type === undefined || item === undefined ? [] : atomicsIn(type, item, [...path, fieldElement(name)]);
    });
    return [...(map.atomic ? [pathText(path)] : []), ...below];
  }
  if (!Array.isArray(value) || schema.list === undefined) return [];
  const { list } = schema;
  const items = (value as readonly Json[]).flatMap((item, index) => atomicsIn(list.element, item, [...path, indexElement(index)]));
  return [...(list.kind === "atomic" ? [pathText(path)] : []), ...items];
}

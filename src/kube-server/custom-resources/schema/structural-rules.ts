/**
 * The rules of structural schemas: every field has its type where it is declared, and anyOf, allOf, oneOf and not only restrict it. Pruning,
 * defaulting and server-side apply depend on this; the messages are those of a real server, in its order.
 */
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid, required } from "../causes/causes.ts";
import { child, key, type CausePath } from "../causes/field-path.ts";
import { valueSchema, type JsonSchema } from "./json-schema.ts";
import { completenessCauses } from "./structural-completeness.ts";
import { hasValue, nestingCauses } from "./structural-nesting.ts";

type Level = "root" | "item" | "field";

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** The reason why no structural schema can be made of this; the other rules assume that one can. */
export function unsupportedField(schema: JsonSchema): string | undefined {
  if (schema.id !== "") return "OpenAPIV3Schema 'id' is not supported";
  if (schema.schemaUrl !== "") return "OpenAPIV3Schema 'schema' is not supported";
  if (schema.ref !== undefined && schema.ref !== "") return "OpenAPIV3Schema '$ref' is not supported";
  if (schema.patternProperties.size > 0) return "OpenAPIV3Schema 'patternProperties' is not supported";
  if ((schema.dependencies?.size ?? 0) > 0) return "OpenAPIV3Schema 'dependencies' is not supported";
  if (schema.additionalItems !== undefined) return "OpenAPIV3Schema 'additionalItems' is not supported";
  if (schema.definitions.size > 0) return "OpenAPIV3Schema 'definitions' is not supported";
  if (schema.preserveUnknownFields === false) return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (schema.itemList.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const below of subschemas(schema)) {
    const problem = unsupportedField(below);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Every direct subschema. */
export function subschemas(schema: JsonSchema): readonly JsonSchema[] {
  const additional = valueSchema(schema);
  return [
    ...(schema.items === undefined ? [] : [schema.items]),
    ...schema.itemList,
    ...schema.allOf,
    ...schema.anyOf,
    ...schema.oneOf,
    ...(schema.not === undefined ? [] : [schema.not]),
    ...(schema.properties?.values() ?? []),
    ...(additional === undefined ? [] : [additional]),
    ...schema.patternProperties.values(),
    ...(typeof schema.additionalItems === "object" ? [schema.additionalItems] : []),
    ...schema.definitions.values(),
    ...[...(schema.dependencies?.values() ?? [])].filter((dependency) => dependency !== undefined),
  ];
}

export function validateStructural(path: CausePath, schema: JsonSchema): readonly FieldCause[] {
  const causes = [...invariantCauses(schema, "root", path), ...completenessCauses(schema, path)];
  return causes.toSorted((a, b) => compareTexts(`${a.field}: ${a.detail}`, `${b.field}: ${b.detail}`));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function invariantCauses(schema: JsonSchema | undefined, level: Level, path: CausePath): readonly FieldCause[] {
  if (schema === undefined) return [];
  const causes: FieldCause[] = [];
  if (schema.type === "array" && schema.items === undefined) causes.push(required(child(path, "items"), "must be specified"));
  causes.push(...invariantCauses(schema.items, "item", child(path, "items")));
  for (const [name, property] of schema.properties ?? [])
    causes.push(...invariantCauses(property, "field", key(child(path, "properties"), name)));
  if (schema.additionalProperties !== undefined) {
    const at = child(path, "additionalProperties");
    if (level === "root") causes.push(forbidden(at, "must not be used at the root"));
    causes.push(...invariantCauses(valueSchema(schema), "field", at));
  }
  causes.push(...extensionCauses(schema, path), ...nestingCauses(schema, path));
  causes.push(...typeCauses(schema, level, path), ...metadataCauses(schema, level, path));
  return causes;
}

function extensionCauses(schema: JsonSchema, path: CausePath): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (!schema.intOrString) return causes;
  const detail = "must be false if x-kubernetes-int-or-string is true";
  if (schema.preserveUnknownFields === true) causes.push(invalid(child(path, "x-kubernetes-preserve-unknown-fields"), true, detail));
  if (schema.embeddedResource) causes.push(invalid(child(path, "x-kubernetes-embedded-resource"), true, detail));
  return causes;
}

function typeCauses(schema: JsonSchema, level: Level, path: CausePath): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const at = child(path, "type");
  if (schema.embeddedResource && schema.type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    causes.push(schema.type === "" ? required(at, detail) : invalid(at, schema.type, detail));
  } else if (schema.type === "" && !schema.intOrString && schema.preserveUnknownFields !== true) {
    causes.push(required(at, NO_TYPE[level]));
  }
  if (schema.embeddedResource && schema.additionalProperties !== undefined) {
    causes.push(forbidden(child(path, "additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (level === "root" && schema.type !== "" && schema.type !== "object")
    causes.push(invalid(at, schema.type, "must be object at the root"));
  return causes;
}

function metadataCauses(schema: JsonSchema, level: Level, path: CausePath): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const isResource = level === "root" || schema.embeddedResource;
  const at = (name: string): string => key(child(path, "properties"), name);
  for (const name of ["kind", "apiVersion"]) {
    const type = schema.properties?.get(name)?.type;
    if (isResource && type !== undefined && type !== "string") causes.push(invalid(child(at(name), "type"), type, "must be string"));
  }
  const metadata = schema.properties?.get("metadata");
  if (metadata !== undefined && isResource && metadata.type !== "object") {
    causes.push(invalid(child(at("metadata"), "type"), metadata.type, "must be object"));
  }
  if (metadata !== undefined && level === "root" && restrictsOtherFields(metadata)) {
    causes.push(
      forbidden(at("metadata"), "must not specify anything other than name and generateName, but metadata is implicitly specified"),
    );
  }
  if (schema.embeddedResource && schema.preserveUnknownFields !== true && (schema.properties?.size ?? 0) === 0) {
    const detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    causes.push(required(child(path, "properties"), detail));
  }
  return causes;
}

/** At the root, metadata may restrict name and generateName only. */
function restrictsOtherFields(metadata: JsonSchema): boolean {
  const names = [...(metadata.properties?.keys() ?? [])];
  if (names.some((name) => name !== "name" && name !== "generateName")) return true;
  return Object.entries(metadata).some(([name, value]) => !["type", "default", "properties"].includes(name) && hasValue(value));
}

/** The shape of `JSONSchemaProps` of apiextensions.k8s.io/v1: the schema language of CRDs. */
import { err, map, ok, type Result } from "#base";
import { isJsonObject, type Json } from "#kube";
import { always, BOOLEAN, optional, pointer, readShape, STRING, STRINGS, type Field, type GoShape } from "../../protocol/shapes.ts";

const INT64: GoShape = { kind: "integer", goType: "int64" };
const FLOAT64: GoShape = { kind: "float", goType: "float64" };
const JSON_VALUE: GoShape = { kind: "any" };

const RULE: GoShape = {
  kind: "struct",
  goType: "v1.ValidationRule",
  fields: () =>
    new Map([
      ["rule", always(STRING)],
      ["message", optional(STRING)],
      ["messageExpression", optional(STRING)],
      ["reason", pointer({ kind: "string", goType: "v1.FieldValueErrorReason" })],
      ["fieldPath", optional(STRING)],
      ["optionalOldSelf", pointer(BOOLEAN)],
    ]),
};

export const SCHEMA: GoShape = { kind: "struct", goType: "v1.JSONSchemaProps", fields: () => SCHEMA_FIELDS };

const SCHEMAS: GoShape = { kind: "list", goType: "[]v1.JSONSchemaProps", of: () => SCHEMA };
const SCHEMA_MAP: GoShape = { kind: "map", goType: "map[string]v1.JSONSchemaProps", of: () => SCHEMA };
const SCHEMA_OR_BOOL: GoShape = { kind: "opaque", read: readSchemaOrBool };
const SCHEMA_OR_ARRAY: GoShape = { kind: "opaque", read: readSchemaOrArray };
const DEPENDENCY: GoShape = { kind: "opaque", read: readSchemaOrArray };
const EXTERNAL_DOCS: GoShape = {
  kind: "struct",
  goType: "v1.ExternalDocumentation",
  fields: () =>
    new Map([
      ["description", optional(STRING)],
      ["url", optional(STRING)],
    ]),
};

/** In the order in which the server writes them. */
const SCHEMA_FIELDS: ReadonlyMap<string, Field> = new Map([
  ["id", optional(STRING)],
  ["$schema", optional(STRING)],
  ["$ref", pointer(STRING)],
  ["description", optional(STRING)],
  ["type", optional(STRING)],
  ["format", optional(STRING)],
  ["title", optional(STRING)],
  ["default", pointer(JSON_VALUE)],
  ["maximum", pointer(FLOAT64)],
  ["exclusiveMaximum", optional(BOOLEAN)],
  ["minimum", pointer(FLOAT64)],
  ["exclusiveMinimum", optional(BOOLEAN)],
  ["maxLength", pointer(INT64)],
  ["minLength", pointer(INT64)],
  ["pattern", optional(STRING)],
  ["maxItems", pointer(INT64)],
  ["minItems", pointer(INT64)],
  ["uniqueItems", optional(BOOLEAN)],
  ["multipleOf", pointer(FLOAT64)],
  ["enum", optional({ kind: "list", goType: "[]v1.JSON", of: () => JSON_VALUE })],
  ["maxProperties", pointer(INT64)],
  ["minProperties", pointer(INT64)],
  ["required", optional(STRINGS)],
  ["items", pointer(SCHEMA_OR_ARRAY)],
  ["allOf", optional(SCHEMAS)],
  ["oneOf", optional(SCHEMAS)],
  ["anyOf", optional(SCHEMAS)],
  ["not", pointer(SCHEMA)],
  ["properties", optional(SCHEMA_MAP)],
  ["additionalProperties", pointer(SCHEMA_OR_BOOL)],
  ["patternProperties", optional(SCHEMA_MAP)],
  ["dependencies", optional({ kind: "map", goType: "v1.JSONSchemaDependencies", of: () => DEPENDENCY })],
  ["additionalItems", pointer(SCHEMA_OR_BOOL)],
  ["definitions", optional({ kind: "map", goType: "v1.JSONSchemaDefinitions", of: () => SCHEMA })],
  ["externalDocs", pointer(EXTERNAL_DOCS)],
  ["example", pointer(JSON_VALUE)],
  ["nullable", optional(BOOLEAN)],
  ["x-kubernetes-preserve-unknown-fields", pointer(BOOLEAN)],
  ["x-kubernetes-embedded-resource", optional(BOOLEAN)],
  ["x-kubernetes-int-or-string", optional(BOOLEAN)],
  ["x-kubernetes-list-map-keys", optional(STRINGS)],
  ["x-kubernetes-list-type", pointer(STRING)],
  ["x-kubernetes-map-type", pointer(STRING)],
  ["x-kubernetes-validations", optional({ kind: "list", goType: "v1.ValidationRules", of: () => RULE })],
]);

function readSchemaOrBool(value: Json): Result<Json, string> {
  if (typeof value === "boolean") return ok(value);
  return isJsonObject(value) ? schemaOf(value) : err("boolean or JSON schema expected");
}

/** Any other JSON type is decoded as nothing, and written as null: `items: "x"`. */
function readSchemaOrArray(value: Json): Result<Json | undefined, string> {
  if (isJsonObject(value)) return schemaOf(value);
  return Array.isArray(value) ? schemaListOf(value) : ok(undefined);
}

function schemaOf(value: Json): Result<Json, string> {
  return map(readShape(SCHEMA, value), (shaped) => shaped.value);
}

function schemaListOf(value: readonly Json[]): Result<Json, string> {
  const schemas: Json[] = [];
  for (const item of value) {
    const schema = typeof item === "string" ? ok(item) : schemaOf(item);
    if (!schema.ok) return schema;
    schemas.push(schema.value);
  }
  return ok(schemas);
}

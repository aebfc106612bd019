/** A schema as Go prints its internal JSONSchemaProps: every field, in Go's order. */
import { field, isJsonObject, goJsonText, goStringText, type Json, type JsonObject } from "#kube";

export function struct(fields: readonly (readonly [string, string])[]): string {
  return `{${fields.map(([name, value]) => `${goStringText(name)}:${value}`).join(",")}}`;
}

export function maybe(value: Json | undefined, print: (value: JsonObject) => string): string {
  return isJsonObject(value) ? print(value) : "null";
}

export function listText(value: Json | undefined, print: (value: JsonObject) => string): string {
  return Array.isArray(value) ? `[${value.map((one: JsonObject) => print(one)).join(",")}]` : "null";
}

type Print = "plain" | "schema" | "schemas" | "schema map" | "schema or bool" | "items" | "docs" | "rules" | "dependencies";

/** In the order of Go's JSONSchemaProps, with the text of an absent value. */
const SCHEMA_FIELDS: readonly (readonly [goName: string, name: string, empty: string, print: Print])[] = [
  ["ID", "id", '""', "plain"],
  ["Schema", "$schema", '""', "plain"],
  ["Ref", "$ref", "null", "plain"],
  ["Description", "description", '""', "plain"],
  ["Type", "type", '""', "plain"],
  ["Nullable", "nullable", "false", "plain"],
  ["Format", "format", '""', "plain"],
  ["Title", "title", '""', "plain"],
  ["Default", "default", "null", "plain"],
  ["Maximum", "maximum", "null", "plain"],
  ["ExclusiveMaximum", "exclusiveMaximum", "false", "plain"],
  ["Minimum", "minimum", "null", "plain"],
  ["ExclusiveMinimum", "exclusiveMinimum", "false", "plain"],
  ["MaxLength", "maxLength", "null", "plain"],
  ["MinLength", "minLength", "null", "plain"],
  ["Pattern", "pattern", '""', "plain"],
  ["MaxItems", "maxItems", "null", "plain"],
  ["MinItems", "minItems", "null", "plain"],
  ["UniqueItems", "uniqueItems", "false", "plain"],
  ["MultipleOf", "multipleOf", "null", "plain"],
  ["Enum", "enum", "null", "plain"],
  ["MaxProperties", "maxProperties", "null", "plain"],
  ["MinProperties", "minProperties", "null", "plain"],
  ["Required", "required", "null", "plain"],
  ["Items", "items", "null", "items"],
  ["AllOf", "allOf", "null", "schemas"],
  ["OneOf", "oneOf", "null", "schemas"],
  ["AnyOf", "anyOf", "null", "schemas"],
  ["Not", "not", "null", "schema"],
  ["Properties", "properties", "null", "schema map"],
  ["AdditionalProperties", "additionalProperties", "null", "schema or bool"],
  ["PatternProperties", "patternProperties", "null", "schema map"],
  ["Dependencies", "dependencies", "null", "dependencies"],
  ["AdditionalItems", "additionalItems", "null", "schema or bool"],
  ["Definitions", "definitions", "null", "schema map"],
  ["ExternalDocs", "externalDocs", "null", "docs"],
  ["Example", "example", "null", "plain"],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "null", "plain"],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", "false", "plain"],
  ["XIntOrString", "x-kubernetes-int-or-string", "false", "plain"],
  ["XListMapKeys", "x-kubernetes-list-map-keys", "null", "plain"],
  ["XListType", "x-kubernetes-list-type", "null", "plain"],
  ["XMapType", "x-kubernetes-map-type", "null", "plain"],
  ["XValidations", "x-kubernetes-validations", "null", "rules"],
];

export function schemaText(schema: JsonObject): string {
  return struct(
    SCHEMA_FIELDS.map(([goName, name, empty, print]) => {
      const value = field(schema, name);
      return [goName, value === undefined ? empty : fieldText(value, print)] as const;
    }),
  );
}

function fieldText(value: Json, print: Print): string {
  switch (print) {
    case "plain":
      return goJsonText(value);
    case "schema":
      return maybe(value, schemaText);
    case "schemas":
      return listText(value, schemaText);
    case "schema map":
    case "dependencies":
      return mapText(value, print === "schema map" ? (one) => maybe(one, schemaText) : dependencyText);
    case "schema or bool":
      return struct([
        ["Allows", String(value !== false)],
        ["Schema", maybe(value, schemaText)],
      ]);
    case "items":
      return struct([
        ["Schema", maybe(value, schemaText)],
        ["JSONSchemas", listText(value, schemaText)],
      ]);
    case "docs":
      return struct([
        ["Description", goJsonText(field(value, "description") ?? "")],
        ["URL", goJsonText(field(value, "url") ?? "")],
      ]);
    case "rules":
      return listText(value, ruleText);
  }
}

function mapText(value: Json, print: (value: Json) => string): string {
  if (!isJsonObject(value)) return "null";
  const names = Object.keys(value).toSorted();
  return struct(names.map((name) => [name, print(value[name] ?? null)]));
}

function dependencyText(value: Json): string {
  return struct([
    ["Schema", maybe(value, schemaText)],
    ["Property", Array.isArray(value) ? goJsonText(value) : "null"],
  ]);
}

function ruleText(rule: JsonObject): string {
  return struct([
    ["Rule", goJsonText(field(rule, "rule"))],
    ["Message", goJsonText(field(rule, "message") ?? "")],
    ["MessageExpression", goJsonText(field(rule, "messageExpression") ?? "")],
    ["Reason", goJsonText(field(rule, "reason") ?? null)],
    ["FieldPath", goJsonText(field(rule, "fieldPath") ?? "")],
    ["OptionalOldSelf", goJsonText(field(rule, "optionalOldSelf") ?? null)],
  ]);
}

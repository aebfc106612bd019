/**
 * A CRD's parts as Go prints its internal structs: with Go's field names and every zero value. The server quotes them whole in
 * errors about rules and versions, and so do we.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { jsonText, stringText } from "../../apply/go-text.ts";
import { printed, type Printed } from "../causes/causes.ts";
import type { ValidationRule } from "../schema/json-schema.ts";
import type { Definition } from "./definition.ts";

export function printedRule(rule: ValidationRule): Printed {
  return printed(
    struct([
      ["Rule", jsonText(rule.rule)],
      ["Message", jsonText(rule.message)],
      ["MessageExpression", jsonText(rule.messageExpression)],
      ["Reason", jsonText(rule.reason ?? null)],
      ["FieldPath", jsonText(rule.fieldPath)],
      ["OptionalOldSelf", jsonText(rule.optionalOldSelf ?? null)],
    ]),
  );
}

export function printedVersions(definition: Definition): Printed {
  if (definition.versions.length === 0) return printed("null");
  return printed(`[${definition.versions.map((version) => versionText(definition, version.json)).join(",")}]`);
}

export function printedSchema(schema: JsonObject): Printed {
  return printed(schemaText(schema));
}

function struct(fields: readonly (readonly [string, string])[]): string {
  return `{${fields.map(([name, value]) => `${stringText(name)}:${value}`).join(",")}}`;
}

function versionText(definition: Definition, version: JsonObject): string {
  const { shared } = definition;
  const own = (name: string, isShared: boolean, print: (value: Json) => string): string => {
    const value = field(version, name);
    return value === undefined || isShared ? "null" : print(value);
  };
  return struct([
    ["Name", jsonText(field(version, "name"))],
    ["Served", jsonText(field(version, "served"))],
    ["Storage", jsonText(field(version, "storage"))],
    ["Deprecated", jsonText(field(version, "deprecated") ?? false)],
    ["DeprecationWarning", jsonText(field(version, "deprecationWarning") ?? null)],
    [
      "Schema",
      own("schema", shared.validation, (value) => struct([["OpenAPIV3Schema", maybe(field(value, "openAPIV3Schema"), schemaText)]])),
    ],
    ["Subresources", own("subresources", shared.subresources, subresourcesText)],
    ["AdditionalPrinterColumns", own("additionalPrinterColumns", shared.columns, (value) => listText(value, columnText))],
    [
      "SelectableFields",
      own("selectableFields", shared.selectableFields, (value) =>
        listText(value, (one) => struct([["JSONPath", jsonText(field(one, "jsonPath"))]])),
      ),
    ],
  ]);
}

function maybe(value: Json | undefined, print: (value: JsonObject) => string): string {
  return isJsonObject(value) ? print(value) : "null";
}

function listText(value: Json | undefined, print: (value: JsonObject) => string): string {
  return Array.isArray(value) ? `[${value.map((one: JsonObject) => print(one)).join(",")}]` : "null";
}

function subresourcesText(value: Json): string {
  return struct([
    ["Status", field(value, "status") === undefined ? "null" : "{}"],
    [
      "Scale",
      maybe(field(value, "scale"), (scale) =>
        struct([
          ["SpecReplicasPath", jsonText(field(scale, "specReplicasPath"))],
          ["StatusReplicasPath", jsonText(field(scale, "statusReplicasPath"))],
          ["LabelSelectorPath", jsonText(field(scale, "labelSelectorPath") ?? null)],
        ]),
      ),
    ],
  ]);
}

function columnText(column: JsonObject): string {
  return struct([
    ["Name", jsonText(field(column, "name"))],
    ["Type", jsonText(field(column, "type"))],
    ["Format", jsonText(field(column, "format") ?? "")],
    ["Description", jsonText(field(column, "description") ?? "")],
    ["Priority", jsonText(field(column, "priority") ?? 0)],
    ["JSONPath", jsonText(field(column, "jsonPath"))],
  ]);
}

type Print = "plain" | "schema" | "schemas" | "schema map" | "schema or bool" | "items" | "docs" | "rules" | "dependencies";

/** In the order of Go's JSONSchemaProps, with what stands there when the schema says nothing. */
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

function schemaText(schema: JsonObject): string {
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
      return jsonText(value);
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
        ["Description", jsonText(field(value, "description") ?? "")],
        ["URL", jsonText(field(value, "url") ?? "")],
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
    ["Property", Array.isArray(value) ? jsonText(value) : "null"],
  ]);
}

function ruleText(rule: JsonObject): string {
  return struct([
    ["Rule", jsonText(field(rule, "rule"))],
    ["Message", jsonText(field(rule, "message") ?? "")],
    ["MessageExpression", jsonText(field(rule, "messageExpression") ?? "")],
    ["Reason", jsonText(field(rule, "reason") ?? null)],
    ["FieldPath", jsonText(field(rule, "fieldPath") ?? "")],
    ["OptionalOldSelf", jsonText(field(rule, "optionalOldSelf") ?? null)],
  ]);
}

/**
 * A CRD's parts as Go prints its internal structs: with Go's field names and every zero value. The server quotes them in errors about rules
 * and versions.
 */
import { field, fieldAt, goJsonText, type Json, type JsonObject } from "#kube";
import { printed, type Printed } from "../causes/causes.ts";
import type { ValidationRule } from "../schema/json-schema.ts";
import type { Definition } from "./definition.ts";
import { listText, maybe, schemaText, struct } from "./go-schema.ts";

export function printedRule(rule: ValidationRule): Printed {
  return printed(
    struct([
      ["Rule", goJsonText(rule.rule)],
      ["Message", goJsonText(rule.message)],
      ["MessageExpression", goJsonText(rule.messageExpression)],
      ["Reason", goJsonText(rule.reason ?? null)],
      ["FieldPath", goJsonText(rule.fieldPath)],
      ["OptionalOldSelf", goJsonText(rule.optionalOldSelf ?? null)],
    ]),
  );
}

export function printedVersions(definition: Definition): Printed {
  if (definition.versions.length === 0) return printed(Array.isArray(fieldAt(definition.object, "spec", "versions")) ? "[]" : "null");
  return printed(`[${definition.versions.map((version) => versionText(definition, version.json)).join(",")}]`);
}

export function printedSchema(schema: JsonObject): Printed {
  return printed(schemaText(schema));
}

function versionText(definition: Definition, version: JsonObject): string {
  const { shared } = definition;
  const own = (name: string, isShared: boolean, print: (value: Json) => string): string => {
    const value = field(version, name);
    return value === undefined || isShared ? "null" : print(value);
  };
  return struct([
    ["Name", goJsonText(field(version, "name"))],
    ["Served", goJsonText(field(version, "served"))],
    ["Storage", goJsonText(field(version, "storage"))],
    ["Deprecated", goJsonText(field(version, "deprecated") ?? false)],
    ["DeprecationWarning", goJsonText(field(version, "deprecationWarning") ?? null)],
    [
      "Schema",
      own("schema", shared.validation, (value) => struct([["OpenAPIV3Schema", maybe(field(value, "openAPIV3Schema"), schemaText)]])),
    ],
    ["Subresources", own("subresources", shared.subresources, subresourcesText)],
    ["AdditionalPrinterColumns", own("additionalPrinterColumns", shared.columns, (value) => listText(value, columnText))],
    [
      "SelectableFields",
      own("selectableFields", shared.selectableFields, (value) =>
        listText(value, (one) => struct([["JSONPath", goJsonText(field(one, "jsonPath"))]])),
      ),
    ],
  ]);
}

function subresourcesText(value: Json): string {
  return struct([
    ["Status", field(value, "status") === undefined ? "null" : "{}"],
    [
      "Scale",
      maybe(field(value, "scale"), (scale) =>
        struct([
          ["SpecReplicasPath", goJsonText(field(scale, "specReplicasPath"))],
          ["StatusReplicasPath", goJsonText(field(scale, "statusReplicasPath"))],
          ["LabelSelectorPath", goJsonText(field(scale, "labelSelectorPath") ?? null)],
        ]),
      ),
    ],
  ]);
}

function columnText(column: JsonObject): string {
  return struct([
    ["Name", goJsonText(field(column, "name"))],
    ["Type", goJsonText(field(column, "type"))],
    ["Format", goJsonText(field(column, "format") ?? "")],
    ["Description", goJsonText(field(column, "description") ?? "")],
    ["Priority", goJsonText(field(column, "priority") ?? 0)],
    ["JSONPath", goJsonText(field(column, "jsonPath"))],
  ]);
}

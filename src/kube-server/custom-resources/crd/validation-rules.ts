/** Checks the schema of one version, or of all of them: structural, with valid defaults and rules. */
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid } from "../causes/causes.ts";
import { child } from "../causes/field-path.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { unsupportedField, validateStructural } from "../schema/structural-rules.ts";
import { defaultCauses } from "./default-rules.ts";
import type { CrdVersion, VersionParts } from "./definition.ts";
import { printedSchema } from "./go-internal.ts";
import { RuleScope } from "./rule-admission.ts";
import { schemaCauses } from "./schema-rules.ts";

const AT_ROOT_WITH_STATUS =
  "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
const NOT_AT_ROOT = [
  "id",
  "$schema",
  "$ref",
  "nullable",
  "default",
  "enum",
  "maxProperties",
  "minProperties",
  "allOf",
  "oneOf",
  "anyOf",
  "not",
  "additionalProperties",
  "patternProperties",
  "dependencies",
  "additionalItems",
  "definitions",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
];

export function validationCauses(parts: VersionParts, status: boolean, path: string): readonly FieldCause[] {
  const schema = parts.validation?.schema;
  if (parts.validation === undefined || schema === undefined) return [];
  const at = child(path, "openAPIV3Schema");
  const causes: FieldCause[] = status ? [...rootCauses(schema, parts.validation.json, at)] : [];
  if (schema.nullable) causes.push(forbidden(child(at, "nullable"), "nullable cannot be true at the root"));
  const unsupported = unsupportedField(schema);
  const structural = unsupported === undefined ? validateStructural(at, schema) : [];
  const defaults = unsupported === undefined && structural.length === 0 ? defaultCauses(schema, at) : [];
  const scope = unsupported === undefined && structural.length === 0 && defaults.length === 0 ? RuleScope.root(schema) : undefined;
  causes.push(...structural, ...defaults, ...schemaCauses(schema, at, scope));
  if (causes.length === 0 && unsupported !== undefined) causes.push(invalid(at, "", unsupported));
  return [...causes, ...(scope?.costs.causes(at) ?? [])];
}

/** The status is validated alone, as the property of that name; other keywords of the root would be ignored. */
function rootCauses(schema: JsonSchema, json: CrdVersion["json"], path: string): readonly FieldCause[] {
  const beforeType = ["id", "$schema", "$ref"].some((name) => Object.hasOwn(json, name));
  if (schema.type !== "" && schema.type !== "object" && !beforeType) {
    return [
      invalid(
        child(path, "type"),
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  }
  if (!NOT_AT_ROOT.some((name) => Object.hasOwn(json, name))) return [];
  return [
    invalid(
      path,
      printedSchema(json),
      `only ${AT_ROOT_WITH_STATUS} fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ];
}

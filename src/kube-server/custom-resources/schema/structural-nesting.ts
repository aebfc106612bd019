/** What is allowed inside anyOf, allOf, oneOf and not: restrictions of values, and no keyword that declares, describes or preserves a field. */
import { compileRegex } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid } from "../causes/causes.ts";
import { child, index, key, type CausePath } from "../causes/field-path.ts";
import type { JsonSchema } from "./json-schema.ts";

export function nestingCauses(schema: JsonSchema, path: CausePath): readonly FieldCause[] {
  return restrictionCauses(schema, skipsOf(schema), path);
}

/** Any value other than the zero value of its field. */
export function hasValue(value: unknown): boolean {
  if (value === undefined || value === "" || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : true;
}

type Skips = { readonly anyOf: boolean; readonly anyOfOfFirstAllOf: boolean };

/** `anyOf: [{type: integer}, {type: string}]` is the form of int-or-string before the keyword existed. */
function skipsOf(schema: JsonSchema): Skips {
  return { anyOf: isIntOrString(schema.anyOf), anyOfOfFirstAllOf: isIntOrString(schema.allOf[0]?.anyOf ?? []) };
}

function isIntOrString(anyOf: readonly JsonSchema[]): boolean {
  return anyOf.length === 2 && anyOf.every((one, position) => one.type === (position === 0 ? "integer" : "string") && hasOnlyType(one));
}

function hasOnlyType(schema: JsonSchema): boolean {
  return !Object.entries(schema).some(([name, value]) => name !== "type" && hasValue(value));
}
const NO_SKIPS: Skips = { anyOf: false, anyOfOfFirstAllOf: false };

function restrictionCauses(schema: JsonSchema, skips: Skips, path: CausePath): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (!skips.anyOf)
    for (const [at, one] of schema.anyOf.entries()) causes.push(...nestedCauses(one, NO_SKIPS, index(child(path, "anyOf"), at)));
  for (const [at, one] of schema.allOf.entries()) {
    causes.push(
      ...nestedCauses(one, { anyOf: skips.anyOfOfFirstAllOf && at === 0, anyOfOfFirstAllOf: false }, index(child(path, "allOf"), at)),
    );
  }
  for (const [at, one] of schema.oneOf.entries()) causes.push(...nestedCauses(one, NO_SKIPS, index(child(path, "oneOf"), at)));
  causes.push(...nestedCauses(schema.not, NO_SKIPS, child(path, "not")));
  const regex = schema.pattern === "" ? undefined : compileRegex(schema.pattern);
  if (regex !== undefined && !regex.ok) {
    causes.push(invalid(child(path, "pattern"), schema.pattern, `must be a valid regular expression, but isn't: ${regex.error}`));
  }
  return causes;
}

function nestedCauses(schema: JsonSchema | undefined, skips: Skips, path: string): readonly FieldCause[] {
  if (schema === undefined) return [];
  const causes: FieldCause[] = [...restrictionCauses(schema, skips, path)];
  causes.push(...nestedCauses(schema.items, NO_SKIPS, child(path, "items")));
  for (const [name, property] of schema.properties ?? [])
    causes.push(...nestedCauses(property, NO_SKIPS, key(child(path, "properties"), name)));
  for (const [name, isSet, state] of FORBIDDEN_INSIDE) {
    if (isSet(schema)) causes.push(forbidden(child(path, name), `must be ${state} to be structural`));
  }
  if (schema.properties?.has("metadata") === true) {
    causes.push(forbidden(key(child(path, "properties"), "metadata"), "must not be specified in a nested context"));
  }
  return causes;
}

const FORBIDDEN_INSIDE: readonly (readonly [name: string, isSet: (schema: JsonSchema) => boolean, state: string])[] = [
  ["type", (schema) => schema.type !== "", "empty"],
  ["additionalProperties", (schema) => schema.additionalProperties !== undefined && schema.additionalProperties !== false, "undefined"],
  ["default", (schema) => schema.default !== undefined, "undefined"],
  ["title", (schema) => schema.title !== "", "empty"],
  ["description", (schema) => schema.description !== "", "empty"],
  ["nullable", (schema) => schema.nullable, "false"],
  ["x-kubernetes-preserve-unknown-fields", (schema) => schema.preserveUnknownFields === true, "false"],
  ["x-kubernetes-embedded-resource", (schema) => schema.embeddedResource, "false"],
  ["x-kubernetes-int-or-string", (schema) => schema.intOrString, "false"],
  ["x-kubernetes-list-map-keys", (schema) => schema.listMapKeys.length > 0, "empty"],
  ["x-kubernetes-list-type", (schema) => schema.listType !== undefined, "undefined"],
  ["x-kubernetes-map-type", (schema) => schema.mapType !== undefined, "undefined"],
  ["x-kubernetes-validations", (schema) => schema.validations.length > 0, "empty"],
];

/**
 * The checks of a CRD's schema, node by node, including the compilation of its rules. The order of the checks is the server's: rules of an
 * invalid schema are not compiled.
 */
import { goJsonText } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid, notSupported, printed, required, type BadValue } from "../causes/causes.ts";
import { child, index, key } from "../causes/field-path.ts";
import { readFieldPath } from "../rules/field-path.ts";
import { unsupportedField } from "../schema/structural-rules.ts";
import { valueSchema, type JsonSchema, type ValidationRule } from "../schema/json-schema.ts";
import { listTypeCauses } from "./list-rules.ts";
import { ruleCauses, type RuleScope } from "./rule-admission.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const META_FIELDS = new Set(["metadata", "kind", "apiVersion"]);

/** Properties of the enclosing schemas. */
export type Within = {
  /** The reason why a default is not allowed here; undefined: it is. */
  readonly noDefaults: string | undefined;
  readonly resourceMeta: boolean;
  /** The nearest enclosing path whose old value cannot be correlated, so that no rule below it may use oldSelf. */
  readonly uncorrelatable: string | undefined;
};

export type SchemaFindings = { readonly schema: FieldCause[]; readonly rules: FieldCause[] };

const ANYWHERE: Within = { noDefaults: undefined, resourceMeta: false, uncorrelatable: undefined };

type Place = { readonly path: string; readonly within: Within; readonly isRoot: boolean; readonly scope: RuleScope | undefined };

export function schemaCauses(schema: JsonSchema, path: string, scope: RuleScope | undefined): readonly FieldCause[] {
  const findings = visit(schema, { path, within: ANYWHERE, isRoot: true, scope });
  return [...findings.schema, ...findings.rules];
}

function visit(schema: JsonSchema | undefined, at: Place): SchemaFindings {
  const findings: SchemaFindings = { schema: [], rules: [] };
  if (schema === undefined) return findings;
  const below = (child: JsonSchema | undefined, place: Partial<Place> & { readonly path: string }): void => {
    const inner = visit(child, { within: at.within, isRoot: false, scope: undefined, ...place });
    findings.schema.push(...inner.schema);
    findings.rules.push(...inner.rules);
  };
  findings.schema.push(...plainCauses(schema, at));
  visitFields(schema, at, below);
  visitCombinations(schema, at, below);
  visitItems(schema, at, below);
  findings.schema.push(...extensionCauses(schema, at.path), ...listTypeCauses(schema, at.path));
  for (const [position, rule] of schema.validations.entries()) {
    findings.schema.push(...ruleShapeCauses(schema, rule, index(child(at.path, "x-kubernetes-validations"), position)));
  }
  if (schema.validations.length > 0 && findings.schema.length === 0 && at.scope !== undefined) {
    findings.rules.push(...ruleCauses(schema, child(at.path, "x-kubernetes-validations"), at.scope, at.within.uncorrelatable));
  }
  return findings;
}

type Below = (schema: JsonSchema | undefined, place: Partial<Place> & { readonly path: string }) => void;

function plainCauses(schema: JsonSchema, at: Place): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const no = (name: string, detail: string): number => causes.push(forbidden(child(at.path, name), detail));
  if (schema.type !== "" && !TYPES.includes(schema.type)) causes.push(notSupported(child(at.path, "type"), schema.type, TYPES));
  if (schema.default !== undefined && at.within.noDefaults !== undefined) no("default", `must not be set ${at.within.noDefaults}`);
  if (schema.id !== "") no("id", "id is not supported");
  if (schema.additionalItems !== undefined) no("additionalItems", "additionalItems is not supported");
  if (schema.patternProperties.size > 0) no("patternProperties", "patternProperties is not supported");
  if (schema.definitions.size > 0) no("definitions", "definitions is not supported");
  if (schema.dependencies !== undefined) no("dependencies", "dependencies is not supported");
  if (schema.ref !== undefined) no("$ref", "$ref is not supported");
  if (schema.type === "null") no("type", "type cannot be set to null, use nullable as an alternative");
  if (schema.itemList.length > 0) no("items", "items must be a schema object and not an array");
  if (at.within.resourceMeta && schema.embeddedResource) no("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  if (schema.uniqueItems) no("uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined && additionalProperties !== true && (schema.properties?.size ?? 0) > 0) {
    no("additionalProperties", "additionalProperties and properties are mutual exclusive");
  }
  return causes;
}

function visitFields(schema: JsonSchema, at: Place, below: Below): void {
  const values = valueSchema(schema);
  if (values !== undefined) {
    const noDefaults = at.within.resourceMeta ? "inside additionalProperties applying to object metadata" : at.within.noDefaults;
    below(values, {
      path: child(at.path, "additionalProperties"),
      within: { ...at.within, noDefaults },
      scope: at.scope?.below({ kind: "values" }, values),
    });
  }
  for (const [name, property] of schema.properties ?? []) {
    const within = withinProperty(schema, at, name);
    below(property, { path: key(child(at.path, "properties"), name), within, scope: at.scope?.below({ kind: "field", name }, property) });
  }
}

function withinProperty(schema: JsonSchema, at: Place, name: string): Within {
  const isCorrelatable = schema.mapType === undefined || schema.mapType === "granular" || schema.mapType === "atomic";
  const uncorrelatable = at.within.uncorrelatable ?? (isCorrelatable ? undefined : at.path);
  if (!(at.isRoot || schema.embeddedResource) || !META_FIELDS.has(name)) return { ...at.within, uncorrelatable };
  return { resourceMeta: true, uncorrelatable, noDefaults: at.isRoot ? `in top-level ${name}` : at.within.noDefaults };
}

function visitCombinations(schema: JsonSchema, at: Place, below: Below): void {
  below(schema.not, { path: child(at.path, "not") });
  for (const name of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [position, one] of schema[name].entries()) below(one, { path: index(child(at.path, name), position) });
  }
  for (const [name, one] of schema.definitions) below(one, { path: key(child(at.path, "definitions"), name) });
  for (const [name, one] of schema.dependencies ?? []) below(one, { path: key(child(at.path, "dependencies"), name) });
}

/** Items of a list have an old value only when the list has keys. */
function visitItems(schema: JsonSchema, at: Place, below: Below): void {
  const uncorrelatable = at.within.uncorrelatable ?? (schema.listType === "map" ? undefined : at.path);
  const within = { ...at.within, uncorrelatable };
  const path = child(at.path, "items");
  if (schema.items !== undefined) below(schema.items, { path, within, scope: at.scope?.below({ kind: "items" }, schema.items) });
  for (const [position, one] of schema.itemList.entries()) below(one, { path: index(path, position), within });
}

function extensionCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (schema.preserveUnknownFields === false)
    causes.push(invalid(child(path, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"));
  if (schema.mapType !== undefined && schema.type !== "object")
    causes.push(wrongType(path, schema.type, "must be object if x-kubernetes-map-type is specified"));
  if (schema.mapType !== undefined && schema.mapType !== "atomic" && schema.mapType !== "granular") {
    causes.push(notSupported(child(path, "x-kubernetes-map-type"), schema.mapType, ["atomic", "granular"]));
  }
  return causes;
}

export function wrongType(path: string, type: string, detail: string): FieldCause {
  return type === "" ? required(child(path, "type"), detail) : invalid(child(path, "type"), type, detail);
}

/** Pointers to texts are printed as JSON; an absent one is null. */
export function pointer(value: string | undefined): BadValue {
  return printed(goJsonText(value ?? null));
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const LINE_BREAK = /[\n\r]/;

function ruleShapeCauses(schema: JsonSchema, rule: ValidationRule, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [...ruleTextCauses(rule, path)];
  if (rule.messageExpression !== "" && rule.messageExpression.trim() === "") {
    causes.push(required(child(path, "messageExpression"), "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) causes.push(notSupported(child(path, "reason"), rule.reason, REASONS));
  if (rule.fieldPath === "") return causes;
  const at = child(path, "fieldPath");
  if (rule.fieldPath.trim() === "") causes.push(invalid(at, rule.fieldPath, "must be non-empty if specified"));
  if (LINE_BREAK.test(rule.fieldPath)) causes.push(invalid(at, rule.fieldPath, "must not contain line breaks"));
  const isKnown = unsupportedField(schema) !== undefined || readFieldPath(rule.fieldPath, schema).ok;
  return isKnown ? causes : [...causes, invalid(at, rule.fieldPath, "must be a valid path")];
}

function ruleTextCauses(rule: ValidationRule, path: string): readonly FieldCause[] {
  const [text, message] = [rule.rule.trim(), rule.message.trim()];
  if (text === "") return [required(child(path, "rule"), "rule is not specified")];
  if (rule.message !== "" && message === "") return [invalid(child(path, "message"), rule.message, "must be non-empty if specified")];
  if (LINE_BREAK.test(message)) return [invalid(child(path, "message"), rule.message, "must not contain line breaks")];
  return LINE_BREAK.test(text) && message === ""
    ? [required(child(path, "message"), "message must be specified if rule contains line breaks")]
    : [];
}

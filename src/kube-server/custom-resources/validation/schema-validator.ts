/**
 * Validates values against an OpenAPI v3 schema as kube-openapi's validator does, with the same order, messages and peculiarities.
 *
 * On updates `correlation` gives the old value: unchanged values are not refused (ratcheting).
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { characters, isKnownFormat, matchesFormat, PatternBudget } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import type { CausePath } from "../causes/field-path.ts";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import type { Correlation } from "./correlation.ts";
import { effectiveFormat } from "./formats.ts";
import { isInt64, isNearInteger, validateNumber } from "./numbers.ts";
import {
  forbiddenProperty,
  missing,
  noMatch,
  notInEnum,
  tooFewItems,
  tooFewProperties,
  tooLongForPattern,
  tooLongText,
  tooManyItems,
  tooManyProperties,
  tooShortText,
  wrongType,
} from "./problems.ts";
import { ValidationFindings, findingsOf, oneMatch, type SchemaProblem } from "./result.ts";
import { validateCombinations } from "./combinations.ts";

export function validateSchema(prefix: CausePath, schema: JsonSchema, value: Json, correlation?: Correlation): readonly FieldCause[] {
  const root: At = { path: "", correlation, isDefault: false, patterns: new PatternBudget() };
  const findings = correlation === undefined ? validateValue(root, schema, value) : ratcheted(root, schema, value, correlation);
  return findings.problems.map((problem) => problem.cause(prefix));
}

/** A default inside a schema: int-or-string and unknown formats are checked literally, a peculiarity of the server. */
export function validateDefault(prefix: CausePath, schema: JsonSchema, value: Json): readonly FieldCause[] {
  const root: At = { path: "", correlation: undefined, isDefault: true, patterns: new PatternBudget() };
  return validateValue(root, schema, value).problems.map((problem) => problem.cause(prefix));
}

/** The current path and its old value; without a correlation nothing below is ratcheted. */
export type At = {
  readonly path: string;
  readonly correlation: Correlation | undefined;
  readonly isDefault: boolean;
  readonly patterns: PatternBudget;
};

function ratcheted(at: At, schema: JsonSchema, value: Json, correlation: Correlation): ValidationFindings {
  const findings = validateValue(at, schema, value);
  if (findings.isValid || !correlation.isUnchanged()) return findings;
  const unchanged = new ValidationFindings();
  unchanged.matches = findings.matches;
  return unchanged;
}

function below(at: At, schema: JsonSchema, value: Json): ValidationFindings {
  return at.correlation === undefined ? validateValue(at, schema, value) : ratcheted(at, schema, value, at.correlation);
}

export function validateValue(at: At, declared: JsonSchema, value: Json): ValidationFindings {
  const findings = new ValidationFindings();
  const schema = at.isDefault && declared.intOrString ? { ...declared, intOrString: false } : declared;
  const format = at.isDefault ? schema.format : effectiveFormat(schema);
  if (value === null) {
    findings.merge(validateType(at.path, schema, format, value));
    findings.merge(validateEnum(at.path, schema, value));
    return findings;
  }
  const step = (result: ValidationFindings | undefined): void => {
    findings.merge(result);
    findings.matches += 1;
  };
  if (schema.type !== "" || schema.intOrString || format !== "") step(validateType(at.path, schema, format, value));
  step(validateCombinations(at, schema, value));
  if (typeof value === "string") {
    step(validateText(at, schema, value));
    if (isKnownFormat(format)) step(matchesFormat(format, value) ? undefined : findingsOf(wrongType(at.path, format, value)));
  }
  if (typeof value === "number") step(validateNumber(at.path, { ...schema, format }, value));
  if (Array.isArray(value)) step(validateItems(at, schema, value));
  step(validateEnum(at.path, schema, value));
  if (isJsonObject(value)) step(validateFields(at, schema, value));
  findings.matches += 1;
  return findings;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.intOrString) return ["integer", "string"];
  return schema.type === "" ? [] : [schema.type];
}

function validateType(path: string, schema: JsonSchema, format: string, value: Json): ValidationFindings {
  const types = typesOf(schema);
  if (value === null) return types.length === 0 || schema.nullable ? oneMatch() : findingsOf(wrongType(path, types.join(","), "null"));
  const [type, valueFormat] = typeOf(value);
  const fits = types.includes(type) || isAlsoInteger(value, type, types) || (type === "integer" && types.includes("number"));
  const isTextOrList = type === "string" || type === "array";
  if (!isTextOrList && format !== "" && !fits && format !== valueFormat) return findingsOf(wrongType(path, format, valueFormat));
  if (!types.includes("number") && !types.includes("integer") && format !== "" && isTextOrList) return oneMatch();
  return fits ? oneMatch() : findingsOf(wrongType(path, types.join(","), type));
}

function isAlsoInteger(value: Json, type: string, types: readonly string[]): boolean {
  return type === "number" && types.includes("integer") && isNearInteger(value as number);
}

function typeOf(value: Exclude<Json, null>): readonly [type: string, format: string] {
  if (Array.isArray(value)) return ["array", ""];
  if (typeof value === "number") return isInt64(value) ? ["integer", "int64"] : ["number", "float64"];
  return [typeof value === "object" ? "object" : typeof value, ""];
}

/** One error per text: the first of maxLength, minLength and pattern. */
function validateText(at: At, schema: JsonSchema, value: string): ValidationFindings | undefined {
  const problem = textProblem(at, schema, value);
  return problem === undefined ? undefined : findingsOf(problem);
}

function textProblem({ path, patterns }: At, schema: JsonSchema, value: string): SchemaProblem | undefined {
  const length = schema.maxLength === undefined && schema.minLength === undefined ? 0 : characters(value);
  if (schema.maxLength !== undefined && length > schema.maxLength) return tooLongText(path, schema.maxLength);
  if (schema.minLength !== undefined && length < schema.minLength) return tooShortText(path, schema.minLength, value);
  const matches = schema.pattern === "" || patterns.matches(schema.pattern, value);
  if (matches === "too long") return tooLongForPattern(path, schema.pattern);
  return matches === true ? undefined : noMatch(path, schema.pattern, value);
}

function validateItems(at: At, schema: JsonSchema, items: readonly Json[]): ValidationFindings {
  const findings = new ValidationFindings();
  const of = schema.items;
  if (of !== undefined) {
    for (const [position, item] of items.entries()) {
      findings.merge(below({ ...at, path: `${at.path}[${position}]`, correlation: at.correlation?.item(position) }, of, item));
    }
  }
  const size = items.length;
  if (schema.minItems !== undefined && size < schema.minItems) findings.add(tooFewItems(at.path, schema.minItems, size));
  if (schema.maxItems !== undefined && size > schema.maxItems) findings.add(tooManyItems(at.path, schema.maxItems, size));
  findings.matches += 1;
  return findings;
}

/** Surprise: a float is equal to an integer of the enum when its integer part is. */
function validateEnum(path: string, schema: JsonSchema, value: Json): ValidationFindings | undefined {
  if (schema.enum.length === 0) return undefined;
  const found = schema.enum.some((allowed) => {
    if (typeof allowed === "number" && typeof value === "number") return allowed === (isInt64(allowed) ? Math.trunc(value) : value);
    return allowed !== null && value !== null && jsonSame(allowed, value);
  });
  return found ? undefined : findingsOf(notInEnum(path, value, schema.enum));
}

function jsonSame(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  return JSON.stringify(a) === JSON.stringify(b);
}

function validateFields(at: At, schema: JsonSchema, value: JsonObject): ValidationFindings {
  const findings = new ValidationFindings();
  const names = Object.keys(value);
  if (schema.minProperties !== undefined && names.length < schema.minProperties) {
    findings.add(tooFewProperties(at.path, schema.minProperties, names.length));
  }
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties) {
    findings.add(tooManyProperties(at.path, schema.maxProperties, names.length));
  }
  for (const name of names) findings.merge(validateField(at, schema, name, value[name] ?? null));
  for (const name of schema.required) {
    if (!Object.hasOwn(value, name)) findings.add(missing(`${at.path}.${name}`));
  }
  return findings;
}

function validateField(at: At, schema: JsonSchema, name: string, value: Json): ValidationFindings | undefined {
  const isTypeMeta = at.path === "" && (name === "kind" || name === "apiVersion");
  const correlation = isTypeMeta ? undefined : at.correlation?.field(name);
  const property = schema.properties?.get(name);
  if (property !== undefined) return below({ ...at, path: at.path === "" ? name : `${at.path}.${name}`, correlation }, property, value);
  if (schema.additionalProperties === false) return findingsOf(forbiddenProperty(at.path, name));
  const values = valueSchema(schema);
  return values === undefined ? undefined : below({ ...at, path: `${at.path}.${name}`, correlation }, values, value);
}

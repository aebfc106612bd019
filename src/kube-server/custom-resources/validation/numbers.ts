/**
 * Numbers against a schema. An integer within 64 bits is Go's int64 and is compared as such; other numbers are float64.
 *
 * Surprise: a float within a billionth of an integer counts as that integer, and bounds that are no integers are themselves reported when the
 * type is integer.
 */
import { goFloatText, goNumberText, goTypeText, type Json } from "#kube";
import type { JsonSchema } from "../schema/json-schema.ts";
import { badFactor, beyondBound, general } from "./problems.ts";
import { ValidationFindings, type SchemaProblem } from "./result.ts";

const INT64_LIMIT = 2 ** 63;
const MAX_SAFE = 2 ** 53 - 1;

export function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < INT64_LIMIT;
}

export function isNearInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > MAX_SAFE) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return value !== 0 && whole !== 0 && Math.abs(value - whole) / Math.min(Math.abs(value) + Math.abs(whole), Number.MAX_VALUE) < 1e-9;
}

/** `%T`: integers beyond 64 bits are floats. */
export function goTypeOf(json: Json): string {
  return typeof json === "number" && !isInt64(json) ? "float64" : goTypeText(json);
}

export function validateNumber(path: string, schema: JsonSchema, value: number): ValidationFindings {
  const findings = new ValidationFindings();
  findings.add(outOfRange(value, schema, "Checked", path));
  if (schema.multipleOf !== undefined) findings.merge(validateMultiple(path, schema, value, schema.multipleOf));
  if (schema.minimum !== undefined) {
    const bound = boundOf(schema.minimum, schema, value, "Minimum boundary", path);
    findings.add(bound.problem);
    findings.add(validateMinimum(path, bound, schema.exclusiveMinimum, value));
  }
  if (schema.maximum !== undefined) {
    const bound = boundOf(schema.maximum, schema, value, "Maximum boundary", path);
    findings.add(bound.problem);
    findings.add(validateMaximum(path, bound, schema.exclusiveMaximum, value));
  }
  findings.matches += 1;
  return findings;
}

/** `shown`: the printed form of the value. */
type Bound = { readonly value: number; readonly text: string; readonly shown: string; readonly problem: SchemaProblem | undefined };

/** A bound that does not fit the type is an error of its own, and then both are floats. */
function boundOf(bound: number, schema: JsonSchema, value: number, what: string, path: string): Bound {
  const problem = outOfRange(bound, schema, what, path);
  if (!isInt64(value) || problem !== undefined) return { value: bound, text: goFloatText(bound), shown: goFloatText(value), problem };
  const whole = Math.trunc(bound);
  return { value: whole, text: goNumberText(whole), shown: goNumberText(value), problem };
}

function validateMinimum(path: string, bound: Bound, exclusive: boolean, value: number): SchemaProblem | undefined {
  if (exclusive ? value > bound.value : value >= bound.value) return undefined;
  return beyondBound(path, `should be greater than ${exclusive ? "" : "or equal to "}${bound.text}`, bound.shown);
}

function validateMaximum(path: string, bound: Bound, exclusive: boolean, value: number): SchemaProblem | undefined {
  if (exclusive ? value < bound.value : value <= bound.value) return undefined;
  return beyondBound(path, `should be less than ${exclusive ? "" : "or equal to "}${bound.text}`, bound.shown);
}

function validateMultiple(path: string, schema: JsonSchema, value: number, declared: number): ValidationFindings {
  const findings = new ValidationFindings();
  const factor = boundOf(declared, schema, value, "MultipleOf", path);
  findings.add(factor.problem);
  const integer = isInt64(value) && factor.problem === undefined;
  if (factor.value <= 0) findings.add(badFactor(path, factor.text));
  else if (!isMultiple(value, factor.value, integer))
    findings.add(beyondBound(path, `should be a multiple of ${factor.text}`, factor.shown));
  return findings;
}

function isMultiple(value: number, factor: number, integer: boolean): boolean {
  if (integer) return value % factor === 0;
  return isNearInteger(factor < 1 ? (1 / factor) * value : value / factor);
}

function outOfRange(value: number, schema: JsonSchema, what: string, path: string): SchemaProblem | undefined {
  const fits = fitsFormat(value, schema);
  if (fits) return undefined;
  const form = schema.format === "" ? "(default format)" : `with format ${schema.format}`;
  return general(`${what} value must be of type ${schema.type} ${form} in ${path}`);
}

function fitsFormat(value: number, schema: JsonSchema): boolean {
  if (schema.intOrString) return true;
  if (schema.type === "integer") return isInt64(value) && (schema.format !== "int32" || (value >= -(2 ** 31) && value < 2 ** 31));
  return schema.type !== "number" || schema.format !== "float" || Math.abs(value) <= 3.4028234663852886e38;
}

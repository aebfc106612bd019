/**
 * anyOf, oneOf, allOf and not. When no branch matches, the errors of the best match are listed together with the general error, which has no
 * field.
 */
import { goQuote, type Json } from "#kube";
import type { JsonSchema } from "../schema/json-schema.ts";
import { general } from "./problems.ts";
import { ValidationFindings } from "./result.ts";
import { validateValue, type At } from "./schema-validator.ts";

export function validateCombinations(at: At, schema: JsonSchema, value: Json): ValidationFindings {
  const findings = new ValidationFindings();
  if (schema.anyOf.length > 0) findings.merge(validateAnyOf(at, schema.anyOf, value));
  if (schema.oneOf.length > 0) findings.merge(validateOneOf(at, schema.oneOf, value));
  if (schema.allOf.length > 0) findings.merge(validateAllOf(at, schema.allOf, value));
  if (schema.not !== undefined && validateValue(at, schema.not, value).isValid) {
    findings.add(general(`${goQuote(at.path)} must not validate the schema (not)`));
  }
  findings.matches += 1;
  return findings;
}

function closest(results: readonly ValidationFindings[]): ValidationFindings | undefined {
  let best: ValidationFindings | undefined;
  for (const result of results) if (best === undefined || result.matches > best.matches) best = result;
  return best;
}

function validateAnyOf(at: At, branches: readonly JsonSchema[], value: Json): ValidationFindings {
  const failed: ValidationFindings[] = [];
  for (const branch of branches) {
    const result = validateValue(at, branch, value);
    if (result.isValid) return result;
    failed.push(result);
  }
  const findings = new ValidationFindings();
  findings.add(general(`${goQuote(at.path)} must validate at least one schema (anyOf)`));
  findings.merge(closest(failed));
  return findings;
}

function validateOneOf(at: At, branches: readonly JsonSchema[], value: Json): ValidationFindings {
  const results = branches.map((branch) => validateValue(at, branch, value));
  const valid = results.filter((result) => result.isValid);
  const [only] = valid;
  if (valid.length === 1 && only !== undefined) return only;
  const findings = new ValidationFindings();
  const count = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  findings.add(general(`${goQuote(at.path)} must validate one and only one schema (oneOf). ${count}`));
  if (valid.length === 0) findings.merge(closest(results));
  return findings;
}

function validateAllOf(at: At, branches: readonly JsonSchema[], value: Json): ValidationFindings {
  const findings = new ValidationFindings();
  const results = branches.map((branch) => validateValue(at, branch, value));
  for (const result of results) findings.merge(result);
  const invalid = results.filter((result) => !result.isValid).length;
  if (invalid > 0)
    findings.add(
      general(`${goQuote(at.path)} must validate all the schemas (allOf)${invalid === branches.length ? ". None validated" : ""}`),
    );
  return findings;
}

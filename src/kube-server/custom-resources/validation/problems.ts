/** The messages of kube-openapi's validator, each with the cause that the API server makes of it. */
import { goJsonText, goQuote, type Json } from "#kube";
import { MAX_PATTERN_STEPS } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import { invalid, notSupported, printed, required, tooLong, tooMany, typeInvalid, type BadValue } from "../causes/causes.ts";
import { child } from "../causes/field-path.ts";
import type { SchemaProblem } from "./result.ts";

type Make = (path: string | undefined) => FieldCause;

function problem(path: string, text: string, make: Make): SchemaProblem {
  return { text, cause: (prefix) => make(placed(prefix, path)) };
}

function placed(prefix: string | undefined, path: string): string | undefined {
  const relative = path.replace(/^\./, "");
  return relative === "" ? prefix : child(prefix, relative);
}

function refused(path: string, sentence: string, value: BadValue): SchemaProblem {
  const text = `${path} in body ${sentence}`;
  return problem(path, text, (at) => invalid(at, value, text));
}

export function wrongType(path: string, expected: string, actual: string): SchemaProblem {
  const text = `${path} in body must be of type ${expected}: ${goQuote(actual)}`;
  return problem(path, text, (at) => typeInvalid(at, actual, text));
}

export function missing(path: string): SchemaProblem {
  return problem(path, `${path} in body is required`, (at) => required(at));
}

export function notInEnum(path: string, value: Json, allowed: readonly Json[]): SchemaProblem {
  const names = allowed.map((one) => (typeof one === "string" ? one : goJsonText(one)));
  return problem(path, `${path} in body should be one of ${goJsonText(allowed)}`, (at) => notSupported(at, value, names));
}

export function tooLongText(path: string, max: number): SchemaProblem {
  return problem(path, `${path} in body should be at most ${max} chars long`, (at) => tooLong(at, max));
}

export function tooShortText(path: string, min: number, value: string): SchemaProblem {
  return refused(path, `should be at least ${min} chars long`, value);
}

/** Not on a real server, which has no limit for the length of a matched text. */
export function tooLongForPattern(path: string, pattern: string): SchemaProblem {
  const text = `${path} in body is too long for the patterns of its object: they may take ${MAX_PATTERN_STEPS} steps together, one of them is '${pattern}'`;
  return problem(path, text, (at) => invalid(at, "", text));
}

export function noMatch(path: string, pattern: string, value: string): SchemaProblem {
  return refused(path, `should match '${pattern}'`, value);
}

export function tooManyItems(path: string, max: number, actual: number): SchemaProblem {
  return problem(path, `${path} in body should have at most ${max} items`, (at) => tooMany(at, actual, max));
}

export function tooFewItems(path: string, min: number, actual: number): SchemaProblem {
  return refused(path, `should have at least ${min} items`, actual);
}

export function tooManyProperties(path: string, max: number, actual: number): SchemaProblem {
  return problem(path, `${path} in body should have at most ${max} properties`, (at) => tooMany(at, actual, max));
}

export function tooFewProperties(path: string, min: number, actual: number): SchemaProblem {
  return refused(path, `should have at least ${min} properties`, actual);
}

export function forbiddenProperty(path: string, name: string): SchemaProblem {
  const text = `${path}.${name} in body is a forbidden property`;
  return problem(path, text, (at) => invalid(at, name, text));
}

export function beyondBound(path: string, sentence: string, value: string): SchemaProblem {
  return refused(path, sentence, printed(value));
}

export function badFactor(path: string, factor: string): SchemaProblem {
  const text = `factor MultipleOf declared for ${path} must be positive: ${factor}`;
  return problem(path, text, (at) => invalid(at, printed(factor), text));
}

/** Errors of the value as a whole, which have no field. */
export function general(text: string): SchemaProblem {
  return { text, cause: (prefix) => invalid(prefix, "", text) };
}

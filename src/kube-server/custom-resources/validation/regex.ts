/**
 * Regular expressions of CRDs and CEL rules: RE2, as in the API server, so that no pattern can take more than linear time.
 *
 * Patterns are compiled once and kept, as many as fit; a schema has a handful, and the same ones are used for every object.
 */
import { describeThrown, fromThrowing, type Result } from "#base";
import { RE2JS } from "re2js";

const MAX_KEPT = 2_000;
const compiled = new Map<string, Result<RE2JS, string>>();

export function compileRegex(pattern: string): Result<RE2JS, string> {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const result = fromThrowing(() => RE2JS.compile(pattern), describeThrown);
  if (compiled.size >= MAX_KEPT) compiled.clear();
  compiled.set(pattern, result);
  return result;
}

/** Whether the pattern matches anywhere in the text; undefined when it is no pattern. */
export function regexMatches(pattern: string, text: string): boolean | undefined {
  const regex = compileRegex(pattern);
  return regex.ok ? regex.value.matcher(text).find() : undefined;
}

/** Patterns: the size of the compiled program is estimated before the compilation. */
import { expect, test } from "vitest";
import { compileRegex, isCompiled, MAX_PATTERN_STEPS, PatternBudget, programEstimate, regexMatches } from "./regex.ts";

test.each([
  "abc",
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
  "(a{1,100}){1,10}[cd]",
  "((a|b){0,100}){0,10}",
  "(?:a?){1000}",
  "a{1000}b",
  "\\d{3,}\\{2}[\\]x]{5}",
  "(?i)(a|b|c)*d",
])("the program of %s is not much larger than its estimate", (pattern) => {
  const regex = compileRegex(pattern);
  expect(regex.ok && regex.value.programSize()).toBeLessThanOrEqual(programEstimate(pattern) * 2 + 10);
});

test("a pattern that compiles to a huge program is refused before it is compiled", () => {
  expect(compileRegex("(a?){1000}".repeat(50))).toEqual({ ok: false, error: "error parsing regexp: expression too large" });
});

test("the cache of compiled patterns is limited", () => {
  expect(regexMatches("^ab+$", "abb")).toBe(true);
  expect(isCompiled("^ab+$")).toBe(true);
  for (let at = 0; at < 130; at++) compileRegex(`a{1000}b${at}`);
  for (let at = 0; at < 130; at++) compileRegex(`c{1000}d${at}`);
  expect(isCompiled("^ab+$")).toBe(false);
  expect(regexMatches("(", "a")).toBeUndefined();
});

test("the patterns of one object share a budget; a text that exceeds it is not searched", () => {
  const patterns = new PatternBudget();
  expect(patterns.matches("^a+$", "aaa")).toBe(true);
  expect(patterns.matches("^a+$", "b")).toBe(false);
  expect(patterns.matches("(", "b")).toBeUndefined();
  expect(patterns.matches("^a+$", "a".repeat(MAX_PATTERN_STEPS))).toBe("too long");
  expect(patterns.matches("^a+$", "aaa")).toBe("too long");
});

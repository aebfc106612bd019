import { expect, test } from "vitest";
import { CelOptional, CelStruct, listOf, mapOf, type CelValue } from "#cel";
import { OBJECT } from "../../../admission-cel/index.ts";
import { sizeProblem } from "./mutation-size.ts";

function repeated(levels: number, wrap: (value: CelValue) => CelValue): CelValue {
  let value: CelValue = "x";
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

test.each([
  {
    name: "an object of all kinds of parts",
    value: new CelStruct(OBJECT, new Map([["a", mapOf([["b", new CelOptional(1n)]])]])),
    want: undefined,
  },
  { name: "parts that are shared", value: repeated(40, (value) => listOf([value, value])), want: "more than 300000 parts" },
  { name: "a long list", value: listOf(Array.from({ length: 300_001 }, () => 1n)), want: "more than 300000 parts" },
  {
    name: "texts that are shared",
    value: listOf(Array.from({ length: 50 }, () => "x".repeat(100_000))),
    want: "more than 4194304 characters",
  },
  { name: "many levels", value: repeated(501, (value) => listOf([value])), want: "nested more than 500 levels deep" },
])("$name", ({ value, want }) => {
  const problem = sizeProblem(value);
  if (want === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(want);
});

import { matches, formatSelector } from "#kube";
import { expect, test } from "vitest";
import { parseLabelSelector } from "./label-selector.ts";

const good: readonly { given: string; want: string }[] = [
  { given: "", want: "" },
  { given: "a=b", want: "a=b" },
  { given: " a == b ", want: "a=b" },
  { given: "a!=b", want: "a!=b" },
  { given: "a in (b,c),!d,e", want: "a in (b,c),!d,e" },
  { given: "a notin (b)", want: "a!=b" },
  { given: "a in ()", want: "a=" },
  { given: "a in (,b)", want: "a in (,b)" },
  { given: "a=", want: "a=" },
  { given: "a=,b", want: "a=,b" },
  { given: "a>5,b<6", want: "a>5,b<6" },
  { given: "x.y/z=1", want: "x.y/z=1" },
];

test.each(good)("$given is parsed", ({ given, want }) => {
  const parsed = parseLabelSelector(given);
  expect(parsed.ok && formatSelector(parsed.value)).toBe(want);
});

const bad: readonly { given: string; want: string }[] = [
  { given: "a=b c", want: "found 'c', expected: ',' or 'end of string'" },
  { given: "a in b", want: "unable to parse requirement: found 'b' expected: '('" },
  { given: "a in (b c)", want: "unable to parse requirement: found 'c', expected: ',' or ')'" },
  { given: "a in (b=)", want: "unable to parse requirement: found '=', expected: ',' or ')'" },
  { given: "a in (b", want: "unable to parse requirement: found '', expected: ',' or ')'" },
  { given: "a in (", want: "unable to parse requirement: found '', expected: ',', ')' or identifier" },
  { given: "a in (b,", want: "unable to parse requirement: found '', expected: ',', or identifier" },
  { given: "a=(b)", want: "unable to parse requirement: found '(', expected: identifier" },
  { given: "=a", want: "found '=', expected: !, identifier, or 'end of string'" },
  { given: "a,,b", want: "found ',', expected: identifier after ','" },
  { given: "a b", want: "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
  { given: "!=a", want: "found '!=', expected: !, identifier, or 'end of string'" },
  { given: "!", want: "unable to parse requirement: found '', expected: identifier" },
  {
    given: "a>x",
    want: "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  },
];

test.each(bad)("$given is an error with a real server's message", ({ given, want }) => {
  expect(parseLabelSelector(given)).toEqual({ ok: false, error: want });
});

test("a key or value that no label can have is an error", () => {
  expect(parseLabelSelector("-a=b")).toMatchObject({ ok: false, error: expect.stringContaining('<nil>: Invalid value: "-a"') });
  expect(parseLabelSelector("a=-b")).toMatchObject({ ok: false, error: expect.stringContaining('values[0][a]: Invalid value: "-b"') });
});

test("a parsed selector matches labels", () => {
  const parsed = parseLabelSelector("app in (a,b),!tier");
  expect(parsed.ok && matches(parsed.value, { app: "a" })).toBe(true);
  expect(parsed.ok && matches(parsed.value, { app: "a", tier: "x" })).toBe(false);
});

/** Escaped field names and field paths in rules. */
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { escapeName, unescapeName } from "#cel";
import { readSchema } from "../schema/json-schema.ts";
import { readFieldPath } from "./field-path.ts";

describe("a name", () => {
  test.each([
    { given: "a", want: "a" },
    { given: "in", want: "__in__" },
    { given: "a-b.c/d", want: "a__dash__b__dot__c__slash__d" },
    { given: "a__b", want: "a__underscores__b" },
    { given: "1a", want: undefined },
    { given: "a b", want: undefined },
    { given: "", want: undefined },
  ])("$given is escaped as $want", ({ given, want }) => {
    expect(escapeName(given)).toBe(want);
  });
  test("is restored by unescaping", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z./-][a-z./-]{0,10}$/), (name) => {
        expect(unescapeName(escapeName(name) ?? "")).toBe(name);
      }),
    );
  });
  test("that is no escaped name is refused", () => {
    expect([unescapeName("__foo__"), unescapeName("a__in__"), unescapeName("__in__")]).toEqual([undefined, undefined, "in"]);
  });
});

const ROOT = readSchema({
  type: "object",
  properties: {
    a: { type: "object", properties: { "b.c": { type: "string" }, "d'": { type: "integer" } } },
    m: { type: "object", additionalProperties: { type: "string" } },
    l: { type: "array", items: { type: "string" } },
  },
});

describe("a path", () => {
  test.each([
    { given: ".a", want: "a" },
    { given: ".a['b.c']", want: "a.b.c" },
    { given: ".a['d\\'']", want: "a.d'" },
    { given: ".m.k", want: "m[k]" },
    { given: ".m['k\\n']", want: "m[k\n]" },
    { given: "", want: "<nil>" },
  ])("$given leads to $want", ({ given, want }) => {
    const path = readFieldPath(given, ROOT);
    expect(path.ok ? path.value.path : path).toBe(want);
  });
  test.each([
    { given: "a", want: "expected [ or . but got: a" },
    { given: ".", want: "unexpected end of JSON path" },
    { given: ".x", want: "does not refer to a valid field" },
    { given: ".a[b]", want: "expected single quoted string but got b" },
    { given: ".a['b.c'", want: "unexpected end of JSON path" },
    { given: ".a['b.c'.", want: "expected ] but got ." },
    { given: ".m['\\q']", want: "" },
    { given: ".l.x", want: "" },
  ])("$given is no valid path", ({ given, want }) => {
    const path = readFieldPath(given, ROOT);
    expect(path.ok ? path.value : path.error).toContain(want);
  });
});

/** Structs that a mutation makes. */
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { BOOL, type CelValue } from "#cel";
import { compile } from "./compile.ts";

const declared = { withPatchTypes: true, returns: "anything" } as const;
const values = new Map<string, CelValue>([["object", null]]);

function valueOf(text: string): CelValue {
  return expectOk(compile(text, declared).compiled).run(values).value;
}

function problemOf(text: string, options: Parameters<typeof compile>[1] = declared): string {
  const { compiled } = compile(text, options);
  return compiled.ok ? "" : compiled.error.detail;
}

describe("structs of mutations", () => {
  it.each([
    { given: "Object{a: 1} == Object{a: 1}", want: true },
    { given: "Object{a: 1} == Object{a: 2}", want: false },
    { given: "Object{a: 1} == Object{b: 1}", want: false },
    { given: "Object{a: 1} == Object{a: 1, b: 2}", want: false },
    { given: "dyn(Object{}) == dyn(Object.spec{})", want: false },
    { given: "dyn(Object{}) == dyn(1)", want: false },
    { given: "Object{a: 'x'}.a", want: "x" },
    { given: "has(Object{a: 1}.a)", want: true },
    { given: "has(Object{a: 1}.b)", want: false },
    { given: "Object{?a: optional.none(), ?b: optional.of(1)} == Object{b: 1}", want: true },
    { given: "type(Object.spec{}) == Object.spec", want: true },
    { given: "JSONPatch{op: 'add'}.op", want: "add" },
    { given: "jsonpatch.escapeKey('a/b~c')", want: "a~1b~0c" },
  ])("$given", ({ given, want }) => {
    expect(valueOf(given)).toBe(want);
  });

  it("have the cost of a real server", () => {
    expect(expectOk(compile("Object{a: 1}", declared).compiled).run(values).cost).toBe(40);
  });

  it("return the error of a field's value", () => {
    expect(valueOf("Object{a: object.b}")).toMatchObject({ message: "no such key: b" });
  });

  it.each([
    { name: "an unknown struct", given: "Objekt{}", want: "undeclared reference to 'Objekt' (in container '')" },
    { name: "a type that is no struct", given: "string{}", want: "'string' is not a message type" },
    { name: "a value instead of a type", given: "object{}", want: "'dyn' is not a type" },
    {
      name: "a field of the wrong type",
      given: "JSONPatch{op: 1}",
      want: "expected type of field 'op' is 'string' but provided type is 'int'",
    },
    {
      name: "an optional field without an optional",
      given: "JSONPatch{?op: 'x'}",
      want: "expected type 'optional_type(string)' but found 'string'",
    },
  ])("refuse $name", ({ given, want }) => {
    expect(problemOf(given)).toContain(want);
  });

  it("are declared for mutations only", () => {
    expect(problemOf("Object{} == Object{}", { returns: [BOOL] })).toContain("undeclared reference to 'Object'");
    expect(problemOf("jsonpatch.escapeKey('a') == 'a'", { returns: [BOOL] })).toContain("undeclared reference");
  });
});

/** Rules on objects: messages, old values, ratcheting, budgets. The messages are those of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import { create, crdOfSpec, linesOf, typeOf, update, widget } from "../widget.test-support.ts";

function withRules(field: JsonObject, ...rules: readonly JsonObject[]): ReturnType<typeof typeOf> {
  return typeOf(crdOfSpec({ f: { ...field, "x-kubernetes-validations": rules } }));
}

function errorsOf(rule: JsonObject, value: Json, field: JsonObject = { type: "integer" }): readonly string[] {
  return linesOf(create(withRules(field, rule), widget({ f: value })));
}

describe("the error of a false rule has", () => {
  const OBJECT = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
  const rows: readonly {
    readonly name: string;
    readonly rule: JsonObject;
    readonly value: Json;
    readonly field?: JsonObject;
    readonly want: string;
  }[] = [
    { name: "itself", rule: { rule: "self > 3" }, value: 1, want: "spec.f: Invalid value: 1: failed rule: self > 3" },
    { name: "its message", rule: { rule: "self > 3", message: " too small " }, value: 1, want: "spec.f: Invalid value: 1: too small" },
    {
      name: "the value of its messageExpression",
      rule: { rule: "self > 3", messageExpression: "'%d is small'.format([self])" },
      value: 1,
      want: "spec.f: Invalid value: 1: 1 is small",
    },
    {
      name: "its fixed message when the messageExpression is empty",
      rule: { rule: "self > 3", message: "m", messageExpression: "'  '" },
      value: 1,
      want: "spec.f: Invalid value: 1: m",
    },
    {
      name: "its fixed message when the messageExpression fails",
      rule: { rule: "self > 3", message: "m", messageExpression: "string(1 / (self - self))" },
      value: 1,
      want: "spec.f: Invalid value: 1: m",
    },
    {
      name: "its reason: forbidden",
      rule: { rule: "self > 3", message: "m", reason: "FieldValueForbidden" },
      value: 1,
      want: "spec.f: Forbidden: m",
    },
    {
      name: "its reason: required",
      rule: { rule: "self > 3", message: "m", reason: "FieldValueRequired" },
      value: 1,
      want: "spec.f: Required value: m",
    },
    {
      name: "its reason: duplicate",
      rule: { rule: "self > 3", message: "m", reason: "FieldValueDuplicate" },
      value: 1,
      want: "spec.f: Duplicate value: 1",
    },
    {
      name: "no value of an object",
      rule: { rule: "self.a < self.b", message: "m" },
      value: { a: 2, b: 1 },
      field: OBJECT,
      want: "spec.f: Invalid value: m",
    },
    {
      name: "its fieldPath",
      rule: { rule: "self.a < self.b", message: "m", fieldPath: ".a" },
      value: { a: 2, b: 1 },
      field: OBJECT,
      want: "spec.f.a: Invalid value: m",
    },
    {
      name: "the evaluation error",
      rule: { rule: "1 / self == 1" },
      value: 0,
      want: 'spec.f: Invalid value: "integer": division by zero evaluating rule: 1 / self == 1',
    },
  ];
  test.each(rows)("$name", ({ rule, value, field, want }) => {
    expect(errorsOf(rule, value, field)).toEqual([want]);
  });

  test("its index in a list or its key in a map", () => {
    const item = { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self != 'x'", message: "no x" }] };
    const type = typeOf(
      crdOfSpec({ l: { type: "array", maxItems: 5, items: item }, m: { type: "object", maxProperties: 5, additionalProperties: item } }),
    );
    expect(linesOf(create(type, widget({ l: ["a", "x"], m: { "a.b": "x" } })))).toEqual([
      'spec.l[1]: Invalid value: "x": no x',
      'spec.m[a.b]: Invalid value: "x": no x',
    ]);
  });

  test("no message while the object has structural errors", () => {
    expect(errorsOf({ rule: "self > 3" }, "x")).toEqual([
      'spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"',
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ]);
  });
});

describe("a rule about the old value", () => {
  const type = withRules({ type: "string", maxLength: 9 }, { rule: "self == oldSelf", message: "fixed" });
  test("is not run on a new object", () => {
    expect(linesOf(create(type, widget({ f: "a" })))).toEqual([]);
  });
  test("is not run on a new value", () => {
    expect(linesOf(update(type, widget({}), widget({ f: "a" })))).toEqual([]);
  });
  test("is run on a change", () => {
    expect(linesOf(update(type, widget({ f: "a" }), widget({ f: "b" })))).toEqual(['spec.f: Invalid value: "b": fixed']);
  });
  test("finds the old item of a list by its keys", () => {
    const item = { type: "object", required: ["k"], properties: { k: { type: "string", maxLength: 3 }, v: { type: "integer" } } };
    const rules = [{ rule: "self.v >= oldSelf.v", message: "only up" }];
    const list = {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { ...item, "x-kubernetes-validations": rules },
    };
    const before = widget({
      l: [
        { k: "a", v: 1 },
        { k: "b", v: 5 },
      ],
    });
    const after = widget({
      l: [
        { k: "b", v: 4 },
        { k: "a", v: 2 },
        { k: "c", v: 0 },
      ],
    });
    expect(linesOf(update(typeOf(crdOfSpec({ l: list })), before, after))).toEqual(["spec.l[0]: Invalid value: only up"]);
  });
  test("can test whether there was one", () => {
    const rule = { rule: "oldSelf.hasValue() ? self == oldSelf.value() : self != 'bad'", optionalOldSelf: true, message: "m" };
    const optional = withRules({ type: "string", maxLength: 9 }, rule);
    expect(linesOf(create(optional, widget({ f: "bad" })))).toHaveLength(1);
    expect(linesOf(create(optional, widget({ f: "ok" })))).toEqual([]);
    expect(linesOf(update(optional, widget({ f: "ok" }), widget({ f: "other" })))).toHaveLength(1);
  });
});

describe("a value that a newer rule refuses", () => {
  const type = withRules({ type: "string", maxLength: 9 }, { rule: "self != 'bad'", message: "no bad" });
  test("stays while it is not changed", () => {
    expect(linesOf(update(type, widget({ f: "bad" }), widget({ f: "bad" }, { metadata: { name: "x", labels: { a: "b" } } })))).toEqual([]);
  });
  test("cannot be set by a change", () => {
    expect(linesOf(update(type, widget({ f: "ok" }), widget({ f: "bad" })))).toEqual(['spec.f: Invalid value: "bad": no bad']);
  });
  test("stays only if its whole list is unchanged when the list has no keys", () => {
    const item = { type: "string", maxLength: 9, "x-kubernetes-validations": [{ rule: "self != 'bad'", message: "no bad" }] };
    const listed = typeOf(crdOfSpec({ l: { type: "array", maxItems: 5, items: item } }));
    expect(linesOf(update(listed, widget({ l: ["bad"] }), widget({ l: ["bad"] })))).toEqual([]);
    expect(linesOf(update(listed, widget({ l: ["bad"] }), widget({ l: ["bad", "ok"] })))).toEqual([
      'spec.l[0]: Invalid value: "bad": no bad',
    ]);
  });
});

describe("a rule that iterates too much", () => {
  const numbers = Array.from({ length: 700 }, (_, at) => at);
  const list = { type: "array", maxItems: 1_000, items: { type: "integer" } };
  test("is stopped by the limit of one evaluation", () => {
    const [line] = errorsOf({ rule: "self.all(x, self.all(y, x != y || x == y))", message: "m" }, numbers, list);
    expect(line).toBe(
      `spec.f: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m`,
    );
  });
  test("spends the budget of the whole object", () => {
    const rule = { rule: "self.all(x, self.exists(y, x == y || y < 0))", message: "m" };
    const rows = { type: "array", maxItems: 40, items: { ...list, maxItems: 300, "x-kubernetes-validations": [rule] } };
    const type = typeOf(crdOfSpec({ f: { ...rows, maxItems: 5 } }));
    const tree = linesOf(create(type, widget({ f: Array.from({ length: 5 }, () => numbers.slice(0, 300)) })));
    expect(tree.length).toBeLessThanOrEqual(1);
  });
  test("a pattern with exponential backtracking elsewhere takes linear time here", () => {
    expect(errorsOf({ rule: "self.matches('^(a+)+$')" }, "a".repeat(5_000) + "b", { type: "string", maxLength: 6_000 })).toHaveLength(1);
  });
});

/** Validation of objects against a schema, with the recorded messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { Json } from "#kube";
import { create, crdOfSpec, linesOf, typeOf, update, widget } from "../widget.test-support.ts";

const type = typeOf(
  crdOfSpec(
    {
      s: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" },
      e: { type: "string", enum: ["A", "B"] },
      i: { type: "integer", minimum: 1, maximum: 10, multipleOf: 2 },
      i32: { type: "integer", format: "int32" },
      n: { type: "number", exclusiveMinimum: true, minimum: 0 },
      b: { type: "boolean" },
      l: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
      d: { type: "string", format: "date-time" },
      m: { type: "object", additionalProperties: { type: "integer" }, maxProperties: 2 },
      o: { type: "object", properties: { r: { type: "string" } }, required: ["r"] },
      q: { "x-kubernetes-int-or-string": true },
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      unknown: { type: "string", format: "no-such-format" },
      one: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      far: { type: "integer", anyOf: [{ maximum: 5 }, { minimum: 10 }] },
      both: { type: "string", allOf: [{ minLength: 2 }, { maxLength: 3 }] },
      never: { type: "string", not: { pattern: "^x" } },
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      keyed: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
      },
      emb: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    },
    { required: ["s"] },
  ),
);

const ROWS: readonly { readonly name: string; readonly given: Json; readonly want: readonly string[] }[] = [
  { name: "a missing field", given: {}, want: ["spec.s: Required value"] },
  { name: "null counts as absent", given: { s: null }, want: ["spec.s: Required value"] },
  { name: "too short", given: { s: "a" }, want: ['spec.s: Invalid value: "a": spec.s in body should be at least 2 chars long'] },
  { name: "too long", given: { s: "abcde" }, want: ["spec.s: Too long: may not be more than 4 bytes"] },
  { name: "a pattern", given: { s: "AB" }, want: [`spec.s: Invalid value: "AB": spec.s in body should match '^[a-z]+$'`] },
  { name: "another type", given: { s: 5 }, want: ['spec.s: Invalid value: "integer": spec.s in body must be of type string: "integer"'] },
  { name: "an enum", given: { s: "ok", e: "C" }, want: ['spec.e: Unsupported value: "C": supported values: "A", "B"'] },
  { name: "a minimum", given: { s: "ok", i: 0 }, want: ["spec.i: Invalid value: 0: spec.i in body should be greater than or equal to 1"] },
  {
    name: "two errors of one number",
    given: { s: "ok", i: 11 },
    want: [
      "spec.i: Invalid value: 11: spec.i in body should be a multiple of 2",
      "spec.i: Invalid value: 11: spec.i in body should be less than or equal to 10",
    ],
  },
  {
    name: "a fraction instead of an integer",
    given: { s: "ok", i: 2.5 },
    want: [
      'spec.i: Invalid value: "number": spec.i in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.i',
      "spec.i: Invalid value: 2.5: spec.i in body should be a multiple of 2",
    ],
  },
  {
    name: "beyond 32 bits",
    given: { s: "ok", i32: 2147483648 },
    want: ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32'],
  },
  { name: "an exclusive minimum", given: { s: "ok", n: 0 }, want: ["spec.n: Invalid value: 0: spec.n in body should be greater than 0"] },
  { name: "too few items", given: { s: "ok", l: [] }, want: ["spec.l: Invalid value: 0: spec.l in body should have at least 1 items"] },
  { name: "too many items", given: { s: "ok", l: ["a", "b", "c"] }, want: ["spec.l: Too many: 3: must have at most 2 items"] },
  {
    name: "an item",
    given: { s: "ok", l: [1] },
    want: ['spec.l[0]: Invalid value: "integer": spec.l[0] in body must be of type string: "integer"'],
  },
  {
    name: "a format",
    given: { s: "ok", d: "nope" },
    want: ['spec.d: Invalid value: "nope": spec.d in body must be of type date-time: "nope"'],
  },
  {
    name: "no format check for another type",
    given: { s: "ok", d: 5 },
    want: ['spec.d: Invalid value: "int64": spec.d in body must be of type date-time: "int64"'],
  },
  {
    name: "a value of a map",
    given: { s: "ok", m: { a: "x" } },
    want: ['spec.m.a: Invalid value: "string": spec.m.a in body must be of type integer: "string"'],
  },
  { name: "too many entries", given: { s: "ok", m: { a: 1, b: 2, c: 3 } }, want: ["spec.m: Too many: 3: must have at most 2 items"] },
  { name: "a field of a field", given: { s: "ok", o: {} }, want: ["spec.o.r: Required value"] },
  {
    name: "a value that is no int-or-string",
    given: { s: "ok", q: 1.5 },
    want: ['spec.q: Invalid value: "number": spec.q in body must be of type integer,string: "number"'],
  },
  { name: "a text for the spec", given: "str", want: ['spec: Invalid value: "string": spec in body must be of type object: "string"'] },
  { name: "an unknown format", given: { s: "ok", unknown: "x" }, want: [] },
  { name: "any value under preserve-unknown-fields", given: { s: "ok", any: { deep: [{ a: null }] } }, want: [] },
  {
    name: "both branches of oneOf",
    given: { s: "ok", one: { a: "x", b: "y" } },
    want: ['<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  },
  {
    name: "no branch of oneOf",
    given: { s: "ok", one: {} },
    want: [
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
      "spec.one.a: Required value",
    ],
  },
  {
    name: "no branch of anyOf, with the best match",
    given: { s: "ok", far: 7 },
    want: [
      '<nil>: Invalid value: "": "spec.far" must validate at least one schema (anyOf)',
      "spec.far: Invalid value: 7: spec.far in body should be less than or equal to 5",
    ],
  },
  {
    name: "one of allOf",
    given: { s: "ok", both: "abcd" },
    want: [
      "spec.both: Too long: may not be more than 3 bytes",
      '<nil>: Invalid value: "": "spec.both" must validate all the schemas (allOf)',
    ],
  },
  {
    name: "a value that matches not",
    given: { s: "ok", never: "xx" },
    want: ['<nil>: Invalid value: "": "spec.never" must not validate the schema (not)'],
  },
  { name: "an element of a set twice", given: { s: "ok", set: ["a", "b", "a", "a"] }, want: ['spec.set[2]: Duplicate value: "a"'] },
  {
    name: "a key of a list twice",
    given: { s: "ok", keyed: [{ k: "a" }, { k: "a" }] },
    want: ['spec.keyed[1]: Duplicate value: {"k":"a"}'],
  },
  {
    name: "an embedded resource without its type",
    given: { s: "ok", emb: {} },
    want: ["spec.emb.apiVersion: Required value", "spec.emb.kind: Required value"],
  },
];

describe("a new object", () => {
  test.each(ROWS)("$name", ({ given, want }) => {
    expect(linesOf(create(type, widget(given)))).toEqual(want);
  });

  test("of another kind has no other error", () => {
    expect(linesOf(create(type, widget({ s: "ok" }, { kind: "Gadget" })))).toEqual(['kind: Invalid value: "Gadget": must be Widget']);
  });

  test("has a DNS subdomain as name", () => {
    const [line] = linesOf(create(type, widget({ s: "ok" }, { metadata: { name: "UPPER" } })));
    expect(line).toContain('metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must consist of');
  });

  test("with a label that is no text is not decoded", () => {
    const result = create(type, widget({ s: "ok" }, { metadata: { name: "x", labels: { a: 1 } } }));
    expect(linesOf(result)).toEqual(["json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"]);
  });
});

describe("a changed object", () => {
  const stored = widget({ s: "TOOLONG", l: ["a", "b", "c"], keyed: [{ k: "a", extra: 1 }] });

  test("may keep invalid values that did not change", () => {
    expect(linesOf(update(type, stored, widget({ ...(stored["spec"] as object), e: "A" })))).toEqual([]);
  });

  test("may not change them to other invalid values", () => {
    expect(linesOf(update(type, stored, widget({ ...(stored["spec"] as object), s: "LONGTOO" })))).toEqual([
      "spec.s: Too long: may not be more than 4 bytes",
    ]);
  });

  test("may keep a set with a duplicate element", () => {
    const twice = widget({ s: "ok", set: ["a", "a"] });
    expect(linesOf(update(type, twice, widget({ s: "ok", set: ["a", "a", "b"] })))).toEqual([]);
  });

  test("may not change its name", () => {
    const lines = linesOf(update(type, widget({ s: "ok" }), widget({ s: "ok" }, { metadata: { name: "y" } })));
    expect(lines).toContain('metadata.name: Invalid value: "y": field is immutable');
  });
});

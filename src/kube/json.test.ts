import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, depthExceeds, field, fieldAt, jsonEqual, parseJson } from "./json.ts";

describe("field", () => {
  it("returns only the document's own fields, not inherited ones", () => {
    expect(field({ a: 1 }, "a")).toBe(1);
    expect(field({}, "constructor")).toBeUndefined();
    expect(field({}, "__proto__")).toBeUndefined();
    expect(field([1], "length")).toBeUndefined();
    expect(field(null, "a")).toBeUndefined();
    expect(fieldAt({ a: { b: { c: 1 } } }, "a", "b", "c")).toBe(1);
    expect(fieldAt({ a: 1 }, "a", "b")).toBeUndefined();
  });
});

type Pair = { name: string; a: unknown; b: unknown; want: boolean };

describe("jsonEqual", () => {
  it.each<Pair>([
    { name: "the order of fields is ignored", a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, want: true },
    { name: "the order of items is compared", a: [1, 2], b: [2, 1], want: false },
    { name: "undefined equals an absent field", a: { x: 1, y: undefined }, b: { x: 1 }, want: true },
    { name: "null differs from an absent field", a: { x: null }, b: {}, want: false },
    { name: "a list differs from a map", a: [], b: {}, want: false },
    { name: "a map differs from a list", a: {}, b: [], want: false },
    { name: "lists of different lengths differ", a: [1], b: [1, 2], want: false },
    { name: "inherited properties are not fields", a: { toString: 1 }, b: { x: 1 }, want: false },
    { name: "a string differs from a number", a: "1", b: 1, want: false },
  ])("$name", ({ a, b, want }) => {
    expect(jsonEqual(a, b)).toBe(want);
  });

  it("is true exactly when the canonical texts are equal", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ noUnicodeString: false }),
        fc.jsonValue(),
        (a, b) => jsonEqual(a, b) === (canonicalJson(a) === canonicalJson(b)),
      ),
    );
    fc.assert(fc.property(fc.jsonValue(), (a) => jsonEqual(a, JSON.parse(canonicalJson(a)))));
  });
});

describe("canonicalJson", () => {
  it("sorts fields, drops undefined, keeps the order of lists", () => {
    expect(canonicalJson({ b: [2, 1], a: { d: null, c: "x" }, e: undefined })).toBe('{"a":{"c":"x","d":null},"b":[2,1]}');
    expect(canonicalJson(undefined)).toBe("null");
  });
});

describe("parseJson", () => {
  it("returns an error for invalid text", () => {
    expect(parseJson("{")).toMatchObject({ ok: false, error: expect.stringContaining("not JSON") as string });
  });

  it("rejects nesting that would overflow the stack", () => {
    expect(parseJson("[".repeat(200) + "]".repeat(200))).toEqual({ ok: false, error: "nested deeper than 100 levels" });
    expect(parseJson('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
    expect(depthExceeds({ a: { b: 1 } }, 1)).toBe(true);
    expect(depthExceeds({ a: 1 }, 1)).toBe(false);
  });
});

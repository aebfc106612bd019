import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, depthExceeds, field, fieldAt, jsonEqual, parseJson } from "./json.ts";

describe("field", () => {
  it("reads only the document's own fields", () => {
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
    { name: "order of fields does not count", a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, want: true },
    { name: "order of items does", a: [1, 2], b: [2, 1], want: false },
    { name: "undefined is absence", a: { x: 1, y: undefined }, b: { x: 1 }, want: true },
    { name: "null is not absence", a: { x: null }, b: {}, want: false },
    { name: "a list is no map", a: [], b: {}, want: false },
    { name: "a map is no list", a: {}, b: [], want: false },
    { name: "lengths count", a: [1], b: [1, 2], want: false },
    { name: "inherited names are not fields", a: { toString: 1 }, b: { x: 1 }, want: false },
    { name: "types count", a: "1", b: 1, want: false },
  ])("$name", ({ a, b, want }) => {
    expect(jsonEqual(a, b)).toBe(want);
  });

  it("holds exactly when the canonical texts are the same", () => {
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
  it("sorts fields, drops undefined, keeps lists as they are", () => {
    expect(canonicalJson({ b: [2, 1], a: { d: null, c: "x" }, e: undefined })).toBe('{"a":{"c":"x","d":null},"b":[2,1]}');
    expect(canonicalJson(undefined)).toBe("null");
  });
});

describe("parseJson", () => {
  it("says what is wrong with bad text", () => {
    expect(parseJson("{")).toMatchObject({ ok: false, error: expect.stringContaining("not JSON") as string });
  });

  it("refuses nesting that would overflow a stack later", () => {
    expect(parseJson("[".repeat(200) + "]".repeat(200))).toEqual({ ok: false, error: "nested deeper than 100 levels" });
    expect(parseJson('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
    expect(depthExceeds({ a: { b: 1 } }, 1)).toBe(true);
    expect(depthExceeds({ a: 1 }, 1)).toBe(false);
  });
});

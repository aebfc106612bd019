import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonEqual, type Json } from "#kube";
import { shareWith } from "./share-json.ts";

describe("shareWith", () => {
  test("returns the old object when nothing changed but the order of fields", () => {
    const old = { a: 1, b: { c: [1, { d: "x" }] } };
    expect(shareWith(old, { b: { c: [1, { d: "x" }] }, a: 1 })).toBe(old);
  });

  test("shares unchanged parts with the old object", () => {
    const old = { a: { x: 1 }, list: [{ n: 1 }, { n: 2 }], gone: true };
    const next = shareWith(old, { a: { x: 1 }, list: [{ n: 1 }, { n: 3 }, { n: 4 }] }) as typeof old;
    expect(next).toEqual({ a: { x: 1 }, list: [{ n: 1 }, { n: 3 }, { n: 4 }] });
    expect(next.a).toBe(old.a);
    expect(next.list[0]).toBe(old.list[0]);
  });

  test("an undefined field is absent", () => {
    const old = { a: 1, b: undefined };
    expect(shareWith(old, { a: 1 })).toBe(old);
    expect(shareWith({ a: 1 }, { a: 1, b: undefined })).toEqual({ a: 1 });
  });

  test.each([
    { name: "null for an object", old: { a: {} }, next: { a: null } },
    { name: "a list for an object", old: { a: {} }, next: { a: [] } },
    { name: "an object for a list", old: { a: [] }, next: { a: {} } },
    { name: "a shorter list", old: { a: [1, 2] }, next: { a: [1] } },
    { name: "fewer fields", old: { a: 1, b: 2 }, next: { a: 1 } },
  ])("$name is a change", ({ old, next }) => {
    expect(shareWith(old, next)).toEqual(next);
    expect(shareWith(old, next)).not.toBe(old);
  });

  test("__proto__ is an ordinary field", () => {
    const next = JSON.parse('{"__proto__": {}, "a": {"b": 1}}') as Json;
    expect(JSON.stringify(shareWith({ a: { b: 1 } }, next))).toBe('{"__proto__":{},"a":{"b":1}}');
    const old = JSON.parse('{"__proto__": {"x": 1}}') as Json;
    expect(shareWith(old, JSON.parse('{"__proto__": {"x": 1}}') as Json)).toBe(old);
  });

  test("the result equals the new value, and neither argument is changed", () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(value, value, (old, next) => {
        const texts = [JSON.stringify(old), JSON.stringify(next)];
        expect(jsonEqual(shareWith(old, next), next)).toBe(true);
        expect([JSON.stringify(old), JSON.stringify(next)]).toEqual(texts);
      }),
    );
  });

  test("the result is the old object if both are equal", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        // as it comes from a text: there is no -0 in JSON, and `toBe` tells it from 0
        const [old, again] = [JSON.stringify(value), JSON.stringify(value)].map((text) => JSON.parse(text) as Json) as [Json, Json];
        expect(shareWith(old, again)).toBe(old);
      }),
    );
  });
});

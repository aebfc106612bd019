import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approximateSize, sizeBeside } from "./approximate-size.ts";

describe("approximateSize", () => {
  it("is about the length of the JSON", () => {
    const value = { name: "abc", list: [1, true, null, "x"], nested: { a: {} } };
    expect(approximateSize(value) / JSON.stringify(value).length).toBeCloseTo(1, 0);
  });
});

describe("sizeBeside", () => {
  it("counts what only this one has", () => {
    const shared = { big: "x".repeat(1_000) };
    const [old, next] = [
      { shared, list: [shared, 1], a: "1" },
      { shared, list: [shared, 2], a: "2" },
    ];
    expect(sizeBeside(old, next)).toBeLessThan(80);
    expect(sizeBeside(old, { shared: [], list: {} })).toBeGreaterThan(2_000);
    expect(sizeBeside(old, old)).toBe(0);
  });

  it("is never more than the whole, and the whole when nothing is shared", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
        expect(sizeBeside(value, other)).toBeLessThanOrEqual(approximateSize(value));
        expect(sizeBeside({ value }, undefined)).toBe(approximateSize({ value }));
      }),
    );
  });
});

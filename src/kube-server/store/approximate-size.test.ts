import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approximateSize, sizeBeside } from "./approximate-size.ts";

describe("approximateSize", () => {
  it.each([
    { name: "one long text", value: { text: "x".repeat(10_000) }, want: 10_000 },
    { name: "empty objects", value: Array.from({ length: 1_000 }, () => ({})), want: 64_000 },
    { name: "empty lists", value: Array.from({ length: 1_000 }, () => []), want: 40_000 },
    { name: "numbers", value: Array.from({ length: 1_000 }, (_, at) => at), want: 8_000 },
    { name: "small objects", value: Array.from({ length: 1_000 }, (_, at) => ({ name: `n${at}`, value: null })), want: 72_000 },
    { name: "a large map", value: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, `v${at}`])), want: 110_000 },
  ])("$name: within a factor of three of what V8 takes", ({ value, want }) => {
    expect(approximateSize(value) / want).toBeGreaterThan(1 / 3);
    expect(approximateSize(value) / want).toBeLessThan(3);
  });
});

describe("sizeBeside", () => {
  it("counts only parts that are not shared", () => {
    const shared = { big: "x".repeat(1_000) };
    const [old, next] = [
      { shared, list: [shared, 1], a: "1" },
      { shared, list: [shared, 2], a: "2" },
    ];
    expect(sizeBeside(old, next)).toBeLessThan(400);
    expect(sizeBeside(old, { shared: [], list: {} })).toBeGreaterThan(2_000);
    expect(sizeBeside(old, old)).toBe(0);
  });

  it("is at most the whole size, and equal to it when nothing is shared", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
        expect(sizeBeside(value, other)).toBeLessThanOrEqual(approximateSize(value));
        expect(sizeBeside({ value }, undefined)).toBe(approximateSize({ value }));
      }),
    );
  });
});

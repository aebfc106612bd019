import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { goSortStable } from "./go-sort.ts";
import { goSort } from "./go-sort-unstable.ts";

describe("Go's sorting", () => {
  test("both functions sort by a strict order", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 300, size: "max" }), (items) => {
        const want = items.toSorted((a, b) => a - b);
        expect(goSort([...items], (a, b) => a < b)).toEqual(want);
        expect(goSortStable([...items], (a, b) => a < b)).toEqual(want);
      }),
    );
  });

  test("the stable sort keeps the order of equal elements", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.nat()), { maxLength: 200, size: "max" }), (items) => {
        expect(goSortStable([...items], (a, b) => a[0] < b[0])).toEqual(items.toSorted((a, b) => a[0] - b[0]));
      }),
    );
  });

  // The results of Go 1.26: they depend on its algorithm, because "less" is not a strict order.
  test("if every element is less than every other, the list is reversed", () => {
    const rising = Array.from({ length: 45 }, (_, index) => index);
    expect(goSortStable([...rising], () => true)).toEqual(rising.toReversed());
    expect(goSort(["a1", "b1", "a2"], (a, b) => a.slice(0, 1) <= b.slice(0, 1))).toEqual(["a2", "a1", "b1"]);
  });

  const checksum = (items: readonly number[]): number => items.reduce((sum, item) => (sum * 31 + item) % 1_000_003, 0);

  test.each([
    { length: 30, groups: 2, want: 609_857 },
    { length: 30, groups: 5, want: 595_844 },
    { length: 70, groups: 2, want: 939_864 },
    { length: 70, groups: 40, want: 214_732 },
    { length: 200, groups: 5, want: 262_875 },
    { length: 200, groups: 40, want: 628_885 },
  ])("$length elements in $groups groups of equals end up where Go puts them", ({ length, groups, want }) => {
    const items = Array.from({ length }, (_, index) => ((index * 7) % groups) * 100 + (index % 100));
    expect(checksum(goSort(items, (a, b) => Math.floor(a / 100) <= Math.floor(b / 100)))).toBe(want);
  });

  test.each([
    { length: 40, want: 919_397 },
    { length: 300, want: 325_414 },
  ])("$length elements that are all less than each other end up where Go puts them", ({ length, want }) => {
    expect(
      checksum(
        goSort(
          Array.from({ length }, (_, index) => index),
          () => true,
        ),
      ),
    ).toBe(want);
  });

  test.each([
    { name: "falling", items: Array.from({ length: 100 }, (_, index) => 100 - index) },
    { name: "rising but for one", items: [...Array.from({ length: 99 }, (_, index) => index), 50] },
    { name: "all equal", items: Array.from({ length: 60 }, () => 7) },
    { name: "organ pipe", items: Array.from({ length: 64 }, (_, index) => Math.min(index, 64 - index)) },
    { name: "saw", items: Array.from({ length: 500 }, (_, index) => (index * 7919) % 13) },
    { name: "two values apart", items: Array.from({ length: 2_000 }, (_, index) => (index % 16 === 0 ? 0 : index)) },
  ])("patterns are sorted too: $name", ({ items }) => {
    expect(goSort([...items], (a, b) => a < b)).toEqual(items.toSorted((a, b) => a - b));
  });
});

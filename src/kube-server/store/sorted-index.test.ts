import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { configMap } from "../../../test/builders/store/objects.ts";
import { SortedIndex, type KeyRange } from "./sorted-index.ts";

const slot = (key: string) => ({ stored: { key, object: configMap(key, "x"), revision: 1 } });
const keyNumber = (number: number) => `k${String(number).padStart(6, "0")}`;

describe("SortedIndex", () => {
  const orders: { name: string; next: (at: number) => number }[] = [
    { name: "ascending", next: (at) => at },
    { name: "descending", next: (at) => 4_999 - at },
    { name: "shuffled", next: (at) => (at * 1_237) % 5_000 },
  ];
  it.each(orders)("sorts keys that arrive $name", ({ next }) => {
    const index = new SortedIndex();
    for (let at = 0; at < 5_000; at += 1) index.insert(slot(keyNumber(next(at))));
    const all = Array.from({ length: 5_000 }, (_, number) => keyNumber(number));
    expect(index.take({ from: "", to: undefined }, Infinity).map(({ key }) => key)).toEqual(all);
    expect([...index.slots({ from: keyNumber(17), to: keyNumber(1_003) })].map(({ stored }) => stored.key)).toEqual(all.slice(17, 1_003));
  });

  it("returns the same ranges as a sorted array, through thousands of insertions and removals", () => {
    const index = new SortedIndex();
    const known = new Set<string>();
    const random = seededRandom(7);
    for (let round = 0; round < 12_000; round += 1) {
      const key = keyNumber(Math.floor(random() * 3_000));
      const growing = Math.floor(round / 3_000) % 2 === 0;
      if (known.has(key) && (!growing || random() < 0.3)) {
        index.remove(key);
        known.delete(key);
      } else if (!known.has(key) && (growing || random() < 0.05)) {
        index.insert(slot(key));
        known.add(key);
      }
    }
    const sorted = [...known].toSorted();
    expect(index.size).toBe(sorted.length);
    fc.assert(
      fc.property(fc.nat(3_100), fc.option(fc.nat(3_100), { nil: undefined }), fc.nat(700), (from, to, limit) => {
        const range: KeyRange = { from: keyNumber(from), to: to === undefined ? undefined : keyNumber(to) };
        const want = sorted.filter((key) => key >= range.from && (range.to === undefined || key < range.to));
        expect(index.count(range)).toBe(want.length);
        expect(index.take(range, limit).map(({ key }) => key)).toEqual(want.slice(0, limit));
      }),
    );
  });

  it.each([1_100, 1_500, 2_000, 2_600])("stays correct while %i keys are removed one by one", (many) => {
    const index = new SortedIndex();
    const all = Array.from({ length: many }, (_, number) => `default/cm-${number}`);
    for (const key of all) index.insert(slot(key));
    const left = new Set(all);
    for (const key of all) {
      index.remove(key);
      left.delete(key);
      if (left.size % 50 === 0) expect(index.take({ from: "default/", to: "default0" }, Infinity)).toHaveLength(left.size);
    }
    expect([index.size, index.count({ from: "", to: undefined })]).toEqual([0, 0]);
  });

  it("ignores the removal of missing keys, and is empty after all removals", () => {
    const index = new SortedIndex();
    index.remove("none");
    for (const key of ["a", "b", "c"]) index.insert(slot(key));
    index.remove("bb");
    for (const key of ["b", "a", "c", "c"]) index.remove(key);
    expect([index.size, index.count({ from: "", to: undefined }), index.take({ from: "", to: undefined }, 9)]).toEqual([0, 0, []]);
    index.insert(slot("d"));
    expect(index.count({ from: "", to: undefined })).toBe(1);
  });
});

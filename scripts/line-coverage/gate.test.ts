import { describe, expect, it } from "vitest";
import { coverageFigures, formatFigure, passes, type Figure } from "./gate.ts";
import type { LineHits } from "./lcov.ts";

/** A file of `total` lines, the first `covered` of which ran. */
function file(covered: number, total: number): ReadonlyMap<number, number> {
  return new Map(Array.from({ length: total }, (_, index) => [index + 1, index < covered ? 1 : 0]));
}

const summary = (figures: readonly Figure[]) =>
  figures.map((figure) => `${figure.name} ${figure.covered}/${figure.total} of ${figure.required}`);

describe("coverageFigures", () => {
  it("requires 90 % of all and 95 % of the critical folders that exist", () => {
    const hits: LineHits = new Map([
      ["src/base/a.ts", file(9, 10)],
      ["src/pki/a.ts", file(10, 10)],
      ["src/http/bootstrap/a.ts", file(1, 10)],
      ["src/http/health/a.ts", file(10, 10)],
      ["src/pkix/a.ts", file(10, 10)],
    ]);
    expect(summary(coverageFigures(hits, undefined))).toEqual([
      "all of src 40/50 of 90",
      "src/pki 10/10 of 95",
      "src/http/bootstrap 1/10 of 95",
    ]);
  });

  it("measures changed lines separately from the rest", () => {
    const hits: LineHits = new Map([
      ["src/base/a.ts", file(1_000, 1_000)],
      ["src/base/b.ts", file(0, 4)],
    ]);
    const changed = new Map([["src/base/b.ts", new Set([1, 2, 99])]]);
    const figures = coverageFigures(hits, changed);
    expect(summary(figures)).toEqual(["all of src 1000/1004 of 90", "changed lines 0/2 of 90"]);
    expect(figures.map(passes)).toEqual([true, false]);
  });

  it("passes a change without lines to cover", () => {
    expect(coverageFigures(new Map([["src/a/a.ts", file(1, 1)]]), new Map()).every(passes)).toBe(true);
  });

  it("names the lines that did not run, runs of them together", () => {
    const lines = new Map([
      [1, 0],
      [2, 0],
      [3, 4],
      [4, 0],
    ]);
    expect(coverageFigures(new Map([["src/a/a.ts", lines]]), undefined)[0]?.missed).toEqual(["src/a/a.ts:1-2", "src/a/a.ts:4"]);
  });
});

describe("formatFigure", () => {
  const figure = (covered: number, total: number): Figure => ({ name: "all of src", covered, total, required: 90, missed: [] });
  const rows: { name: string; given: Figure; want: string }[] = [
    { name: "a good figure", given: figure(950, 1_000), want: "all of src: 95.0 % of 1000 lines" },
    { name: "exactly enough", given: figure(900, 1_000), want: "all of src: 90.0 % of 1000 lines" },
    {
      name: "just too low is not rounded up",
      given: figure(8_999, 10_000),
      want: "all of src: 89.9 % of 10000 lines  too low: 90 % is required",
    },
    { name: "nothing to cover", given: figure(0, 0), want: "all of src: no lines to cover" },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(formatFigure(given)).toBe(want);
  });
});

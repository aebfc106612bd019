import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { formatResult, isTooLarge, type BenchResult } from "./bench.ts";
import { chooseBenches, findBenches } from "./find-benches.ts";

it("finds the benches of a tree, and none where there is no folder", async () => {
  expect(await findBenches(await fileTree({ "bench/b.ts": "", "bench/a.ts": "", "bench/a.test.ts": "", "bench/README.md": "" }))).toEqual([
    "a",
    "b",
  ]);
  expect(await findBenches(await fileTree({}))).toEqual([]);
});

describe("chooseBenches", () => {
  const rows: { name: string; known: string[]; asked: string[]; want: object }[] = [
    { name: "without a name: all", known: ["a", "b"], asked: [], want: { ok: true, value: ["a", "b"] } },
    { name: "with a name: that one", known: ["a", "b"], asked: ["b"], want: { ok: true, value: ["b"] } },
    {
      name: "an unknown name gets the list",
      known: ["a", "b"],
      asked: ["c"],
      want: { ok: false, error: "there is no bench c; there are: a, b" },
    },
    { name: "an empty list is reported", known: [], asked: ["c"], want: { ok: false, error: "there is no bench c; there are: none yet" } },
  ];
  it.each(rows)("$name", ({ known, asked, want }) => {
    expect(chooseBenches(known, asked)).toEqual(want);
  });
});

describe("formatResult", () => {
  const result: BenchResult = { name: "1,000 objects", value: 1234.567, unit: "objects/s", ratio: 0.98765, against: "plain JSON.parse" };
  const rows: { name: string; given: BenchResult; want: string }[] = [
    { name: "three digits", given: result, want: "yaml: 1,000 objects  1,230 objects/s  0.988× plain JSON.parse" },
    {
      name: "a note in brackets",
      given: { ...result, note: "more is better" },
      want: "yaml: 1,000 objects  1,230 objects/s  0.988× plain JSON.parse  (more is better)",
    },
    {
      name: "a value at its limit",
      given: { ...result, limit: result.value },
      want: "yaml: 1,000 objects  1,230 objects/s  0.988× plain JSON.parse",
    },
    {
      name: "a value above its limit",
      given: { ...result, limit: 1_234 },
      want: "TOO MUCH  yaml: 1,000 objects  1,230 objects/s  0.988× plain JSON.parse",
    },
  ];
  it.each(rows)("prints $name", ({ given, want }) => {
    expect(formatResult("yaml", given)).toBe(want);
  });
});

it("a value that is no number is above every limit", () => {
  const result: BenchResult = { name: "a", value: Number.NaN, unit: "s", ratio: 1, against: "a" };
  expect([isTooLarge(result), isTooLarge({ ...result, limit: 5 })]).toEqual([false, true]);
});

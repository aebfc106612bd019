import { describe, expect, it } from "vitest";
import { countTests, formatCounts, readCounts, type Counts, type FileOutcome } from "./counts.ts";

describe("countTests", () => {
  const rows: { name: string; files: FileOutcome[]; errorsOutside?: number; want: Counts }[] = [
    { name: "nothing ran", files: [], want: { passed: 0, failed: 0, skipped: 0 } },
    {
      name: "tests count one by one",
      files: [{ failed: true, tests: ["passed", "failed", "skipped", "passed"] }],
      want: { passed: 2, failed: 1, skipped: 1 },
    },
    { name: "a file that does not load is a failure", files: [{ failed: true, tests: [] }], want: { passed: 0, failed: 1, skipped: 0 } },
    {
      name: "a hook that throws after its tests passed is a failure",
      files: [{ failed: true, tests: ["passed"] }],
      want: { passed: 1, failed: 1, skipped: 0 },
    },
    {
      name: "an error outside every test is a failure",
      files: [{ failed: false, tests: ["passed"] }],
      errorsOutside: 2,
      want: { passed: 1, failed: 2, skipped: 0 },
    },
    {
      name: "a test that never ended was not run",
      files: [{ failed: false, tests: ["pending"] }],
      want: { passed: 0, failed: 0, skipped: 1 },
    },
  ];
  it.each(rows)("$name", ({ files, errorsOutside, want }) => {
    expect(countTests(files, errorsOutside ?? 0)).toEqual(want);
  });
});

describe("readCounts", () => {
  const good = JSON.stringify({ passed: 3, failed: 0, skipped: 0 });
  const rows: { name: string; written: string | undefined; code: number; want: Partial<Counts> }[] = [
    { name: "takes a good run as it is", written: good, code: 0, want: { passed: 3, failed: 0 } },
    { name: "never shows a failed run as one without failures", written: good, code: 1, want: { passed: 3, failed: 1 } },
    { name: "counts a run that died as a failure", written: undefined, code: 1, want: { passed: 0, failed: 1 } },
    { name: "counts nothing where nothing ran", written: undefined, code: 0, want: { passed: 0, failed: 0 } },
  ];
  it.each(rows)("$name", ({ written, code, want }) => {
    expect(readCounts(written, code)).toMatchObject(want);
  });
});

describe("formatCounts", () => {
  const rows: { counts: Counts; want: string }[] = [
    { counts: { passed: 812, failed: 0, skipped: 0 }, want: "812 passed, 0 failed" },
    { counts: { passed: 1, failed: 2, skipped: 3 }, want: "1 passed, 2 failed, 3 skipped" },
  ];
  it.each(rows)("prints $want", ({ counts, want }) => {
    expect(formatCounts(counts)).toBe(want);
  });
});

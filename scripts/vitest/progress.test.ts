import { describe, expect, it } from "vitest";
import { formatProgress, formatTime, ProgressTracker, remainingMs, type FileRecord, type Pace, type Progress } from "./progress.ts";

const records = (entries: Readonly<Record<string, FileRecord>>): Map<string, FileRecord> => new Map(Object.entries(entries));

describe("ProgressTracker", () => {
  const recorded = records({ "long.test.ts": { ms: 9_000, tests: 3 }, "short.test.ts": { ms: 1_000, tests: 2 } });

  it("weighs files by their duration in an earlier run", () => {
    const tracker = new ProgressTracker(["long.test.ts", "short.test.ts"], recorded);
    tracker.fileEnded("long.test.ts", false);
    expect(tracker.now()).toMatchObject({ filesDone: 1, files: 2, share: 0.9 });
  });

  it("counts the tests of a file that still runs", () => {
    const tracker = new ProgressTracker(["long.test.ts", "short.test.ts"], recorded);
    tracker.testEnded("long.test.ts", false);
    tracker.testEnded("long.test.ts", true);
    expect(tracker.now()).toMatchObject({ filesDone: 0, testsDone: 2, tests: 5, failed: 1, share: 0.6 });
  });

  it("gives a file without a record the weight of the average file, and no total until it is loaded", () => {
    const tracker = new ProgressTracker(["long.test.ts", "short.test.ts", "new.test.ts"], recorded);
    expect(tracker.now().tests).toBeUndefined();
    tracker.fileLoaded("new.test.ts", 7);
    expect(tracker.now().tests).toBe(12);
    tracker.fileEnded("new.test.ts", false);
    expect(tracker.now().share).toBeCloseTo(1 / 3);
  });

  it("goes by the number of files where nothing is recorded", () => {
    const tracker = new ProgressTracker(["a.test.ts", "b.test.ts", "c.test.ts", "d.test.ts"], new Map());
    expect(tracker.expectedMs(2)).toBeUndefined();
    tracker.fileEnded("a.test.ts", false);
    expect(tracker.now()).toMatchObject({ share: 0.25, tests: undefined });
  });

  it("counts a file that does not load as one failure", () => {
    const tracker = new ProgressTracker(["a.test.ts"], new Map());
    tracker.fileEnded("a.test.ts", true);
    expect(tracker.now()).toEqual({ filesDone: 1, files: 1, testsDone: 0, tests: 0, failed: 1, share: 1 });
  });

  it("expects the recorded time, divided among the workers", () => {
    expect(new ProgressTracker(["long.test.ts", "short.test.ts"], recorded).expectedMs(2)).toBe(5_000);
  });

  it("is complete when there is nothing to run", () => {
    expect(new ProgressTracker([], recorded).now().share).toBe(1);
  });
});

describe("remainingMs", () => {
  const rows: { name: string; share: number; pace: Pace; want: number | undefined }[] = [
    { name: "unknown before anything ended, without a record", share: 0, pace: { elapsedMs: 500, expectedMs: undefined }, want: undefined },
    { name: "the recorded time at the start", share: 0, pace: { elapsedMs: 500, expectedMs: 60_000 }, want: 60_000 },
    { name: "the recorded time while little is done", share: 0.01, pace: { elapsedMs: 30_000, expectedMs: 60_000 }, want: 59_400 },
    { name: "the pace of this run, once enough is done", share: 0.25, pace: { elapsedMs: 30_000, expectedMs: 60_000 }, want: 90_000 },
    {
      name: "the pace of this run, where there is no record",
      share: 0.01,
      pace: { elapsedMs: 1_000, expectedMs: undefined },
      want: 99_000,
    },
    { name: "nothing at the end", share: 1, pace: { elapsedMs: 30_000, expectedMs: 60_000 }, want: 0 },
  ];
  it.each(rows)("$name", ({ share, pace, want }) => {
    expect(remainingMs(share, pace)).toBe(want);
  });
});

describe("formatProgress", () => {
  const progress: Progress = { filesDone: 57, files: 476, testsDone: 1_310, tests: 10_995, failed: 2, share: 0.129 };
  const rows: { name: string; progress: Progress; pace: Pace; want: string }[] = [
    {
      name: "totals, percentage and estimate",
      progress,
      pace: { elapsedMs: 38_700, expectedMs: undefined },
      want: " 12 %  57 of 476 files, 1,310 of 10,995 tests, 2 failed  39 s elapsed, about 4 min 21 s left",
    },
    {
      name: "without a total of tests and without an estimate, before the first file of a first run has ended",
      progress: { ...progress, filesDone: 0, testsDone: 0, tests: undefined, failed: 0, share: 0 },
      pace: { elapsedMs: 900, expectedMs: undefined },
      want: "  0 %  0 of 476 files, 0 tests, 0 failed  1 s elapsed",
    },
  ];
  it.each(rows)("$name", ({ progress: given, pace, want }) => {
    expect(formatProgress(given, pace)).toBe(want);
  });
});

describe("formatTime", () => {
  const rows = [
    { ms: 400, want: "0 s" },
    { ms: 59_600, want: "1 min 0 s" },
    { ms: 754_000, want: "12 min 34 s" },
  ];
  it.each(rows)("$ms ms is $want", ({ ms, want }) => {
    expect(formatTime(ms)).toBe(want);
  });
});

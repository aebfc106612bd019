/**
 * How many tests passed and failed, in one vitest run.
 *
 * A test file that does not load has no tests, and an error outside any test fails none: each counts as one failure, so that a failed run
 * never ends with "12 passed, 0 failed".
 */
export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export type TestState = "passed" | "failed" | "skipped" | "pending";
/** The result of one test file. `failed` without a failed test means that it did not load, or that a hook threw. */
export type FileOutcome = { readonly failed: boolean; readonly tests: readonly TestState[] };

export function countTests(files: readonly FileOutcome[], errorsOutside: number): Counts {
  const tests = files.flatMap((file) => file.tests);
  const failedFiles = files.filter((file) => file.failed && !file.tests.includes("failed"));
  return {
    passed: tests.filter((state) => state === "passed").length,
    failed: tests.filter((state) => state === "failed").length + failedFiles.length + errorsOutside,
    skipped: tests.filter((state) => state === "skipped" || state === "pending").length,
  };
}

/** `written` is the file of the reporter; a run that died writes none. An exit code other than 0 is always a failure. */
export function readCounts(written: string | undefined, exitCode: number): Counts {
  const counts = written === undefined ? { passed: 0, failed: 0, skipped: 0 } : (JSON.parse(written) as Counts);
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** The last line of every test command. Programs read it: alone on its line, in exactly this form. */
export function formatCounts(counts: Counts): string {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}

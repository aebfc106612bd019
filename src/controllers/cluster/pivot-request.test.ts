import { describe, expect, it } from "vitest";
import { PIVOT_ANNOTATION, pivotRequestOf, type PivotRequest } from "./pivot-request.ts";

describe("pivotRequestOf", () => {
  const rows: { name: string; given: Record<string, string> | undefined; want: PivotRequest }[] = [
    { name: "without annotations every child pivots", given: undefined, want: "run" },
    { name: "abort", given: { [PIVOT_ANNOTATION]: "abort" }, want: "abort" },
    { name: "resume", given: { [PIVOT_ANNOTATION]: "resume" }, want: "run" },
    { name: "another value is no request", given: { [PIVOT_ANNOTATION]: "Abort" }, want: "run" },
    { name: "another annotation is no request", given: { "lattice.dev/other": "abort" }, want: "run" },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(pivotRequestOf({ metadata: { name: "prod", ...(given === undefined ? {} : { annotations: given }) } })).toBe(want);
  });
});

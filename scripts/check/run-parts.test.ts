import { describe, expect, it } from "vitest";
import { expectOk, FakeClock } from "#base";
import type { Check } from "./finding.ts";
import { chooseParts, runParts } from "./run-parts.ts";

const passes: Check = () => Promise.resolve([]);
const parts = new Map<string, Check>([
  ["types", passes],
  ["layers", () => Promise.resolve([{ file: "src/a.ts", line: 3, message: "no" }])],
  ["docs", () => Promise.resolve([{ file: "a.ts", message: "long", level: "warning" as const }])],
  ["pins", () => Promise.reject(new Error("package.json is not JSON"))],
]);

describe("chooseParts", () => {
  const rows: { args: string[]; want: string[] }[] = [
    { args: [], want: ["types", "layers", "docs", "pins"] },
    { args: ["--only", "docs,types"], want: ["types", "docs"] },
    { args: ["--skip", "pins"], want: ["types", "layers", "docs"] },
    { args: ["--only", "docs,types", "--skip", "docs"], want: ["types"] },
  ];
  it.each(rows)("$args chooses $want", ({ args, want }) => {
    expect([...expectOk(chooseParts(parts, args)).keys()]).toEqual(want);
  });

  it.each([[["--only", "typos"]], [["--only"]], [["types"]]])("refuses %j", (args) => {
    expect(chooseParts(parts, args)).toMatchObject({
      ok: false,
      error: expect.stringContaining("parts: types, layers, docs, pins") as string,
    });
  });
});

it("runParts runs every part, prints a line for each, and names those that failed", async () => {
  const printed: string[] = [];
  expect(await runParts(parts, "/", new FakeClock(), (line) => printed.push(line))).toEqual(["layers", "pins"]);
  expect(printed).toEqual([
    "ok    types      0.0 s",
    "FAIL  layers     0.0 s",
    "        src/a.ts:3  no",
    "ok    docs       0.0 s",
    "        warning: a.ts  long",
    "FAIL  pins       0.0 s",
    "        package.json is not JSON",
  ]);
});

import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkFormat, checkLint, readOxlintLine, readTscLine } from "./tools.ts";
import { checkTypes } from "./types.ts";

const tree = (files: Record<string, string>) =>
  fileTree({ "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] } }\n`, ...files });

describe("each tool finds its own kind of mistake and passes the rest", () => {
  it("types", async () => {
    expect(await checkTypes(await tree({ "a.ts": "export const a: number = 1;\n" }))).toEqual([]);
    expect(await checkTypes(await tree({ "a.ts": `\nexport const a: number = "x";\n` }))).toMatchObject([{ file: "a.ts", line: 2 }]);
  });

  it("lint", async () => {
    const config = { ".oxlintrc.json": `{ "rules": { "no-debugger": "error" } }` };
    expect(await checkLint(await tree({ ...config, "a.ts": "export const a = 1;\n" }))).toEqual([]);
    expect(await checkLint(await tree({ ...config, "a.ts": "\ndebugger;\n" }))).toMatchObject([{ file: "a.ts", line: 2 }]);
  });

  it("format", async () => {
    expect(await checkFormat(await tree({ "a.ts": "export const a = 1;\n" }))).toEqual([]);
    const found = await checkFormat(await tree({ "a.ts": "export   const a=1" }));
    expect(found).toEqual([{ file: "a.ts", message: "is not formatted; npm run format does it" }]);
  });

  it("a tool that cannot run is a failure", async () => {
    expect(await checkTypes(await tree({ "tsconfig.json": `{ "include": ["nothing-here"] }` }))).toMatchObject([{ message: /TS18003/ }]);
    expect(await checkLint(await tree({ ".oxlintrc.json": "{ broken" }))).toMatchObject([{ message: /exit code/ }]);
  });
});

it("reads lines of tsc, with and without a position, and skips continuation lines", () => {
  expect(readTscLine("src/a.ts(3,5): error TS2322: No.")).toEqual({ file: "src/a.ts", line: 3, message: "TS2322: No." });
  expect(readTscLine("error TS5083: Cannot read file.")).toEqual({ message: "TS5083: Cannot read file." });
  expect(readTscLine("  Type 'string' is not assignable.")).toBeUndefined();
});

it("skips lines of oxlint without a position", () => {
  expect(readOxlintLine("2 problems")).toBeUndefined();
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { readRecords, writeRecords } from "./records.ts";

describe("records of earlier runs", () => {
  it("keep the files that a later run left out", async () => {
    const path = join(await fileTree({}), "cache/records.json");
    writeRecords(path, new Map([["a.test.ts", { ms: 10, tests: 1 }]]));
    writeRecords(path, new Map([["b.test.ts", { ms: 20, tests: 2 }]]));
    expect(Object.fromEntries(readRecords(path))).toEqual({ "a.test.ts": { ms: 10, tests: 1 }, "b.test.ts": { ms: 20, tests: 2 } });
  });

  const damaged = [
    { name: "a missing file", content: undefined },
    { name: "a file that is no JSON", content: "{" },
    { name: "null", content: "null" },
    { name: "entries of another form", content: '{"a.test.ts":7,"b.test.ts":{"ms":"1","tests":1},"c.test.ts":null}' },
  ];
  it.each(damaged)("$name is the same as no records", async ({ content }) => {
    const root = await fileTree(content === undefined ? {} : { "records.json": content });
    expect(readRecords(join(root, "records.json")).size).toBe(0);
  });

  it("are left out where they cannot be written", async () => {
    const root = await fileTree({ file: "in the way" });
    writeRecords(join(root, "file/records.json"), new Map([["a.test.ts", { ms: 1, tests: 1 }]]));
    expect(await readFile(join(root, "file"), "utf8")).toBe("in the way");
  });
});

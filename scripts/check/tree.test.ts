import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { lineAt, listFiles, readText, readTexts } from "./tree.ts";

describe("listFiles", () => {
  it("lists sorted paths and leaves out what git ignores", async () => {
    const root = await fileTree({
      "b.ts": "",
      "a/c.ts": "",
      ".ci/run": "",
      "node_modules/x.js": "",
      "dist/y.js": "",
      "a/coverage/z": "",
      "npm.log": "",
    });
    expect(await listFiles(root)).toEqual([".ci/run", "a/c.ts", "b.ts"]);
  });

  it("finds nothing in a missing folder", async () => {
    expect(await listFiles(await fileTree({}), "nowhere")).toEqual([]);
  });
});

describe("readTexts", () => {
  it("skips files that are not text", async () => {
    const root = await fileTree({ "a.txt": "text", "b.png": "\u0089PNG\0" });
    expect(await readTexts(root, ["a.txt", "b.png"])).toEqual(new Map([["a.txt", "text"]]));
  });
});

it("readText is undefined for a missing file, and does not hide other errors", async () => {
  const root = await fileTree({ "folder/file": "" });
  expect(await readText(root, "nowhere")).toBeUndefined();
  await expect(readText(root, "folder")).rejects.toThrow("EISDIR");
});

describe("lineAt", () => {
  const text = "ab\nc\n\nd";
  const rows = [
    { offset: 0, want: 1 },
    { offset: 2, want: 1 },
    { offset: 3, want: 2 },
    { offset: 5, want: 3 },
    { offset: 6, want: 4 },
  ];
  it.each(rows)("offset $offset is on line $want", ({ offset, want }) => {
    expect(lineAt(text, offset)).toBe(want);
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { writeFiles } from "./write-files.ts";

it("writes files that differ, with their folders, and returns their paths", async () => {
  const root = await fileTree({ "same.yaml": "a", "old.yaml": "b" });
  const files = new Map([
    ["same.yaml", "a"],
    ["old.yaml", "c"],
    ["new/deep.yaml", "d"],
  ]);
  expect(await writeFiles(root, files)).toEqual(["old.yaml", "new/deep.yaml"]);
  expect(await readFile(join(root, "new/deep.yaml"), "utf8")).toBe("d");
  expect(await writeFiles(root, files)).toEqual([]);
});

/** The directory of an export on disk: files that are created by one process only, and whole. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { MANIFEST_FILE } from "#pivot";
import { fileTree } from "../../../test/builders/file-tree.ts";
import { exportDirectory } from "./directory.ts";

test("a file is created once, private and whole, and nothing is left beside it", async () => {
  const path = join(await fileTree({}), "new");
  const [one, two] = [exportDirectory(path), exportDirectory(path)];
  expect([expectOk(one.create(MANIFEST_FILE, "one")), expectOk(two.create(MANIFEST_FILE, "two"))]).toEqual([true, false]);
  expect(readFileSync(join(path, MANIFEST_FILE), "utf8")).toBe("one");
  expect(statSync(join(path, MANIFEST_FILE)).mode & 0o777).toBe(0o600);
  expect(readdirSync(path)).toEqual([MANIFEST_FILE]);
});

test("what a killed process has left of a file is not listed, and prevents nothing", async () => {
  const path = await fileTree({});
  mkdirSync(join(path, ".lattice-partial-a1b2c3"));
  writeFileSync(join(path, ".lattice-partial-a1b2c3", MANIFEST_FILE), "half");
  writeFileSync(join(path, ".lattice-partial"), "half");
  const folder = exportDirectory(path);
  expect(expectOk(folder.list())).toEqual([]);
  expect(expectOk(folder.create(MANIFEST_FILE, "whole"))).toBe(true);
  expect(expectOk(folder.list())?.map(({ name }) => name)).toEqual([MANIFEST_FILE]);
});

test("a name that is none of an export is refused", async () => {
  expect(exportDirectory(await fileTree({})).create("../x", "")).toMatchObject({ ok: false });
});

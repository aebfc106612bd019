import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolder } from "./create-folder.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lattice-folder-"));
});
afterEach(() => rm(root, { recursive: true }));

test("missing parents are created with the mode, a folder that exists is accepted", async () => {
  const path = join(root, "a/b/c");
  expect(createFolder(path, 0o700)).toMatchObject({ ok: true });
  expect(createFolder(path, 0o755)).toMatchObject({ ok: true });
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test("a path that cannot be a folder is an error of one sentence", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  await symlink(join(root, "nowhere"), join(root, "link"));
  const problem = (path: string) => {
    const made = createFolder(path, 0o700);
    return made.ok ? "created" : made.error;
  };
  expect(problem(file)).toBe(`${file} is not a folder; choose a folder, or a path where one can be created`);
  expect(problem(join(file, "x/y"))).toBe(
    `${join(file, "x/y")} cannot be created: ${file} is not a folder; choose a folder, or a path where one can be created`,
  );
  expect(problem(join(root, "link"))).toMatch(/^\S+\/link cannot be created: EEXIST: [^\n]+; choose another folder$/);
  expect(problem("/proc/lattice/data")).toMatch(/^\/proc\/lattice\/data cannot be created: E[A-Z]+: [^\n]+; choose another folder$/);
});

test("a folder that another process creates at the same time is accepted", () => {
  const racing = {
    statSync,
    mkdirSync: ((path: string) => {
      mkdirSync(path);
      throw new Error("EEXIST: file already exists");
    }) as unknown as typeof mkdirSync,
  };
  expect(createFolder(join(root, "a"), 0o700, racing)).toMatchObject({ ok: true });
});

test("a folder without write permission is an error", () => {
  const closed = {
    statSync,
    mkdirSync: (() => {
      throw new Error("EACCES: permission denied");
    }) as unknown as typeof mkdirSync,
  };
  const made = createFolder(join(root, "a"), 0o700, closed);
  expect(made).toMatchObject({
    ok: false,
    error: `${join(root, "a")} cannot be created: EACCES: permission denied; choose another folder`,
  });
});

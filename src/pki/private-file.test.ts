import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writePrivateFile } from "./private-file.ts";

let folder = "";
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const write = (name: string, text = "token") => writePrivateFile(join(folder, name), text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-private-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a private file", () => {
  test("is readable by its owner only, and no temporary file is left in the folder", () => {
    expect(write("new")).toEqual({ ok: true, value: undefined });
    expect([readFileSync(join(folder, "new"), "utf8"), modeOf(join(folder, "new"))]).toEqual(["token", "600"]);
    expect(readdirSync(folder)).toEqual(["new"]);
  });

  test("replaces a file that others can read: open file handles and hard links do not show the new text", () => {
    const path = join(folder, "open-to-all");
    writeFileSync(path, "old");
    chmodSync(path, 0o644);
    linkSync(path, join(folder, "second-name"));
    const reader = openSync(path, "r");
    expect(write("open-to-all").ok).toBe(true);
    expect(readFileSync(reader, "utf8")).toBe("old");
    closeSync(reader);
    expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["token", "600"]);
    expect(readFileSync(join(folder, "second-name"), "utf8")).toBe("old");
  });

  test("can be written into a folder that others can write to", () => {
    chmodSync(folder, 0o777);
    expect(write("new").ok).toBe(true);
    expect(modeOf(join(folder, "new"))).toBe("600");
  });
});

describe("anything but a regular file is neither written nor replaced", () => {
  test.each([
    { name: "a symbolic link", make: (path: string) => symlinkSync(join(folder, "elsewhere"), path) },
    { name: "a folder", make: (path: string) => mkdirSync(path) },
    { name: "a named pipe", make: (path: string) => void execFileSync("mkfifo", [path]) },
  ])("$name", ({ name, make }) => {
    const path = join(folder, "target");
    make(path);
    expect(write("target")).toEqual({
      ok: false,
      error: `${path} is ${name}; give the path of a regular file, or one that does not exist yet`,
    });
    expect(existsSync(join(folder, "elsewhere"))).toBe(false);
    expect(readdirSync(folder)).toEqual(["target"]);
  });

  test("a device", () => {
    expect(writePrivateFile("/dev/null", "token")).toMatchObject({ ok: false, error: expect.stringContaining("/dev/null is a device;") });
  });
});

test.runIf(userInfo().uid === 0)("a file of another user is not replaced", () => {
  const path = join(folder, "theirs");
  writeFileSync(path, "old");
  execFileSync("chown", ["12345", path]);
  expect(write("theirs")).toEqual({
    ok: false,
    error: `${path} belongs to another user (12345); delete it, or give another path`,
  });
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["theirs"]);
});

test("a missing folder is an error that names the file", () => {
  expect(write("no/such/file")).toMatchObject({ ok: false, error: expect.stringContaining(join(folder, "no/such/file")) });
});

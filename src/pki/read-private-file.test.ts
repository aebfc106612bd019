import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writePrivateFile } from "./private-file.ts";
import { readPrivateFile } from "./read-private-file.ts";

const LIMIT = { maxBytes: 10 };
let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-private-"));
  path = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a written file is read, and a missing one is undefined", () => {
  expect(readPrivateFile(path, LIMIT)).toEqual({ ok: true, value: undefined });
  writePrivateFile(path, "token");
  expect(readPrivateFile(path, LIMIT)).toEqual({ ok: true, value: "token" });
});

describe("refused is", () => {
  const rows: { name: string; make: () => void; want: string }[] = [
    { name: "a link", make: () => symlinkSync("/dev/null", path), want: "is a symbolic link; replace it with a regular file" },
    { name: "a folder", make: () => mkdirSync(path), want: "is a folder; replace it with a regular file" },
    { name: "a pipe", make: () => void execFileSync("mkfifo", [path]), want: "is a named pipe; replace it with a regular file" },
    {
      name: "a long file",
      make: () => writeFileSync(path, "x".repeat(11), { mode: 0o600 }),
      want: "has 11 bytes, and at most 10 are read;",
    },
    {
      name: "a file that others can read",
      make: () => writeMode(0o604),
      want: "can be read or written by other users (mode 0604); if its",
    },
    {
      name: "a file that the group can write",
      make: () => writeMode(0o620),
      want: "can be read or written by other users (mode 0620); if its",
    },
  ];
  test.each(rows)("$name", ({ make, want }) => {
    make();
    expect(readPrivateFile(path, LIMIT)).toMatchObject({ ok: false, error: expect.stringContaining(`${path} ${want}`) as string });
  });

  test("a file below a file", () => {
    writePrivateFile(path, "token");
    const below = join(path, "below");
    expect(readPrivateFile(below, LIMIT)).toMatchObject({
      ok: false,
      error: expect.stringContaining(`${below} cannot be read: ENOTDIR`) as string,
    });
  });

  test.runIf(userInfo().uid === 0)("a file of another user", () => {
    writePrivateFile(path, "token");
    execFileSync("chown", ["12345", path]);
    const want = `${path} belongs to another user (12345); run as that user, or change its owner with: chown 0 ${path}`;
    expect(readPrivateFile(path, LIMIT)).toEqual({ ok: false, error: want });
  });
});

test("a file without a secret may be readable by others, and not writable", () => {
  writeMode(0o644);
  expect(readPrivateFile(path, { ...LIMIT, readableByOthers: true })).toEqual({ ok: true, value: "token" });
  writeMode(0o646);
  expect(readPrivateFile(path, { ...LIMIT, readableByOthers: true })).toMatchObject({
    ok: false,
    error: expect.stringContaining("can be written by other users (mode 0646)") as string,
  });
});

function writeMode(mode: number): void {
  writeFileSync(path, "token");
  chmodSync(path, mode);
}

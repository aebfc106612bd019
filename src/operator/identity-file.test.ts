import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { expectOk, FakeClock, type ProcessTable } from "#base";
import { openIdentityFile } from "./identity-file.ts";

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "lattice-identity-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "identity");
  const open = (pid: number, alive: Readonly<Record<number, string>>, fresh = `fresh-${pid}`) => {
    const processes: ProcessTable = { pid, identify: (other) => alive[other] };
    return openIdentityFile({ path, fresh, clock: new FakeClock(), processes });
  };
  return { folder, path, open };
}

describe("the identity file of an operator", () => {
  it("is created once, for its owner only, and gives every later process the same identity", () => {
    const { folder, path, open } = setUp();
    const first = expectOk(open(1, { 1: "one" }));
    expect([first.identity, readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["fresh-1", "fresh-1\n", 0o600]);
    first.release();
    expect(readdirSync(folder)).toEqual(["identity"]);
    const second = expectOk(open(2, { 2: "two" }));
    expect(second.identity).toBe("fresh-1");
  });

  it("is refused to a second process while the first runs, and the error names that process", () => {
    const { path, open } = setUp();
    expectOk(open(7, { 7: "seven" }));
    expect(open(8, { 7: "seven", 8: "eight" })).toEqual({
      ok: false,
      error: `${path}: process 7 has been using this identity since 2026-01-01T00:00:00Z; stop it, or give each operator its own file`,
    });
  });

  it.each([
    { name: "was killed", alive: { 8: "eight" } },
    { name: "was killed, and whose process number is used again", alive: { 7: "another", 8: "eight" } },
  ])("is taken over from a process that $name", ({ alive }) => {
    const { open } = setUp();
    expectOk(open(7, { 7: "seven" }));
    expect(expectOk(open(8, alive)).identity).toBe("fresh-7");
  });

  it("is taken over by a container's process that has the number of the killed one", () => {
    const { open } = setUp();
    expectOk(open(1, { 1: "first start" }));
    expect(expectOk(open(1, { 1: "second start" })).identity).toBe("fresh-1");
  });

  it("survives a process that was killed while it created the file", () => {
    const { folder, path, open } = setUp();
    writeFileSync(`${path}.new`, "hal");
    expect(expectOk(open(1, { 1: "one" })).identity).toBe("fresh-1");
    expect(readdirSync(folder)).toEqual(["identity", "identity.lock"]);
  });

  it.each([
    { name: "an empty file", text: "", want: "is empty; delete it to get a new identity" },
    { name: "a file of something else", text: "apiVersion: v1\nkind: Config\n", want: "is not the file of an identity" },
    { name: "a large file", text: "a".repeat(1_025), want: "is too large for the file of an identity" },
    { name: "control characters", text: "me\u001b[31m", want: "is not the file of an identity" },
  ])("refuses $name with its path, leaves it unchanged and unlocked", ({ text, want }) => {
    const { folder, path, open } = setUp();
    writeFileSync(path, text);
    const refused = open(1, { 1: "one" });
    expect(refused.ok ? "" : refused.error).toContain(`${path} ${want}`);
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual([text, ["identity"]]);
  });

  it("refuses a folder, a named pipe and a path without a folder", () => {
    const { folder, path, open } = setUp();
    mkdirSync(path);
    expect(open(1, { 1: "one" })).toMatchObject({ ok: false, error: `${path} is not a regular file; give another path` });
    rmSync(path, { recursive: true });
    execFileSync("mkfifo", [path]);
    expect(open(1, { 1: "one" })).toMatchObject({ ok: false, error: `${path} is not a regular file; give another path` });
    const missing = openIdentityFile({
      path: join(folder, "missing", "identity"),
      fresh: "a",
      clock: new FakeClock(),
      processes: { pid: 1, identify: () => "one" },
    });
    expect(missing.ok ? "" : missing.error).toMatch(/identity: the folder .*missing cannot be written: ENOENT/);
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file that it may not read", () => {
    const { path, open } = setUp();
    writeFileSync(path, "me");
    chmodSync(path, 0);
    expect(open(1, { 1: "one" })).toMatchObject({ ok: false, error: expect.stringContaining("cannot be read") as string });
  });
});

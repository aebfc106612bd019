import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readRegularFile, readRegularText } from "./regular-file.ts";
import { MAX_SOURCE_BYTES, sourceFiles } from "./source-files.ts";

const MIB = 1024 * 1024;
let root = "";
let folder = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "lattice-regular-"));
  folder = join(root, "services");
  mkdirSync(join(folder, "texts"), { recursive: true });
  mkdirSync(join(root, "services-of-others"));
  writeFileSync(join(root, "secret"), "secret");
  writeFileSync(join(root, "services-of-others", "secret"), "secret");
  writeFileSync(join(folder, "a.txt"), "a");
  writeFileSync(join(folder, "..b"), "dots");
  writeFileSync(join(folder, "texts", "c.txt"), "c");
  writeFileSync(join(folder, "one-mib"), new Uint8Array(MIB));
  writeFileSync(join(folder, "larger"), new Uint8Array(MIB + 1));
  symlinkSync("texts/c.txt", join(folder, "link-inside"));
  symlinkSync(join(root, "secret"), join(folder, "link-outside"));
  symlinkSync(root, join(folder, "folder-link"));
  symlinkSync("/dev/zero", join(folder, "endless"));
  symlinkSync("/proc/self/environ", join(folder, "environment"));
  symlinkSync("loop", join(folder, "loop"));
  symlinkSync("services", join(root, "services-link"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
});
afterAll(() => rmSync(root, { recursive: true }));

/** As a service file in the folder refers to it. */
function read(source: string, file = "services/svc.yaml") {
  const files = sourceFiles(root, (from) => from);
  const bytes = files.read(files.locate(source, file));
  return bytes.ok ? new TextDecoder().decode(bytes.value).slice(0, 20) : bytes.error;
}

describe("a source", () => {
  test.each([
    { name: "beside the service file", source: "a.txt", want: "a" },
    { name: "in a folder below it", source: "./texts/c.txt", want: "c" },
    { name: "by a path with ..", source: "texts/../a.txt", want: "a" },
    { name: "whose name begins with dots", source: "..b", want: "dots" },
    { name: "that is a link within the folder", source: "link-inside", want: "c" },
  ])("$name is read", ({ source, want }) => {
    expect(read(source)).toBe(want);
  });

  test("is read when the folder of the service file is a link", () => {
    expect(read("a.txt", "services-link/svc.yaml")).toBe("a");
  });

  const OUTSIDE = "is outside the folder of the file that names it";
  test.each([
    { source: "../secret", want: OUTSIDE },
    { source: "../services-of-others/secret", want: OUTSIDE },
    { source: "texts/../../secret", want: OUTSIDE },
    { source: "link-outside", want: OUTSIDE },
    { source: "folder-link/secret", want: OUTSIDE },
    { source: "environment", want: OUTSIDE },
    { source: "endless", want: OUTSIDE },
    { source: "/proc/self/environ", want: "is an absolute path; name a file in the folder of the service file, or below it" },
    { source: "/dev/zero", want: "is an absolute path" },
    { source: "pipe", want: "is not a regular file; standard input is read with -" },
    { source: "texts", want: "is a folder" },
    { source: ".", want: OUTSIDE },
    { source: "no-such-file", want: "there is no such file" },
    { source: "a.txt/x", want: "there is no such file" },
    { source: "larger", want: "is larger than 1 MiB" },
    { source: "loop", want: "cannot be read (ELOOP)" },
  ])("$source: $want", ({ source, want }) => {
    const answer = read(source);
    expect(answer).toContain(want);
    expect(answer.startsWith(JSON.stringify(source))).toBe(true);
    expect(answer).not.toContain(root);
  });

  test("of one MiB is read, and all together have a limit", () => {
    const files = sourceFiles(root, (from) => from);
    const readAs = (file: string) => files.read(files.locate("one-mib", file));
    const count = MAX_SOURCE_BYTES / MIB;
    for (let at = 0; at < count; at += 1) expect(readAs(`services/${at}.yaml`).ok).toBe(true);
    expect(readAs("services/0.yaml").ok).toBe(true); // read before
    expect(readAs("services/one-more.yaml")).toEqual({ ok: false, error: "the files of all services together have more than 16 MiB" });
  });

  test("with a NUL in its name is refused", () => {
    expect(read("a\u0000.txt")).toContain("cannot be read (ERR_INVALID_ARG_VALUE)");
  });

  test("that no service refers to is not read", () => {
    expect(sourceFiles(root, (from) => from).read(join(root, "secret")).ok).toBe(false);
  });

  test("of a service file whose folder was deleted is an error", () => {
    expect(read("a.txt", "gone/svc.yaml")).toBe('"a.txt": the folder of the service file cannot be read');
  });
});

/** Replaces a folder with a link to a folder outside, and a file with a link to a file outside, 3,000 times. */
const EXCHANGE = `
const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
const [folder, outside] = process.argv.slice(1);
process.chdir(folder);
mkdirSync("real"); writeFileSync("real/secret", "mine"); writeFileSync("mine", "mine");
for (let at = 0; at < 3000; at += 1) {
  symlinkSync(at % 2 ? "mine" : outside + "/secret", "next"); renameSync("next", "flip");
  symlinkSync(at % 2 ? "real" : outside, "next"); renameSync("next", "flip-folder");
}`;

test("links that are replaced while a source is read never lead outside", async () => {
  const home = join(folder, "exchanged");
  mkdirSync(home);
  const files = () => sourceFiles(root, (from) => from);
  const other = spawn(process.execPath, ["-e", EXCHANGE, home, root], { stdio: "ignore" });
  const ended = new Promise((resolve) => other.once("close", resolve));
  const seen = new Set<string>();
  for (let running = true; running;) {
    for (const source of ["flip", "flip-folder/secret"]) {
      const all = files();
      const bytes = all.read(all.locate(source, "services/exchanged/svc.yaml"));
      if (bytes.ok) seen.add(new TextDecoder().decode(bytes.value));
    }
    running = await Promise.race([ended.then(() => false), new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))]);
  }
  expect([...seen].filter((text) => text !== "mine")).toEqual([]);
});

describe("a file of an argument", () => {
  test("may be a pipe if it is an argument, as in --secrets <(sops -d secrets.yaml)", () => {
    const written = spawn("sh", ["-c", 'printf "a: b" > "$0"', join(folder, "pipe")], { stdio: "ignore" });
    expect(readRegularText(join(folder, "pipe"), { bytes: 10, pipes: true })).toEqual({ ok: true, value: "a: b" });
    expect(readRegularText("/dev/zero", { bytes: 10, pipes: true })).toMatchObject({ ok: false });
    written.kill();
  });

  test("has a size limit in a pipe, too", () => {
    const written = spawn("sh", ["-c", 'printf "longer than ten" > "$0"', join(folder, "pipe")], { stdio: "ignore" });
    expect(readRegularText(join(folder, "pipe"), { bytes: 10, pipes: true })).toMatchObject({ ok: false });
    written.kill();
  });

  test("may be a link, and must be regular and not too large", () => {
    expect(readRegularText(join(folder, "link-outside"), { bytes: 10 })).toEqual({ ok: true, value: "secret" });
    expect(readRegularFile(join(folder, "pipe"), { bytes: 10 })).toMatchObject({ ok: false });
    expect(readRegularFile("/dev/zero", { bytes: 10 })).toMatchObject({ ok: false });
    expect(readRegularFile(join(folder, "one-mib"), { bytes: 10 })).toMatchObject({ ok: false });
  });

  test("is measured while it is read: files of /proc have size 0", () => {
    expect(readRegularFile("/proc/self/status", { bytes: 10 }).ok).toBe(false);
    expect(readRegularFile("/proc/self/status", { bytes: MIB }).ok).toBe(true);
    const maps = readRegularFile("/proc/self/maps", { bytes: MIB });
    expect(maps.ok && maps.value.length).toBeGreaterThan(4_097);
  });
});

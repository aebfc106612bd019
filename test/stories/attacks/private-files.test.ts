/** Files with tokens and keys in folders that other users can write to, and a data folder with a truncated log. */
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MeasuredProcess } from "../../builders/attacks/measured-process.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-private-"));
  chmodSync(folder, 0o777);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (...more: readonly string[]) => new MeasuredProcess(["api-server", "--port", "0", "--no-controllers", ...more]);
const READY = /^(https?:\S+)\n/m;
const tokenIn = (text: string) => /token: (\S+)/.exec(text)?.[1] ?? "";

test("a kubeconfig is never written to a file that others can read", { timeout: 60_000 }, async () => {
  const path = join(folder, "kubeconfig");
  writeFileSync(path, "old");
  chmodSync(path, 0o666);
  const reader = openSync(path, "r"); // as another user who waits for the token to be written
  await using server = start("--kubeconfig-out", path);
  await server.untilPrinted(READY);
  await server.reset();
  const token = tokenIn(readFileSync(path, "utf8"));
  expect(token).not.toBe("");
  expect(readFileSync(reader, "utf8")).toBe("old");
  closeSync(reader);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["kubeconfig"]);
  expect(server.stdout + server.stderr).not.toContain(token);
  await server.expectWithinLimits("a kubeconfig over a public file");
});

test.each([
  { name: "a symbolic link", make: (path: string) => symlinkSync(join(folder, "elsewhere"), path) },
  { name: "a named pipe", make: (path: string) => void execFileSync("mkfifo", [path]) },
  { name: "a folder", make: (path: string) => mkdirSync(path) },
])("a kubeconfig is not written to $name", { timeout: 60_000 }, async ({ name, make }) => {
  const path = join(folder, "kubeconfig");
  make(path);
  await using server = start("--kubeconfig-out", path);
  await server.untilPrinted(new RegExp(`kubeconfig ${path} is ${name}; give the path of a regular file`));
  expect(existsSync(join(folder, "elsewhere"))).toBe(false);
});

test(
  "a data folder has no file that others can read; objects lose another mode, and a key or token with one is refused",
  { timeout: 60_000 },
  async () => {
    const data = join(folder, "data");
    const serve = async () => {
      await using server = start("--http", "--data-dir", data);
      await server.untilPrinted(READY);
      await server.reset();
      await server.expectWithinLimits("a data folder with public files");
    };
    await serve();
    const open = () => readdirSync(data).filter((name) => name !== "lock" && (statSync(join(data, name)).mode & 0o077) !== 0);
    expect(open()).toEqual([]);
    const identity = ["ca.crt", "ca.key", "port", "tokens.json"];
    for (const name of readdirSync(data).filter((one) => !identity.includes(one))) chmodSync(join(data, name), 0o644);
    await serve();
    expect(open()).toEqual([]);
    for (const name of ["ca.key", "tokens.json"]) {
      chmodSync(join(data, name), 0o644);
      await expect(serve()).rejects.toThrow(`${join(data, name)} can be read or written by other users (mode 0644)`);
      chmodSync(join(data, name), 0o600);
    }
  },
);

test("a server with a truncated log reports that it starts without objects", { timeout: 60_000 }, async () => {
  const data = join(folder, "data");
  {
    await using first = start("--http", "--data-dir", data);
    await first.untilPrinted(READY);
    expect(first.stderr).not.toContain("without objects");
  }
  const [log = ""] = readdirSync(data).filter((name) => name.startsWith("log-"));
  truncateSync(join(data, log), 0);
  await using second = start("--http", "--data-dir", data);
  await second.untilPrinted(READY);
  const lines = second.stderr.split("\n").filter((line) => line.includes("the server starts without objects"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(data);
});

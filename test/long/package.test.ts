import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROGRAM_VERSION } from "#base";
import { runProgram } from "../../scripts/process/run-program.ts";
import { freshClone, type Clone } from "./clone.ts";

let clone: Clone;
let user: string;
beforeAll(async () => {
  clone = await freshClone();
  user = join(clone.root, "..", "user");
  await mkdir(user);
});
afterAll(() => clone.remove());

it("a packed package installs into an empty folder and its program runs there", async () => {
  const npm = (cwd: string, ...args: readonly string[]) => runProgram("npm", args, { cwd, env: clone.env });
  const packed = await npm(clone.root, "pack", "--pack-destination", user);
  expect(packed.code, packed.stderr).toBe(0);
  const tarball = (await readdir(user)).find((file) => file.endsWith(".tgz"));
  const installed = await npm(user, "install", "--no-audit", "--no-fund", `./${tarball}`);
  expect(installed.code, installed.stderr).toBe(0);
  const ran = await runProgram("npx", ["--no-install", "lattice", "version"], { cwd: user, env: clone.env });
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toContain(PROGRAM_VERSION);
});

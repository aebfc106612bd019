import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROGRAM_VERSION } from "#base";
import { runProgram } from "../../scripts/process/run-program.ts";
import { freshClone, type Clone } from "./clone.ts";

let clone: Clone;
beforeAll(async () => {
  clone = await freshClone();
});
afterAll(() => clone.remove());

const run = (...args: readonly string[]) => runProgram(join(clone.root, "lattice"), args, { cwd: clone.root, env: clone.env });

it("installs itself on the first command, and reports it on stderr only", async () => {
  const first = await run("version");
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain(PROGRAM_VERSION);
  expect(first.stdout).not.toContain("installing");
  expect(first.stderr).toContain("installing dependencies from package-lock.json (once)");
});

it("prints nothing more on the second", async () => {
  const second = await run("version");
  expect(second).toMatchObject({ code: 0, stderr: "" });
  expect(second.stdout).toContain(PROGRAM_VERSION);
});

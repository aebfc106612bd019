import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { runVitest } from "./run-vitest.ts";

it("counts what passed, failed, was skipped, did not load or went wrong outside tests, in plain lines", async () => {
  const root = await fileTree({
    "mixed.test.ts": `import { it } from "vitest";
it("passes", () => {});
it.skip("is skipped", () => {});
it.todo("is to be written");
it("fails", () => { throw new Error("on purpose"); });
`,
    "unloadable.test.ts": `import "./not-there.ts";\n`,
    "late.test.ts": `import { it } from "vitest";
it("passes, and leaves an error behind", async () => {
  void Promise.reject(new Error("not awaited"));
});
`,
  });
  await mkdir(join(root, "node_modules"));
  await symlink(join(projectRoot, "node_modules/vitest"), join(root, "node_modules/vitest"));
  const { code, counts, output } = await runVitest({ root, args: [], env: { ...process.env, FORCE_COLOR: "1" }, output: "capture" });
  expect({ code, counts }).toEqual({ code: 1, counts: { passed: 2, failed: 3, skipped: 2 } });
  const lines = output.split("\n");
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}0 % {2}0 of 3 files, 0 tests, 0 failed {2}\d+ s elapsed$/));
  expect(lines).toContainEqual(expect.stringMatching(/^100 % {2}3 of 3 files, 5 of 5 tests, 2 failed {2}\d+ s elapsed, about 0 s left$/));
  expect(lines).toContain("failed: mixed.test.ts > fails: on purpose");
  expect(lines).toContainEqual(expect.stringMatching(/^failed: unloadable\.test\.ts: .*not-there/));
  expect(lines.filter((line) => line.includes("late.test.ts >"))).toEqual([]);
  expect(lines).toContain(" FAIL  mixed.test.ts > fails");
  expect(output).not.toContain("\u001b");
});

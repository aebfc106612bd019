import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { runVitest } from "./run-vitest.ts";

it("counts what passed, failed, was skipped, did not load or went wrong outside tests", async () => {
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
  void Promise.reject(new Error("nobody waits for this"));
});
`,
  });
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  const { code, counts } = await runVitest({ root, args: [], output: "capture" });
  expect({ code, counts }).toEqual({ code: 1, counts: { passed: 2, failed: 3, skipped: 2 } });
});

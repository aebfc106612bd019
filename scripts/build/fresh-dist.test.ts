import { cp, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cloneTree, textFile } from "../clone/clone-tree.test-support.ts";
import { projectRoot } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";

const BUILD = `const { freshDist } = await import("./scripts/build/fresh-dist.ts"); await freshDist();`;

it("builds dist/ once, and again when a source changed, whatever its time", async () => {
  const { root, write } = await cloneTree();
  await cp(join(projectRoot, "src/base"), join(root, "src/base"), { recursive: true });
  await write("package.json", JSON.stringify({ type: "module", imports: { "#base": "./src/base/index.ts" } }));
  const entries = await readFile(join(projectRoot, "scripts/build/entries.ts"), "utf8");
  await write("scripts/build/entries.ts", entries.replaceAll(/^ +\{ file: "(?!lattice).*\n/gm, ""));
  const build = async () => (await runNode("--input-type=module", ["--eval", BUILD], { cwd: root })).stdout;
  const run = async () => (await runNode(join(root, "dist/lattice.js"), [], { cwd: root })).stdout;

  const built = `${join(root, "dist")} is missing or not of these sources: building it\n`;
  expect(await build()).toBe(built);
  expect(await build()).toBe("");
  expect(await run()).toContain(`"text":"one"`);

  const { atime, mtime } = await stat(join(root, "src/bin/text.ts"));
  await write("src/bin/text.ts", textFile("two"));
  await utimes(join(root, "src/bin/text.ts"), atime, mtime);
  expect(await build()).toBe(built);
  expect(await run()).toContain(`"text":"two"`);
});

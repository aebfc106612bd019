import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";
import { bundle } from "./bundle.ts";

/** CommonJS packages that require Node's modules are what breaks in an ESM bundle: pino does. */
const PROGRAM = `#!/usr/bin/env node
import { pino } from "pino";
import { Command } from "commander";
const log = pino({ base: null, timestamp: false });
new Command("x").argument("<name>").action((name) => log.info(name)).parse();
`;

it("makes one file that runs by itself, with nothing beside it", async () => {
  const root = await fileTree({ "main.ts": PROGRAM });
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  const alone = await fileTree({});
  const program = join(alone, "program.js");
  expect(await bundle(join(root, "main.ts"), program)).toEqual({ ok: true, value: undefined });
  expect(await runNode(program, ["hello"], { cwd: alone })).toEqual({ code: 0, stdout: `{"level":30,"msg":"hello"}\n`, stderr: "" });
});

it("makes CommonJS when the name says so", async () => {
  const root = await fileTree({ "main.ts": `export const answer: number = 42;\n` });
  expect(await bundle(join(root, "main.ts"), join(root, "out.cjs"))).toMatchObject({ ok: true });
  const ran = await runNode("--eval", [`console.log(require("./out.cjs").answer)`], { cwd: root });
  expect(ran).toEqual({ code: 0, stdout: "42\n", stderr: "" });
});

it("puts what is imported later into files of its own", async () => {
  const root = await fileTree({
    "main.ts": `console.log((await import("./later.ts")).later());\n`,
    "later.ts": `import { request } from "node:https";\nexport const later = () => typeof request;\n`,
  });
  expect(await bundle(join(root, "main.ts"), join(root, "dist/out.js"), { split: true })).toMatchObject({ ok: true });
  expect(await readFile(join(root, "dist/out.js"), "utf8")).not.toContain("node:https");
  expect(await runNode(join(root, "dist/out.js"), [], { cwd: root })).toMatchObject({ code: 0, stdout: "function\n" });
});

it("says what is wrong with a program that cannot be bundled", async () => {
  const root = await fileTree({ "main.ts": `import "./not-there.ts";\n` });
  const built = await bundle(join(root, "main.ts"), join(root, "out.js"));
  expect(built).toMatchObject({ ok: false, error: expect.stringContaining("not-there.ts") as string });
});

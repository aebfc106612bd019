import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";
import { bundle } from "./bundle.ts";

/** CommonJS packages that require Node's modules can break in an ESM bundle; pino is one. */
const PROGRAM = `#!/usr/bin/env node
import { pino } from "pino";
import { Command } from "commander";
const log = pino({ base: null, timestamp: false });
new Command("x").argument("<name>").action((name) => log.info(name)).parse();
`;

it("writes one file that runs without other files", async () => {
  const root = await fileTree({ "main.ts": PROGRAM });
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  const alone = await fileTree({});
  const program = join(alone, "program.js");
  expect(await bundle(join(root, "main.ts"), program)).toMatchObject({ ok: true });
  expect(await runNode(program, ["hello"], { cwd: alone })).toEqual({ code: 0, stdout: `{"level":30,"msg":"hello"}\n`, stderr: "" });
});

it("writes CommonJS for .cjs", async () => {
  const root = await fileTree({ "main.ts": `export const answer: number = 42;\n` });
  expect(await bundle(join(root, "main.ts"), join(root, "out.cjs"))).toMatchObject({ ok: true });
  const ran = await runNode("--eval", [`console.log(require("./out.cjs").answer)`], { cwd: root });
  expect(ran).toEqual({ code: 0, stdout: "42\n", stderr: "" });
});

it("writes dynamic imports into separate files", async () => {
  const root = await fileTree({
    "main.ts": `console.log((await import("./later.ts")).later());\n`,
    "later.ts": `import { request } from "node:https";\nexport const later = () => typeof request;\n`,
  });
  expect(await bundle(join(root, "main.ts"), join(root, "dist/out.js"), { split: "program" })).toMatchObject({ ok: true });
  expect(await readFile(join(root, "dist/out.js"), "utf8")).not.toContain("node:https");
  expect(await runNode(join(root, "dist/out.js"), [], { cwd: root })).toMatchObject({ code: 0, stdout: "function\n" });
});

it("loads a later part on first use", async () => {
  const root = await fileTree({
    "main.ts": `import { say } from "./shared.ts";\nimport { answer } from "./later/answer.ts";
      say("main");\nif (process.argv[2] !== undefined) say(String(answer()));\n`,
    "shared.ts": `let count = 0;\nexport const say = (text: string) => console.log((count += 1), text);\n`,
    "later/answer.ts": `import { say } from "../shared.ts";\nimport { number } from "./number.ts";\nimport { unit } from "../further/unit.ts";
      say("later");\nexport const answer = () => number + unit();\n`,
    "later/number.ts": `export const number = 42;\n`,
    "further/unit.ts": `console.log("further");\nexport function unit() { return " km"; }\n`,
  });
  const later = [
    { name: "answers", holds: /\/later\// },
    { name: "units", holds: /\/further\// },
  ];
  expect(await bundle(join(root, "main.ts"), join(root, "dist/out.js"), { split: "library", later })).toMatchObject({ ok: true });
  const program = join(root, "dist/out.js");
  expect(await runNode(program, [], { cwd: root })).toEqual({ code: 0, stdout: "1 main\n", stderr: "" });
  const ran = await runNode(program, ["and the answer"], { cwd: root });
  expect(ran).toEqual({ code: 0, stdout: "1 main\n2 later\nfurther\n3 42 km\n", stderr: "" });
  expect((await readdir(join(root, "dist/out"))).filter((name) => name.startsWith("later-") && name.endsWith(".js"))).toEqual([
    "later-answers.js",
    "later-units.js",
  ]);
});

it("loads Node's heavy modules on first use", async () => {
  const root = await fileTree({
    "main.ts": `import { createHash } from "node:crypto";\nimport tls, * as all from "node:tls";\nimport { request } from "node:http";
      const loaded = () => process.moduleLoadList.filter((name) => /NativeModule (crypto|tls|http|internal.deps.undici.undici)$/.test(name)).length;
      console.log(loaded());
      console.log(createHash("sha256").update("a").digest("hex").slice(0, 8), loaded());
      console.log(typeof request, typeof tls.connect, all.DEFAULT_MAX_VERSION);\n`,
  });
  expect(await bundle(join(root, "main.ts"), join(root, "out.js"))).toMatchObject({ ok: true });
  const ran = await runNode(join(root, "out.js"), [], { cwd: root });
  expect(ran).toEqual({ code: 0, stdout: "0\nca978112 1\nfunction function TLSv1.3\n", stderr: "" });
});

it("returns the error of a program that cannot be bundled", async () => {
  const root = await fileTree({ "main.ts": `import "./not-there.ts";\n` });
  const built = await bundle(join(root, "main.ts"), join(root, "out.js"));
  const message = expect.stringMatching(/main\.ts:1:8: Could not resolve "\.\/not-there\.ts"$/) as string;
  expect(built).toEqual({ ok: false, error: { kind: "source", message } });
});

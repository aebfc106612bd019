/** scripts/run.cjs as a child process, in a small project of its own, with real npm and nothing to fetch. */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTree } from "../test/builders/file-tree.ts";
import { projectRoot } from "./process/project.ts";
import { runNode, type Ran } from "./process/run-program.ts";

type Project = { readonly root: string; readonly temp: string; readonly run: (...args: readonly string[]) => Promise<Ran> };

/** One dependency, in a folder beside it: `npm ci` has something to do and no registry to ask. */
async function project(): Promise<Project> {
  const root = await fileTree({
    "scripts/run.cjs": await readFile(join(projectRoot, "scripts/run.cjs"), "utf8"),
    "scripts/check.ts": `const args: readonly string[] = process.argv.slice(2);\nconsole.log(JSON.stringify(args));\n`,
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", type: "module", dependencies: { dep: "file:dep" } }),
    "package-lock.json": JSON.stringify({
      name: "x",
      version: "1.0.0",
      lockfileVersion: 3,
      requires: true,
      packages: {
        "": { name: "x", version: "1.0.0", dependencies: { dep: "file:dep" } },
        dep: { version: "1.0.0" },
        "node_modules/dep": { resolved: "dep", link: true },
      },
    }),
    "dep/package.json": JSON.stringify({ name: "dep", version: "1.0.0" }),
    "temp/keep": "",
    "npm-cache/keep": "",
  });
  const temp = join(root, "temp");
  const env = { ...process.env, TMPDIR: temp, npm_config_cache: join(root, "npm-cache"), npm_config_offline: "true" };
  return { root, temp, run: (...args) => runNode(join(root, "scripts/run.cjs"), args, { cwd: root, env }) };
}

const lockOf = (root: string) => `lattice-setup-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
const SETUP = "lattice: installing dependencies from package-lock.json (once)\n";

describe("run.cjs", () => {
  it("names the scripts there are when asked for one there is not", async () => {
    const { run } = await project();
    const ran = await run("tset");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(/^lattice: unknown script "tset"; known: cli, start, test, .*\n$/);
  });

  it("does not take what every object has for a script", async () => {
    const { run } = await project();
    expect(await run("constructor")).toMatchObject({ code: 1, stdout: "" });
  });

  it("installs once, hands the arguments on, and keeps stdout to the program", async () => {
    const { run } = await project();
    const first = await run("check", "--only", "a b");
    expect(first).toMatchObject({ code: 0, stdout: `["--only","a b"]\n` });
    expect(first.stderr).toContain(SETUP);
    expect(await run("check")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  it("installs again when the lockfile changed", async () => {
    const { root, run } = await project();
    await run("check");
    const lock = join(root, "package-lock.json");
    await writeFile(lock, `${await readFile(lock, "utf8")}\n`);
    expect((await run("check")).stderr).toContain(SETUP);
  });

  it("installs once when two start together", async () => {
    const { run } = await project();
    const both = await Promise.all([run("check"), run("check")]);
    expect(both.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: "[]\n" },
      { code: 0, stdout: "[]\n" },
    ]);
    expect(both.filter(({ stderr }) => stderr.includes(SETUP))).toHaveLength(1);
  });

  it("takes over the lock of a run that died, and leaves none behind", async () => {
    const { root, temp, run } = await project();
    await writeFile(join(temp, lockOf(root)), "4194304999"); // no process can have this number
    expect(await run("check")).toMatchObject({ code: 0 });
    expect(await readdir(temp)).not.toContain(lockOf(root));
  });

  it("says what to do when npm ci fails, and tries again the next time", async () => {
    const { root, run } = await project();
    await writeFile(join(root, "package-lock.json"), "{}");
    for (const _ of ["first", "second"]) {
      const ran = await run("check");
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toContain("npm ci failed");
    }
  });
});

/** The bundle of a clone, with real builds in a small clone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { BUILDING, cloneTree, hookBundler, markInstalled, textFile, type CloneTree } from "./clone-tree.test-support.ts";

type Printed = {
  readonly text: string;
  readonly packageText: string;
  readonly json: number;
  readonly file: string;
  readonly clone: string;
};

const printed = (stdout: string): Printed => JSON.parse(stdout) as Printed;

/** The folder of the bundles of the only clone. */
async function bundlesOf({ cache }: CloneTree): Promise<string> {
  const [folder = ""] = await readdir(join(cache, "bundles"));
  return join(cache, "bundles", folder);
}

async function keysOf(clone: CloneTree): Promise<readonly string[]> {
  return (await readdir(await bundlesOf(clone))).filter((name) => /^[0-9a-f]{32}$/.test(name));
}

describe("./lattice in a clone", () => {
  it("builds a bundle once, and leaves stdout to the program", async () => {
    const clone = await cloneTree();
    const before = await readdir(clone.root, { recursive: true });
    const first = await clone.lattice(["a", "b c"]);
    expect(first).toMatchObject({ code: 0, stderr: BUILDING });
    const [key = ""] = await keysOf(clone);
    expect(printed(first.stdout)).toEqual({
      text: "one",
      later: "later",
      json: 1,
      packageText: "package",
      clone: clone.root,
      file: join(await bundlesOf(clone), key, "lattice.js"),
      args: ["a", "b c"],
    });
    expect(await clone.lattice(["a", "b c"])).toEqual({ code: 0, stdout: first.stdout, stderr: "" });
    expect(await readdir(clone.root, { recursive: true })).toEqual(before); // it may be read-only
  });

  it("runs the sources with LATTICE_SOURCE=1", async () => {
    const clone = await cloneTree();
    const { stdout, stderr } = await clone.lattice([], { LATTICE_SOURCE: "1" });
    expect(stderr).toBe("");
    expect(printed(stdout)).toMatchObject({ file: join(clone.root, "src/bin/lattice.ts"), clone: "" });
    expect(await readdir(clone.cache)).toEqual([]);
  });

  it("keeps the bundle when only a test or a document changed", async () => {
    const clone = await cloneTree();
    await clone.lattice();
    await clone.write("src/bin/text.test.ts", "changed");
    await clone.write("src/bin/README.md", "changed");
    await clone.write("src/bin/.text.ts.swp", "changed");
    expect((await clone.lattice()).stderr).toBe("");
  });

  it("runs an earlier bundle again when a change is undone", async () => {
    const clone = await cloneTree();
    await clone.lattice();
    await clone.write("src/bin/text.ts", textFile("two"));
    await clone.lattice();
    await clone.write("src/bin/text.ts", textFile("one"));
    const { stdout, stderr } = await clone.lattice();
    expect({ stderr, text: printed(stdout).text }).toEqual({ stderr: "", text: "one" });
  });
});

describe("the bundle is built again after", () => {
  const file = "src/bin/text.ts";
  const rows: { name: string; change: (clone: CloneTree) => Promise<void>; want: Partial<Printed> }[] = [
    { name: "an edit", change: ({ write }) => write(file, textFile("a longer text")), want: { text: "a longer text" } },
    {
      name: "an edit that keeps size and time",
      change: async ({ root, write }) => {
        const { atime, mtime } = await stat(join(root, file));
        await write(file, textFile("two"));
        await utimes(join(root, file), atime, mtime);
      },
      want: { text: "two" },
    },
    {
      name: "a copy of an older file",
      change: async ({ root, write }) => {
        await write(file, textFile("old"));
        await utimes(join(root, file), 1, 1);
      },
      want: { text: "old" },
    },
    {
      name: "a file with a time in the future",
      change: async ({ root, write }) => {
        await write(file, textFile("new"));
        await utimes(join(root, file), 4_000_000_000, 4_000_000_000);
      },
      want: { text: "new" },
    },
    {
      name: "a rename onto another file",
      change: async ({ root, write }) => {
        await write("src/bin/other.ts", textFile("oth"));
        await rename(join(root, "src/bin/other.ts"), join(root, file));
      },
      want: { text: "oth" },
    },
    {
      name: "a rename of a file and of its import",
      change: async ({ root, write }) => {
        await rename(join(root, file), join(root, "src/bin/renamed.ts"));
        const main = await readFile(join(root, "src/bin/lattice.ts"), "utf8");
        await write("src/bin/lattice.ts", main.replace("./text.ts", "./renamed.ts"));
      },
      want: { text: "one" },
    },
    {
      name: "a change of a file that is no program",
      change: ({ write }) => write("src/bin/later.json", `{ "value": 2 }`),
      want: { json: 2 },
    },
    {
      name: "a change in a package",
      change: ({ write }) => write("node_modules/dep/index.js", `export const packageText = "patched";\n`),
      want: { packageText: "patched" },
    },
    {
      name: "a changed lockfile",
      change: async ({ root, write }) => {
        await write("package-lock.json", "{ }");
        await markInstalled(root);
      },
      want: { text: "one" },
    },
    {
      name: "a changed build script",
      change: async ({ root, write }) => {
        const script = "scripts/build/node-version.ts";
        await write(script, `${await readFile(join(root, script), "utf8")}\n`);
      },
      want: { text: "one" },
    },
    { name: "a changed package.json", change: ({ write }) => write("package.json", `{"type":"module","version":"2.0.0"}`), want: {} },
    { name: "a changed tsconfig.json", change: ({ write }) => write("tsconfig.json", `{ "compilerOptions": {} }`), want: {} },
  ];
  it.each(rows)("$name", async ({ change, want }) => {
    const clone = await cloneTree();
    await clone.lattice();
    await change(clone);
    const { code, stdout, stderr } = await clone.lattice();
    expect({ code, stderr }).toEqual({ code: 0, stderr: BUILDING });
    expect(printed(stdout)).toMatchObject(want);
  });

  it("an update of Node", async () => {
    const clone = await cloneTree();
    await clone.lattice();
    const other = await fileTree({
      "n.cjs": `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "99.0.0" } });`,
    });
    const NODE_OPTIONS = `--require ${join(other, "n.cjs")}`;
    expect(await clone.lattice([], { NODE_OPTIONS })).toMatchObject({ code: 0, stderr: BUILDING });
    expect(await clone.lattice([], { NODE_OPTIONS })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("an error in the sources", () => {
  const rows: { name: string; content: string; want: RegExp }[] = [
    { name: "a syntax error", content: "export const text =\n  = 1;\n", want: /^src\/bin\/text\.ts:2:3: Unexpected "="$/m },
    {
      name: "a missing file",
      content: `export * from "./none.ts";\n`,
      want: /^src\/bin\/text\.ts:1:15: Could not resolve "\.\/none\.ts"$/m,
    },
    { name: "a missing export", content: "export const other = 1;\n", want: /^src\/bin\/lattice\.ts:2:10: No matching export in/m },
  ];
  it.each(rows)("$name is reported with file and line, and the older bundle is not run", async ({ content, want }) => {
    const clone = await cloneTree();
    await clone.lattice();
    await clone.write("src/bin/text.ts", content);
    const { code, stdout, stderr } = await clone.lattice();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("lattice: the sources have an error, and an older version of them is never run:\n");
    expect(stderr).toMatch(want);
    expect(stderr).not.toContain("    at ");
    await clone.write("src/bin/text.ts", textFile("repaired"));
    expect(printed((await clone.lattice()).stdout)).toMatchObject({ text: "repaired" });
  });
});

describe("the sources are run, with one sentence,", () => {
  const rows: { name: string; given: (clone: CloneTree) => Promise<NodeJS.ProcessEnv>; want: RegExp }[] = [
    {
      name: "if the cache folder cannot be used",
      given: async () => ({ LATTICE_CACHE: join(await fileTree({ file: "" }), "file") }),
      want: /: cannot use the folder .*; set LATTICE_CACHE to a folder of your own\n$/,
    },
    {
      name: "if the bundle cannot be written",
      given: async ({ root }) => {
        await hookBundler(root, { after: `for (const file of built.outputFiles) file.path = "/nowhere/" + "x".repeat(300)` });
        return {};
      },
      want: /: they cannot be bundled: E[A-Z]+: .*\n$/,
    },
    {
      name: "if the bundler does not start",
      given: async ({ root }) => {
        await rm(join(root, "node_modules/esbuild"));
        return {};
      },
      want: /: they cannot be bundled: Error .*Cannot find package 'esbuild'.*\n$/,
    },
    {
      name: "if the program contains a file whose changes would not be seen",
      given: async ({ write }) => {
        await write("src/bin/text.test.ts", textFile("of a test"));
        await write("src/bin/text.ts", `export { text } from "./text.test.ts";\n`);
        return {};
      },
      want: /: they cannot be bundled: .*src\/bin\/text\.test\.ts is part of the program, but not of the sources .*\n$/,
    },
    {
      name: "if they change during every build",
      given: async ({ root }) => {
        await hookBundler(root, { after: `fs.writeFileSync(${JSON.stringify(join(root, "src/bin/extra.ts"))}, String(count))` });
        return {};
      },
      want: /: they cannot be bundled: the sources changed during each of several attempts to build them\n$/,
    },
    {
      name: "if they change after every build",
      given: async ({ root, write }) => {
        const script = "scripts/build/clone-bundle.ts";
        const extra = JSON.stringify(join(root, "src/bin/extra.ts"));
        const change = `(await import("node:fs")).appendFileSync(${extra}, "\\n");\n`;
        await write(script, (await readFile(join(root, script), "utf8")) + change);
        return {};
      },
      want: /: they changed after each of several builds\n$/,
    },
  ];
  it.each(rows)("$name", async ({ given, want }) => {
    const clone = await cloneTree();
    const env = await given(clone);
    const { code, stdout, stderr } = await clone.lattice([], env);
    expect({ code, file: printed(stdout).file }).toEqual({ code: 0, file: join(clone.root, "src/bin/lattice.ts") });
    const sentence = stderr.replaceAll(BUILDING, "");
    expect(sentence).toMatch(want);
    expect(sentence).toMatch(/^lattice: Lattice runs from its sources, which start more slowly: [^\n]*\n$/);
  });
});

it("a source that changes during the build is in the bundle", async () => {
  const clone = await cloneTree();
  await hookBundler(clone.root, { after: `if (count === 1) ${writeText(clone, "two")}` });
  const { stdout, stderr } = await clone.lattice();
  expect({ stderr, text: printed(stdout).text }).toEqual({ stderr: BUILDING, text: "two" });
});

it("a source that changes for the time of the build is in the bundle as it is afterwards", async () => {
  const clone = await cloneTree();
  const [before, after] = [`if (count === 1) ${writeText(clone, "two")}`, writeText(clone, "one")];
  await hookBundler(clone.root, { before, after: `if (count === 1) ${after}` });
  const { stdout, stderr } = await clone.lattice();
  expect({ stderr, text: printed(stdout).text }).toEqual({ stderr: BUILDING, text: "one" });
});

/** Code that writes the source with the text. */
function writeText({ root }: CloneTree, text: string): string {
  return `fs.writeFileSync(${JSON.stringify(join(root, "src/bin/text.ts"))}, ${JSON.stringify(textFile(text))})`;
}

it("starts that come together build once", async () => {
  const clone = await cloneTree();
  const all = await Promise.all([1, 2, 3, 4].map(() => clone.lattice()));
  expect(all.map(({ code, stdout }) => ({ code, text: printed(stdout).text }))).toEqual(all.map(() => ({ code: 0, text: "one" })));
  expect(all.filter(({ stderr }) => stderr === BUILDING)).toHaveLength(1);
  expect(all.filter(({ stderr }) => stderr === "")).toHaveLength(3);
});

it("a signal ends the build and the start, and the next one builds", async () => {
  const clone = await cloneTree();
  const began = join(clone.root, "began");
  await hookBundler(clone.root, {
    before: `fs.writeFileSync(${JSON.stringify(began)}, ""); await new Promise((r) => setTimeout(r, 60_000))`,
  });
  const started = { cwd: clone.root, env: { ...process.env, LATTICE_CACHE: clone.cache }, detached: true };
  const child = spawn(process.execPath, [join(clone.root, "scripts/run.cjs"), "cli"], started);
  const closed = once(child, "close"); // the build has the same output
  await vi.waitFor(() => stat(began), { timeout: 20_000, interval: 20 });
  child.kill("SIGTERM");
  expect(await closed).toEqual([130, null]);
  expect(await readdir(await bundlesOf(clone))).toEqual([]);
  await hookBundler(clone.root, {});
  const { code, stdout } = await clone.lattice();
  expect({ code, text: printed(stdout).text }).toEqual({ code: 0, text: "one" });
});

it("a build that was killed leaves nothing that stops or changes the next one", async () => {
  const clone = await cloneTree();
  await clone.lattice();
  const folder = await bundlesOf(clone);
  await clone.write("src/bin/text.ts", textFile("two"));
  await writeFile(join(folder, "build"), "4194304999 1"); // no process can have this number
  await writeFile(join(folder, "removal"), `${process.pid} 1`); // the number of a living process, but another start time
  await mkdir(join(folder, "building"));
  await writeFile(join(folder, "building/lattice.js"), "half of it");
  const { code, stdout, stderr } = await clone.lattice();
  expect({ code, stderr, text: printed(stdout).text }).toEqual({ code: 0, stderr: BUILDING, text: "two" });
  const left = (await readdir(folder)).filter((name) => !/^[0-9a-f]{32}$/.test(name));
  expect(left).toEqual(["dependencies", "root"]);
});

it("removes old bundles, but never the one of a running process", async () => {
  const clone = await cloneTree();
  await clone.lattice();
  const [first = ""] = await keysOf(clone);
  const running = spawn(process.execPath, [join(clone.root, "scripts/run.cjs"), "cli", "wait"], { cwd: clone.root, env: clone.env });
  const output: string[] = [];
  running.stdout.setEncoding("utf8").on("data", (text: string) => output.push(text));
  await once(running.stdout, "data");
  for (const text of ["two", "three", "four", "five", "six"]) {
    await clone.write("src/bin/text.ts", textFile(text));
    expect(printed((await clone.lattice()).stdout)).toMatchObject({ text });
  }
  expect(await keysOf(clone)).toContain(first);
  expect(await keysOf(clone)).toHaveLength(4); // the running, the current and two more
  const ended = once(running, "exit");
  running.stdin.write("go on\n");
  expect(await ended).toEqual([0, null]);
  expect(printed(output.join("").replace("waiting\n", ""))).toMatchObject({ text: "one", later: "later" });
  await clone.write("src/bin/text.ts", textFile("seven"));
  await clone.lattice();
  expect(await keysOf(clone)).toHaveLength(3);
});

it("removes the bundles of a clone that was deleted", async () => {
  const [clone, deleted] = [await cloneTree(), await cloneTree()];
  await deleted.lattice([], { LATTICE_CACHE: clone.cache });
  await rm(deleted.root, { recursive: true });
  await clone.lattice();
  expect(await readdir(join(clone.cache, "bundles"))).toHaveLength(1);
});

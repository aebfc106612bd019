/** A small clone with the real run.cjs and the real bundler, whose program prints what it is made of. */
import { createHash } from "node:crypto";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addFiles, fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { runNode, type Ran } from "../process/run-program.ts";

export type CloneTree = {
  readonly root: string;
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  /** `./lattice ...args`. */
  readonly lattice: (args?: readonly string[], more?: NodeJS.ProcessEnv) => Promise<Ran>;
  readonly write: (file: string, content: string) => Promise<void>;
};

export const BUILDING = "lattice: building the program from the sources of this clone (once after each change)\n";

/** Prints JSON: the file that runs, and texts of a source, of one that is loaded later, and of a package. */
const PROGRAM = `declare const LATTICE_CLONE: string | undefined;
import { text } from "./text.ts";
import { packageText } from "dep";
import later from "./later.json" with { type: "json" };
const clone = typeof LATTICE_CLONE === "undefined" ? "" : LATTICE_CLONE;
const print = async () => console.log(JSON.stringify({ text, later: (await import("./lazy.ts")).lazy, json: later.value, packageText, clone,
  file: import.meta.filename, args: process.argv.slice(2) }));
if (process.argv[2] === "wait") {
  console.log("waiting");
  process.stdin.once("data", () => void print().then(() => process.exit()));
} else await print();
`;

export async function cloneTree(): Promise<CloneTree> {
  const root = await fileTree({
    ...(await copied("scripts/clone", /\.cjs$/)),
    ...(await copied("scripts/build", /^(?!.*\.test\.ts$)/)),
    "scripts/run.cjs": await original("scripts/run.cjs"),
    "scripts/process/project.ts": await original("scripts/process/project.ts"),
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", type: "module" }),
    "package-lock.json": "{}",
    "tsconfig.json": "{}",
    "src/bin/lattice.ts": PROGRAM,
    "src/bin/text.ts": textFile("one"),
    "src/bin/lazy.ts": `export const lazy = "later";\n`,
    "src/bin/later.json": `{ "value": 1 }\n`,
    "src/bin/text.test.ts": "",
    "node_modules/dep/package.json": JSON.stringify({ name: "dep", version: "1.0.0", type: "module", main: "index.js" }),
    "node_modules/dep/index.js": `export const packageText = "package";\n`,
  });
  await symlink(join(projectRoot, "node_modules/esbuild"), join(root, "node_modules/esbuild"));
  await markInstalled(root);
  const cache = await fileTree({});
  const env: NodeJS.ProcessEnv = { ...process.env, LATTICE_CACHE: cache, LATTICE_SOURCE: "" };
  const lattice: CloneTree["lattice"] = (args = [], more = {}) =>
    runNode(join(root, "scripts/run.cjs"), ["cli", ...args], { cwd: root, env: { ...env, ...more } });
  return { root, cache, env, lattice, write: (file, content) => addFiles(root, { [file]: content }) };
}

export function textFile(text: string): string {
  return `export const text: string = ${JSON.stringify(text)};\n`;
}

/** As `npm ci` leaves it, for the current lockfile. */
export async function markInstalled(root: string): Promise<void> {
  const lock = await readFile(join(root, "package-lock.json"));
  const stamp = createHash("sha256").update(lock).update(`${process.platform} ${process.arch}`).digest("hex");
  await writeFile(join(root, "node_modules/.lattice-setup"), stamp);
}

/** Replaces the bundler with one that runs code before and after each build; `count` is the number of the build, `built` its result. */
export async function hookBundler(root: string, { before = "", after = "" }: { before?: string; after?: string }): Promise<void> {
  const real = JSON.stringify(join(projectRoot, "node_modules/esbuild/lib/main.js"));
  const bundler = await original("scripts/build/bundle.ts");
  await addFiles(root, {
    "node_modules/hooked/index.cjs": `const esbuild = require(${real}); const fs = require("fs"); let count = 0;
exports.build = async (options) => { count += 1; ${before}; const built = await esbuild.build(options); ${after}; return built; };\n`,
    "scripts/build/bundle.ts": bundler.replace(`from "esbuild";`, `from "../../node_modules/hooked/index.cjs";`),
  });
}

async function copied(folder: string, which: RegExp): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(join(projectRoot, folder))).filter((name) => which.test(name));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [`${folder}/${name}`, await original(`${folder}/${name}`)] as const)),
  );
}

function original(file: string): Promise<string> {
  return readFile(join(projectRoot, file), "utf8");
}

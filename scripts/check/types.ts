/**
 * The check `types`: tsc over the tree and over the `ts` blocks of its documents, in one program.
 *
 * Blocks are written into a temporary folder. They import the package by its name, as users do, or its folders (`#kube`); `paths` leads to the
 * sources.
 */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { toolPath } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";
import { tsModules, type DocModule } from "./doc-blocks/ts-modules.ts";
import type { Finding } from "./finding.ts";
import { findingsOf, readTscLine } from "./tools.ts";
import { listFiles, readText, readTexts } from "./tree.ts";

/** An example may declare what it does not use (TS61xx); and its relative imports are made absolute, which tsc could not emit (TS2877). */
const ALLOWED_IN_BLOCKS = /^TS(?:6133|6192|6196|6198|2877):/;

type Targets = Readonly<Record<string, string | { readonly source?: string }>>;
type Manifest = {
  readonly name?: string;
  readonly exports?: Targets;
  readonly imports?: Targets;
};

export async function checkTypes(root: string): Promise<readonly Finding[]> {
  const documents = await readTexts(
    root,
    (await listFiles(root)).filter((path) => path.endsWith(".md")),
  );
  const modules = [...documents].flatMap(([document, text]) => tsModules(root, document, text));
  return modules.length === 0 ? runTsc(root, ".") : checkWithModules(root, modules);
}

async function runTsc(root: string, project: string): Promise<readonly Finding[]> {
  const ran = await runNode(toolPath("tsc"), ["-p", project, "--pretty", "false"], { cwd: root });
  return findingsOf(ran, readTscLine);
}

async function checkWithModules(root: string, modules: readonly DocModule[]): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "lattice-doc-blocks-"));
  try {
    const files = modules.map((_, at) => join(folder, `block-${at}.mts`));
    for (const [at, { text }] of modules.entries()) await writeFile(files[at] ?? "", text);
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(await projectWith(root, files)));
    const documents = new Map(files.map((file, at) => [relative(root, file).replaceAll("\\", "/"), modules[at]?.document ?? ""]));
    return (await runTsc(root, folder)).flatMap((finding) => inDocument(finding, root, documents));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The project of the tree and the files. `include` of an extended project is relative to that project, so it is repeated. */
async function projectWith(root: string, files: readonly string[]): Promise<object> {
  const manifest = JSON.parse((await readText(root, "package.json")) ?? "{}") as Manifest;
  const { include = ["."] } = JSON.parse((await readText(root, "tsconfig.json")) ?? "{}") as { readonly include?: readonly string[] };
  const { name, exports = {}, imports = {} } = manifest;
  const targets = [
    ...Object.entries(exports).map(([entry, target]) => [`${name}${entry.slice(1)}`, target] as const),
    ...Object.entries(imports),
  ];
  const paths = targets.flatMap(([specifier, target]) =>
    typeof target === "string" || target.source === undefined ? [] : [[specifier, [resolve(root, target.source)]] as const],
  );
  return {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { paths: Object.fromEntries(paths), typeRoots: [join(root, "node_modules/@types")] },
    include: [...include.map((path) => join(root, path)), ...files],
  };
}

function inDocument(finding: Finding, root: string, documents: ReadonlyMap<string, string>): readonly Finding[] {
  const document =
    finding.file === undefined ? undefined : documents.get(relative(root, resolve(root, finding.file)).replaceAll("\\", "/"));
  if (document === undefined) return [finding];
  return ALLOWED_IN_BLOCKS.test(finding.message) ? [] : [{ ...finding, file: document }];
}

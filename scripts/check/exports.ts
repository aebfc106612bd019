/**
 * The check `exports`: functions, constants and classes that src/ exports are imported by another file, and a module that only tests import is
 * named as test support, so that the package does not contain it. Types are left alone: they often name what a signature has. Generated files
 * are left alone too: a generator writes an export for every part of its source, used or not.
 */
import type { Finding } from "./finding.ts";
import { isTestFile } from "./layer-rules.ts";
import { ModuleGraph } from "./module-graph.ts";
import { listFiles, readTexts } from "./tree.ts";

/** The public entry points of the package, and the program. */
const ENTRIES: ReadonlySet<string> = new Set([
  "src/patch/index.ts",
  "src/compile/index.ts",
  "src/embedded-cluster/index.ts",
  "src/bin/lattice.ts",
]);

export async function checkExports(root: string): Promise<readonly Finding[]> {
  const files = (await listFiles(root)).filter((path) => /^(?:src|test|bench|scripts)\/.*\.ts$/.test(path));
  return exportProblems(await readTexts(root, files));
}

export function exportProblems(texts: ReadonlyMap<string, string>): readonly Finding[] {
  const graph = new ModuleGraph(texts);
  const used = graph.usedExports(ENTRIES, () => true);
  const shipped = graph.usedExports(ENTRIES, isShipped);
  const findings: Finding[] = [];
  for (const [file, { exports }] of graph.modules) {
    if (!isShipped(file) || file.includes("/generated/")) continue;
    const values = exports.filter(({ isType }) => !isType);
    for (const { name, line } of values.filter(({ name }) => !used.has(`${file} ${name}`)))
      findings.push({ file, line, message: `exports ${name}, which no other file imports; do not export it, or delete it` });
    if (exports.length > 0 && !exports.some(({ name }) => shipped.has(`${file} ${name}`)))
      findings.push({ file, message: "is imported by tests only; name it *.test-support.ts, or delete it" });
  }
  return findings;
}

function isShipped(file: string): boolean {
  return file.startsWith("src/") && !isTestFile(file);
}

/** The check `layers`: every source file against layers.json, and layers.json against the folders that there are. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./finding.ts";
import { folderOf, layerProblems, type Packages } from "./layer-rules.ts";
import { parseLayers, type Layers } from "./layers-file.ts";
import { scanSource, type Use } from "./scan-source.ts";
import { subfolderFindings } from "./subfolders.ts";
import { listFiles, readText, readTexts } from "./tree.ts";

type Manifest = {
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

export async function checkLayers(root: string): Promise<readonly Finding[]> {
  const layers = parseLayers((await readText(root, "layers.json")) ?? "{}");
  if (!layers.ok) return layers.error.map((message) => ({ file: "layers.json", message }));
  const manifest = JSON.parse((await readText(root, "package.json")) ?? "{}") as Manifest;
  // projects in docs/ are examples for users: they have their own dependencies, and this package is one of them
  const sources = (await listFiles(root)).filter((path) => /\.[cm]?ts$/.test(path) && !path.startsWith("docs/"));
  const packages = packagesOf(manifest);
  const findings = [...folderFindings(sources, layers.value), ...aliasFindings(root, manifest)];
  const imports = new Map<string, readonly Use[]>();
  for (const [file, text] of await readTexts(root, sources)) {
    const facts = scanSource(file, text);
    imports.set(file, facts.imports);
    findings.push(...layerProblems(file, facts, layers.value, packages).map((problem) => ({ file, ...problem })));
  }
  return [...findings, ...subfolderFindings(imports, layers.value)];
}

function packagesOf(manifest: Manifest): Packages {
  const shipped = Object.keys(manifest.dependencies ?? {});
  return { shipped: new Set(shipped), all: new Set([...shipped, ...Object.keys(manifest.devDependencies ?? {})]) };
}

function folderFindings(sources: readonly string[], layers: Layers): readonly Finding[] {
  const inSrc = sources.filter((path) => path.startsWith("src/"));
  const homeless = inSrc.filter((path) => folderOf(path) === undefined);
  const folders = new Set(inSrc.flatMap((path) => folderOf(path) ?? []));
  return [
    ...homeless.map((file) => ({ file, message: "is directly in src; move it to a folder" })),
    ...[...folders].filter((folder) => !layers.has(folder)).map((folder) => ({ file: `src/${folder}`, message: "is not in layers.json" })),
  ];
}

/** An alias `#folder` without a file would fail only at its first import. */
function aliasFindings(root: string, manifest: Manifest): readonly Finding[] {
  return Object.entries(manifest.imports ?? {}).flatMap(([name, conditions]) => {
    const target = conditions["default"] ?? "";
    return existsSync(join(root, target)) ? [] : [{ file: "package.json", message: `imports ${name}: ${target} does not exist` }];
  });
}

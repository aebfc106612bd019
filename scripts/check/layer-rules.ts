/**
 * The rules about imports and globals, for one file at a time. They are:
 *
 * - across folders only by `#folder`, and only folders that layers.json allows;
 * - inside src nothing of test/ or scripts/, and only packages that users of the published package get;
 * - PURE folders use no node:*, clock, network or randomness;
 * - process.exit, process.env, process.argv and console only in src/bin.
 *
 * Tests, benches and scripts may import any folder, also by `#folder`.
 */
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { Layer, Layers } from "./layers-file.ts";
import { COMPUTED_IMPORT, type SourceFacts } from "./scan-source.ts";

export type Packages = { readonly shipped: ReadonlySet<string>; readonly all: ReadonlySet<string> };
export type Problem = { readonly line: number; readonly message: string };
type Home = { readonly folder: string; readonly layer: Layer };

const PURE_BANS = new Set(
  "setTimeout setInterval setImmediate Date fetch process performance Math.random crypto globalThis console".split(" "),
);
const ONLY_IN_BIN = new Set("process process.exit process.env process.argv console globalThis.process globalThis.console".split(" "));
const IMPURE_MODULES = new Set(["node:process", "node:console"]);

export function isTestFile(path: string): boolean {
  return /\.test(-support)?\.ts$/.test(path);
}

/** The folder of src a path is in; undefined outside src. */
export function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

export function layerProblems(path: string, facts: SourceFacts, layers: Layers, packages: Packages): readonly Problem[] {
  const folder = folderOf(path);
  const layer = folder === undefined ? undefined : layers.get(folder);
  if (folder === undefined || layer === undefined || isTestFile(path))
    return collectProblems(facts.imports, (name) => outside(path, name, packages));
  const home = { folder, layer };
  return [
    ...collectProblems(facts.imports, (name) => importInSrc(path, home, name, packages)),
    ...collectProblems(facts.globals, (name) => globalInSrc(home, name)),
  ];
}

function collectProblems(uses: readonly { name: string; line: number }[], rule: (name: string) => string | undefined): readonly Problem[] {
  return uses.flatMap(({ name, line }) => {
    const message = rule(name);
    return message === undefined ? [] : [{ line, message }];
  });
}

function importInSrc(path: string, home: Home, specifier: string, packages: Packages): string | undefined {
  const { folder, layer } = home;
  if (specifier === COMPUTED_IMPORT) return "imports a computed name; write it as text, so that it can be checked";
  if (specifier.startsWith("#")) {
    const other = specifier.slice(1);
    if (other === folder) return `${folder} imports itself by ${specifier}; inside a folder import the file`;
    return layer.may.includes(other) ? undefined : `${folder} may not import ${other} (layers.json)`;
  }
  if (specifier.startsWith(".")) return relativeImport(path, specifier, []);
  if (isBuiltin(specifier)) return builtinImport(home, specifier);
  return packages.shipped.has(packageOf(specifier)) ? undefined : `imports ${specifier}, which is not in package.json's dependencies`;
}

function builtinImport({ folder, layer }: Home, specifier: string): string | undefined {
  if (!specifier.startsWith("node:")) return `imports "${specifier}"; write "node:${specifier}"`;
  if (IMPURE_MODULES.has(specifier) && folder !== "bin") return `imports ${specifier}; only src/bin may`;
  if (layer.node !== undefined) return layer.node.includes(specifier) ? undefined : `${folder} may not import ${specifier} (layers.json)`;
  return layer.pure ? `${folder} is pure and imports ${specifier}` : undefined;
}

function globalInSrc({ folder, layer }: Home, name: string): string | undefined {
  const root = name.split(".")[0] ?? name;
  if (layer.pure && (PURE_BANS.has(name) || PURE_BANS.has(root))) return `${folder} is pure and uses ${name}`;
  const binOnly = ONLY_IN_BIN.has(name) || root === "console";
  return binOnly && folder !== "bin" ? `uses ${name}; only src/bin may` : undefined;
}

/** Tests, benches, scripts and the configuration at the root. */
function outside(path: string, specifier: string, packages: Packages): string | undefined {
  if (specifier.startsWith(".")) return relativeImport(path, specifier, ["test/builders/"]);
  if (specifier.startsWith("#") || specifier === COMPUTED_IMPORT || isBuiltin(specifier)) return undefined;
  return packages.all.has(packageOf(specifier)) ? undefined : `imports ${specifier}, which is not in package.json`;
}

function relativeImport(path: string, specifier: string, open: readonly string[]): string | undefined {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  // a generator writes the format that one module inside a folder reads; the format is internal
  if (path.startsWith("scripts/generate/")) return undefined;
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to || open.some((prefix) => target.startsWith(prefix))) return undefined;
  return to === undefined ? `imports ${target}, which is outside src` : `imports ${target}; import another folder as #${to}`;
}

function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Which names each module exports, and which of them another module uses; read from the syntax trees. */
import { posix } from "node:path";
import { parseSync } from "vite";
import { lineAt } from "./tree.ts";

export type ExportedName = { readonly name: string; readonly line: number; readonly isType: boolean };

type Source = { readonly file: string; readonly name: string };
type ModuleFacts = {
  readonly exports: readonly ExportedName[];
  /** What is exported here, and which export of another module it is. */
  readonly forwarded: ReadonlyMap<string, Source>;
  /** "*": all names. */
  readonly uses: readonly Source[];
};

const ALL = "*";

type Tree = { readonly type: string; readonly start: number; readonly [field: string]: unknown };

export class ModuleGraph {
  readonly modules: ReadonlyMap<string, ModuleFacts>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.modules = new Map([...texts].map(([file, text]) => [file, factsOf(file, text)]));
  }

  /** "file name" of every export that another module uses, directly or through modules that export it again. `entries` use all of their own. */
  usedExports(entries: ReadonlySet<string>, counts: (file: string) => boolean): ReadonlySet<string> {
    const used = new Set<string>();
    const waiting: Source[] = [];
    for (const [file, { uses, exports }] of this.modules) {
      if (entries.has(file)) waiting.push(...exports.map(({ name }) => ({ file, name })));
      if (counts(file)) waiting.push(...uses);
    }
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { file, name } = next;
      const facts = this.modules.get(file);
      if (facts === undefined) continue;
      if (name === ALL) waiting.push(...facts.exports.map((one) => ({ file, name: one.name })));
      if (name === ALL || used.has(`${file} ${name}`)) continue;
      used.add(`${file} ${name}`);
      const source = facts.forwarded.get(name);
      if (source !== undefined) waiting.push(source);
    }
    return used;
  }
}

function factsOf(file: string, text: string): ModuleFacts {
  const exports: ExportedName[] = [];
  const forwarded = new Map<string, Source>();
  const uses: Source[] = [];
  for (const node of nodesOf(parseSync(file, text).program)) {
    const target = targetOf(file, node);
    const at = { line: lineAt(text, node.start) };
    if (node.type === "ExportNamedDeclaration") {
      const isType = node["exportKind"] === "type";
      exports.push(...declaredNames(node["declaration"]).map((name) => ({ name, isType, ...at })));
      for (const { from, to, kind } of specifiersOf(node, "local", "exported")) {
        exports.push({ name: to, isType: isType || kind === "type", ...at });
        if (target !== undefined) forwarded.set(to, { file: target, name: from });
      }
    } else if (node.type === "ImportDeclaration" && target !== undefined) {
      uses.push(...specifiersOf(node, "imported", "local").map(({ from }) => ({ file: target, name: from })));
    } else if (target !== undefined) uses.push({ file: target, name: ALL });
  }
  return { exports, forwarded, uses };
}

const MODULES = new Set(["ExportNamedDeclaration", "ImportDeclaration", "ExportAllDeclaration", "ImportExpression", "TSImportType"]);

function* nodesOf(value: unknown): Generator<Tree> {
  if (typeof value !== "object" || value === null) return;
  if (MODULES.has((value as Tree).type)) yield value as Tree;
  for (const child of Object.values(value)) if (typeof child === "object") yield* nodesOf(child);
}

/** The file that a specifier names; undefined: no file of this project. */
function targetOf(file: string, node: Tree): string | undefined {
  const source = (node["source"] ?? node["argument"]) as {
    readonly value?: unknown;
    readonly literal?: { readonly value?: unknown };
  } | null;
  const specifier = source?.value ?? source?.literal?.value;
  if (typeof specifier !== "string") return undefined;
  if (specifier.startsWith("#")) return `src/${specifier.slice(1)}/index.ts`;
  return specifier.startsWith(".") ? posix.normalize(posix.join(posix.dirname(file), specifier)) : undefined;
}

type Named = { readonly type?: string; readonly name?: string; readonly value?: string } | undefined;

type Specifier = { readonly from: string; readonly to: string; readonly kind: unknown };

function specifiersOf(node: Tree, from: string, to: string): readonly Specifier[] {
  return ((node["specifiers"] ?? []) as readonly Readonly<Record<string, unknown>>[]).map((specifier) => ({
    from: nameOf(specifier[from] as Named) ?? ALL,
    to: nameOf(specifier[to] as Named) ?? ALL,
    kind: specifier["exportKind"],
  }));
}

function nameOf(named: Named): string | undefined {
  return named?.name ?? named?.value;
}

function declaredNames(declaration: unknown): readonly string[] {
  if (typeof declaration !== "object" || declaration === null) return [];
  const { id, declarations } = declaration as { readonly id?: Named; readonly declarations?: readonly { readonly id: Named }[] };
  return [id, ...(declarations ?? []).map((one) => one.id)].flatMap((named) => nameOf(named) ?? []);
}

/** The check `kinds`: a Kubernetes kind has one resource definition, in src/kube/kinds, and code outside imports it. */
import * as declared from "#kube";
import { parseSync } from "vite";
import type { Finding } from "./finding.ts";
import { isTestFile } from "./layer-rules.ts";
import { lineAt, listFiles, readTexts } from "./tree.ts";

const HOME = "src/kube/kinds/";

/** Files that make definitions of kinds which are not known before the program runs, or are Lattice's own. */
const MAY_DEFINE: ReadonlyMap<string, string> = new Map([
  ["src/kube/resource.ts", "declares defineResource"],
  ["src/crds/kind.ts", "Lattice's own kinds, one call per kind"],
  ["src/kube-controllers/workloads/autoscaling/scale-target.ts", "the kind that an autoscaler names, found by discovery"],
]);

export async function checkKinds(root: string): Promise<readonly Finding[]> {
  const files = (await listFiles(root, "src")).filter((path) => path.endsWith(".ts") && !isTestFile(path) && !path.startsWith(HOME));
  return [...repeatedDeclarations(Object.entries(declared)), ...strayDefinitions(await readTexts(root, files))];
}

/** Two values for one group and kind. A view of the same objects is no second declaration. */
export function repeatedDeclarations(values: readonly (readonly [string, unknown])[]): readonly Finding[] {
  const first = new Map<string, string>();
  return values.flatMap(([name, value]) => {
    const { group, kind, view } = (value ?? {}) as { readonly group?: string; readonly kind?: string; readonly view?: string };
    if (group === undefined || kind === undefined || view !== undefined) return [];
    const known = first.get(`${group}/${kind}`);
    first.set(`${group}/${kind}`, known ?? name);
    return known === undefined ? [] : [{ file: HOME, message: `${name} declares the kind ${kind} of "${group}" again; it is ${known}` }];
  });
}

/** Calls of defineResource, and objects that look like one: a group, a kind and a plural. */
export function strayDefinitions(texts: ReadonlyMap<string, string>): readonly Finding[] {
  return [...texts].flatMap(([file, text]) => {
    if (MAY_DEFINE.has(file) || !/defineResource|plural: *["'`]/.test(text)) return [];
    return definitionsIn(parseSync(file, text).program).map((start) => ({
      file,
      line: lineAt(text, start),
      message: `defines a resource; import it from #kube, or declare the kind in ${HOME}`,
    }));
  });
}

type Tree = { readonly type?: string; readonly start: number; readonly [field: string]: unknown };

function definitionsIn(value: unknown): readonly number[] {
  if (typeof value !== "object" || value === null) return [];
  const node = value as Tree;
  const own = isDefinition(node) ? [node.start] : [];
  return own.length > 0 ? own : Object.values(node).flatMap(definitionsIn);
}

function isDefinition(node: Tree): boolean {
  if (node.type === "CallExpression") return (node["callee"] as { readonly name?: string }).name === "defineResource";
  if (node.type !== "ObjectExpression") return false;
  const properties = node["properties"] as readonly {
    readonly key?: { readonly name?: string };
    readonly value?: { readonly type: string };
  }[];
  const literal = new Set(properties.filter(({ value }) => value?.type === "Literal").map(({ key }) => key?.name));
  return ["group", "version", "kind", "plural"].every((name) => literal.has(name));
}

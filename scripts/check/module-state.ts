/**
 * The check `module-state`: no module of src/ keeps state that grows. A Map that a module fills lives as long as the process, and its keys
 * come from users; `memoize` and `memoizeByObject` of base are bounded.
 *
 * Found at the top level of a file: `let`, and a Map, Set, WeakMap, WeakSet, list or object that is made empty or is changed in the file.
 * Constants are typed read-only, or named in capitals and never changed. src/bin is the process itself, so it may have state.
 */
import { parseSync } from "vite";
import type { Finding } from "./finding.ts";
import { isTestFile } from "./layer-rules.ts";
import { STATE_EXCEPTIONS, type StateException } from "./module-state-exceptions.ts";
import { lineAt, listFiles, readTexts } from "./tree.ts";

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [field: string]: unknown };
type Declared = { readonly name: string; readonly at: number; readonly message: string };

const MESSAGES = {
  let: "a module may not have variables; use once() or memoize() of base, or a class",
  collection: "a module may not fill a collection; use memoize() or memoizeByObject() of base, which are bounded",
};
const MUTATORS = "set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill";

export async function checkModuleState(
  root: string,
  exceptions: readonly StateException[] = STATE_EXCEPTIONS,
): Promise<readonly Finding[]> {
  const sources = (await listFiles(root, "src")).filter(isChecked);
  const found = new Map<string, Finding>();
  for (const [file, text] of await readTexts(root, sources)) {
    for (const { name, at, message } of moduleState(file, text)) {
      found.set(`${file} ${name}`, { file, line: lineAt(text, at), message: `${name}: ${message}` });
    }
  }
  const unused = exceptions.filter(({ file, name }) => !found.delete(`${file} ${name}`));
  return [...found.values(), ...unused.map(unneeded)];
}

function isChecked(path: string): boolean {
  return path.endsWith(".ts") && !isTestFile(path) && !path.startsWith("src/bin/") && path !== "src/base/memo.ts";
}

function unneeded({ file, name }: StateException): Finding {
  return { file, message: `${name} needs no exception; remove it from scripts/check/module-state-exceptions.ts` };
}

/** The state of one file. */
export function moduleState(file: string, text: string): readonly Declared[] {
  const { body } = parseSync(file, text).program as unknown as { readonly body: readonly Node[] };
  return body.flatMap((statement) => {
    const declaration = (statement.type === "ExportNamedDeclaration" ? statement["declaration"] : statement) as Node | null;
    if (declaration?.type !== "VariableDeclaration") return [];
    const isLet = declaration["kind"] !== "const";
    return (declaration["declarations"] as readonly Node[]).flatMap((one) => {
      const { name } = one["id"] as { readonly name?: string };
      if (name === undefined) return isLet ? [{ name: "(pattern)", at: one.start, message: MESSAGES.let }] : [];
      if (isLet) return [{ name, at: one.start, message: MESSAGES.let }];
      return fillsCollection(name, one, text) ? [{ name, at: one.start, message: MESSAGES.collection }] : [];
    });
  });
}

function fillsCollection(name: string, declarator: Node, text: string): boolean {
  const made = collectionIn(declarator["init"] as Node | null);
  if (made === undefined) return false;
  const { typeAnnotation } = declarator["id"] as { readonly typeAnnotation?: Node | null };
  const type = typeAnnotation ? text.slice(typeAnnotation.start, typeAnnotation.end) : "";
  const isConstant = /^: *(?:readonly |Readonly)/.test(type) || /^[A-Z][A-Z0-9_]*$/.test(name);
  return (made === "empty" && !isConstant) || new RegExp(`(?<![\\w.$])${name}\\.(?:${MUTATORS})\\(`).test(text);
}

/** Whether the value is a collection, and an empty one. */
function collectionIn(init: Node | null): "empty" | "filled" | undefined {
  if (init === null) return undefined;
  if (init.type === "TSAsExpression" || init.type === "TSSatisfiesExpression") return collectionIn(init["expression"] as Node);
  const parts = partsOf(init);
  return parts === undefined ? undefined : parts.length === 0 ? "empty" : "filled";
}

function partsOf(init: Node): readonly unknown[] | undefined {
  if (init.type === "ArrayExpression") return init["elements"] as readonly unknown[];
  if (init.type === "ObjectExpression") return init["properties"] as readonly unknown[];
  const { name = "" } = (init.type === "NewExpression" ? init["callee"] : {}) as { readonly name?: string };
  return /^(?:Weak)?(?:Map|Set)$/.test(name) ? (init["arguments"] as readonly unknown[]) : undefined;
}

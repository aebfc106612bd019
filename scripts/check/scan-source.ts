/**
 * What a source file imports and which globals it uses, read from its syntax tree: text in comments and strings does not count.
 *
 * Scopes are not followed. A name that is bound anywhere in the file (a parameter called `process`) counts as local in the whole file:
 * simple, and wrong only in code that is written to evade the check.
 */
import { parseSync } from "vite";
import { lineAt } from "./tree.ts";

export type Use = { readonly name: string; readonly line: number };
export type SourceFacts = { readonly imports: readonly Use[]; readonly globals: readonly Use[] };

/** The specifier of an `import(expression)`, which cannot be checked. */
export const COMPUTED_IMPORT = "(computed)";

type Node = { readonly type: string; readonly start: number; readonly [field: string]: unknown };
type Place = { readonly node: Node; readonly parent: Node | undefined; readonly field: string };

export function scanSource(path: string, text: string): SourceFacts {
  const imports: Use[] = [];
  const references: Use[] = [];
  const bound = new Set<string>();
  for (const place of places(parseSync(path, text).program as unknown as Node)) {
    const specifier = importedBy(place.node);
    if (specifier !== undefined) imports.push({ name: specifier, line: lineAt(text, place.node.start) });
    for (const name of boundBy(place.node)) bound.add(name);
    const reference = referenceAt(place);
    if (reference !== undefined) references.push({ name: reference, line: lineAt(text, place.node.start) });
  }
  return { imports, globals: references.filter(({ name }) => !bound.has(name.split(".")[0] ?? name)) };
}

/** The same text with every comment blanked out, line for line. */
export function withoutComments(path: string, text: string): string {
  let kept = text;
  for (const { start, end } of parseSync(path, text).comments) {
    kept = kept.slice(0, start) + kept.slice(start, end).replace(/[^\n]/g, " ") + kept.slice(end);
  }
  return kept;
}

function* places(node: Node, parent?: Node, field = ""): Generator<Place> {
  yield { node, parent, field };
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* places(child, node, name);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

function importedBy(node: Node): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "TSImportType":
      return textOf(node["source"]);
    case "ImportExpression":
      return textOf(node["source"]) ?? COMPUTED_IMPORT;
    case "CallExpression":
      return nameOf(node["callee"]) === "require" ? textOf((node["arguments"] as readonly unknown[])[0]) : undefined;
    default:
      return undefined;
  }
}

/** `process.env`, `Date`: the global with the member that is taken from it, if one is. */
function referenceAt({ node, parent, field }: Place): string | undefined {
  const name = nameOf(node);
  if (name === undefined || parent === undefined || !isReference(parent, field)) return undefined;
  if (parent.type !== "MemberExpression") return name;
  const member = parent["computed"] === true ? textOf(parent["property"]) : nameOf(parent["property"]);
  return member === undefined ? name : `${name}.${member}`;
}

/** Places where an identifier is only a name: `x.name`, `{ name: 1 }`, a label, an import's or a type's name. */
function isReference(parent: Node, field: string): boolean {
  if (parent.type === "MemberExpression") return field === "object" || parent["computed"] === true;
  if (field === "key") return parent["computed"] === true;
  if (parent.type.startsWith("TS")) return field === "expression" && parent.type.endsWith("Expression");
  return !/^(Import|Export)\w*Specifier$|^(Labeled|Break|Continue)Statement$|^MetaProperty$/.test(parent.type);
}

function boundBy(node: Node): readonly string[] {
  switch (node.type) {
    case "VariableDeclarator":
    case "ClassDeclaration":
      return namesIn(node["id"]);
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [node["id"], ...(node["params"] as readonly unknown[])].flatMap(namesIn);
    case "CatchClause":
      return namesIn(node["param"]);
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      return namesIn(node["local"]);
    default:
      return [];
  }
}

function namesIn(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case "Identifier":
      return [nameOf(pattern) ?? ""];
    case "ObjectPattern":
      return (pattern["properties"] as readonly Node[]).flatMap((property) => namesIn(property["value"] ?? property));
    case "ArrayPattern":
      return (pattern["elements"] as readonly unknown[]).flatMap(namesIn);
    case "AssignmentPattern":
      return namesIn(pattern["left"]);
    case "RestElement":
      return namesIn(pattern["argument"]);
    default:
      return [];
  }
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === "Identifier" ? String(node["name"]) : undefined;
}

function textOf(node: unknown): string | undefined {
  return isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

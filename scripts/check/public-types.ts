/**
 * Part of the check `docs`: a type that appears in the signature of a public export is exported by the same entry point, so that users can name
 * it in their own code.
 *
 * Declarations are read from their syntax tree. Only explicit types are seen, which is how this project writes its exports; private members and
 * the bodies of functions are not part of a signature.
 */
import { posix } from "node:path";
import { parseSync } from "vite";
import type { Finding } from "./finding.ts";
import { entryFiles, exportsOf, fileOf, type Exported, type Manifest, type Texts } from "./public-docs.ts";
import { lineAt } from "./tree.ts";

type Node = { readonly type: string; readonly start: number; readonly [field: string]: unknown };
type Module = { readonly declarations: ReadonlyMap<string, Node>; readonly imports: ReadonlyMap<string, Exported> };

/**
 * Types of signatures that no entry point exports: users reach their fields through the public type that has them and do not write their
 * names. A new type is exported or, for the same reason, added here.
 */
const NOT_NAMED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    "src/compile/index.ts":
      "Callee Claim CompileError CompiledObject CompiledService EnforcementStep ExternalReference FieldStep GatewayIdentity GatewayName InvalidKind JsonPrimitive Loaded Mesh MountedKind ObjectMeta ObjectOf ObjectTaken Params PeerAddress PlacementError ProvisionerContext ResourceOutput ResourceProblem RouteClaim RouteTarget ServiceAddress ServiceId ServiceInput Settings",
    "src/patch/index.ts": "Applied MergeMode Verdict",
    "src/embedded-cluster/index.ts":
      "ClientResult ClockOf ClusterParts Controllers DeclaredUsage FaultList KubeController LogFields Outcome OwnerReference PodProcesses ProbeKind ResourceList Taint TransportResponse TransportRequest User",
  }).map(([entry, names]) => [entry, names.split(" ")]),
);

export function unexportedTypes(texts: Texts, manifestText: string | undefined): readonly Finding[] {
  const manifest = JSON.parse(manifestText ?? "{}") as Manifest;
  const modules = new Map<string, Module>();
  const moduleOf = (file: string) => {
    const known = modules.get(file) ?? readModule(file, texts.get(file) ?? "");
    modules.set(file, known);
    return known;
  };
  const declarationOf = (exported: Exported): { readonly file: string; readonly name: string } => {
    const file = fileOf(manifest, exported.from);
    const through = exportsOf(texts, file).find(({ name }) => name === exported.name);
    return through === undefined ? { file, name: exported.name } : declarationOf(through);
  };
  return entryFiles(manifest)
    .filter((entry) => texts.has(entry))
    .flatMap((entry) => {
      const declared = exportsOf(texts, entry).map(declarationOf);
      const known = new Set(declared.map(({ file, name }) => `${file} ${name}`));
      return declared.flatMap(({ file, name }) => {
        const { declarations, imports } = moduleOf(file);
        const node = declarations.get(name);
        return [...new Set(node === undefined ? [] : typesIn(node))].flatMap((used) => {
          const imported = imports.get(used);
          if (imported === undefined && !declarations.has(used)) return []; // a global, or a type parameter
          if (imported !== undefined && !/^[#.]|^src\//.test(imported.from)) return []; // of another package
          const target = imported === undefined ? { file, name: used } : declarationOf(imported);
          if (known.has(`${target.file} ${target.name}`) || NOT_NAMED.get(entry)?.includes(used) === true) return [];
          const line = lineAt(texts.get(file) ?? "", node?.start ?? 0);
          return [{ file, line, message: `${name} is public and its signature has ${used}, which ${entry} does not export` }];
        });
      });
    });
}

function readModule(file: string, text: string): Module {
  const declarations = new Map<string, Node>();
  const imports = new Map<string, Exported>();
  for (const statement of nodesOf((parseSync(file, text).program as unknown as Node)["body"])) {
    if (statement.type === "ImportDeclaration") for (const [local, exported] of importsOf(statement, file)) imports.set(local, exported);
    const declaration = isNode(statement["declaration"]) ? statement["declaration"] : statement;
    for (const named of [declaration, ...nodesOf(declaration["declarations"])]) {
      const name = nameOf(named["id"]);
      if (name !== undefined) declarations.set(name, named);
    }
  }
  return { declarations, imports };
}

function importsOf(statement: Node, file: string): readonly (readonly [string, Exported])[] {
  const source = isNode(statement["source"]) ? String(statement["source"]["value"]) : "";
  const from = source.startsWith(".") ? posix.join(posix.dirname(file), source) : source;
  return nodesOf(statement["specifiers"]).flatMap((specifier) => {
    const [local, name] = [nameOf(specifier["local"]), nameOf(specifier["imported"])];
    return local === undefined || name === undefined ? [] : [[local, { name, isType: true, from }] as const];
  });
}

/** The names of types in a signature. */
function* typesIn(node: Node): Generator<string> {
  if (isHidden(node)) return;
  if (node.type === "TSTypeReference") yield* namesIn(node["typeName"]);
  if (node.type === "TSInterfaceHeritage" || node.type === "TSClassImplements") yield* namesIn(node["expression"]);
  for (const [field, value] of Object.entries(node)) {
    if (field === "body" && !/Class|Interface/.test(node.type)) continue; // of a function
    if (field === "init" || field === "value") {
      if (isNode(value) && /Function/.test(value.type)) yield* typesIn({ ...value, body: undefined });
      continue;
    }
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* typesIn(child);
  }
}

function isHidden(node: Node): boolean {
  const key = node["key"];
  return node["accessibility"] === "private" || (isNode(key) && key.type === "PrivateIdentifier");
}

function* namesIn(value: unknown): Generator<string> {
  const name = nameOf(value);
  if (name !== undefined) yield name;
}

function nameOf(value: unknown): string | undefined {
  return isNode(value) && typeof value["name"] === "string" ? value["name"] : undefined;
}

function nodesOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

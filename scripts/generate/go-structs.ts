/**
 * Reads the parts of Kubernetes' Go API types that OpenAPI does not have: the order of fields, which are pointers, which are written even
 * when empty, and the Go names in error messages.
 *
 * Not a Go parser: it relies only on gofmt, which writes every field on its own line.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type GoField = { readonly json: string; readonly options: readonly string[]; readonly type: string; readonly inlined?: string };
type GoPackage = { readonly name: string; readonly structs: Map<string, GoField[]>; readonly named: Map<string, string> };

const FIELD = /^\t(?:(\w+)\s+)?([\w.*[\]]+)\s+`[^`]*?json:"([^"]*)"/;
const STRUCT = /^type (\w+) struct \{/;
const NAMED = /^type (\w+) ([\w.*[\]]+)(?:\s*\/\/.*)?$/;

/** The folders of the packages of OpenAPI definitions in the module cache. */
export type GoModules = { readonly cache: string; readonly version: string };

/** One line per struct: "core.v1.Container name! image command …"; see go-structs.ts in builtin-kinds for the marks. */
export function describeGoStructs(definitions: readonly string[], modules: GoModules): readonly string[] {
  const packages = new Map<string, GoPackage>();
  const structNames = new Set(definitions.map((definition) => definition.slice(definition.lastIndexOf(".") + 1)));
  return definitions.flatMap((definition) => {
    const dot = definition.lastIndexOf(".");
    const folder = folderOf(definition.slice(0, dot), modules);
    if (folder === undefined) return [];
    const known = packages.get(folder) ?? readPackage(folder);
    packages.set(folder, known);
    const fields = known.structs.get(definition.slice(dot + 1));
    if (fields === undefined) return [];
    const words = flatten(known, fields).map((field) => describeField(known, field, structNames));
    return words.length === 0 ? [] : [`${definition.replace(/^io\.k8s\.api\./, "")} ${words.join(" ")}`];
  });
}

function folderOf(name: string, { cache, version }: GoModules): string | undefined {
  const parts = name.split(".").slice(2);
  const [first = "", ...rest] = parts;
  const folder = first === "api" ? join(cache, `k8s.io/api@${version}`, ...rest) : join(cache, `k8s.io/${first}@${version}`, ...rest);
  return existsSync(folder) ? folder : undefined;
}

function readPackage(folder: string): GoPackage {
  const files = readdirSync(folder).filter((file) => file.endsWith(".go") && !/_test\.go$|^zz_|\.pb\.go$|swagger/.test(file));
  const read: GoPackage = { name: folder.split("/").at(-1) ?? "", structs: new Map(), named: new Map() };
  for (const file of files) readFile(read, readFileSync(join(folder, file), "utf8"));
  return read;
}

function readFile(into: GoPackage, text: string): void {
  let open: GoField[] | undefined;
  for (const line of text.split("\n")) {
    const struct = STRUCT.exec(line)?.[1];
    if (struct !== undefined) into.structs.set(struct, (open = []));
    else if (line === "}") open = undefined;
    else if (open === undefined) {
      const [, name, type] = NAMED.exec(line) ?? [];
      if (name !== undefined && type !== undefined) into.named.set(name, type);
    } else {
      const [, , type, tag] = FIELD.exec(line) ?? [];
      const [json = "", ...options] = (tag ?? "-").split(",");
      if (type !== undefined && json !== "-") open.push({ json, options, type });
    }
  }
}

/** Fields of inlined structs belong to the containing struct; those of TypeMeta are from another package. */
function flatten(from: GoPackage, fields: readonly GoField[]): readonly GoField[] {
  return fields.flatMap((field) => {
    if (field.json !== "") return [field];
    if (field.type.endsWith("TypeMeta")) {
      return ["kind", "apiVersion"].map((json) => ({ json, options: ["omitempty"], type: "string", inlined: "TypeMeta" }));
    }
    return flatten(from, from.structs.get(field.type) ?? []).map((inner) => ({
      ...inner,
      inlined: inner.inlined === undefined ? field.type : `${field.type}.${inner.inlined}`,
    }));
  });
}

const PLAIN = new Set(["string", "bool", "int32", "int64", "float64", "[]string", "[]byte", "map[string]string", "map[string][]byte"]);

function describeField(from: GoPackage, { json, options, type, inlined }: GoField, structs: ReadonlySet<string>): string {
  const bare = type.replace(/^\*/, "");
  const marks = [
    options.includes("omitempty") ? "" : "!",
    options.includes("omitzero") ? "~" : "",
    type.startsWith("*") ? "*" : "",
    inlined === undefined || inlined === "TypeMeta" ? "" : `^${inlined}`,
    isStructOrPlain(bare, structs) ? "" : `:${qualified(from, bare)}`,
  ];
  return json + marks.join("");
}

/** Their Go name follows from the OpenAPI type. */
function isStructOrPlain(type: string, structs: ReadonlySet<string>): boolean {
  const element = type.replace(/^\[\]/, "").replace(/^.*\./, "");
  return PLAIN.has(type) || structs.has(element);
}

function qualified(from: GoPackage, type: string): string {
  return type.replace(/\b(metav1|corev1|apiv1|v1)\./g, "v1.").replaceAll(/(?<![\w.])([A-Z]\w*)/g, `${from.name}.$1`);
}

/**
 * The table of built-in kinds: one line per definition, one line per field, decoded one definition at a time, on demand.
 *
 *     core.v1.ContainerPort
 *      containerPort! i32'
 *      protocol s e=SCTP,TCP,UDP ="TCP"
 *
 * A field line is: name ("!" if required), type, rules, default. Types: s i32 i64 int num f64 b byte any obj, @Ref, [T] list, {T} map,
 * each with ' for the zero default that Kubernetes gives it. Anything else is written as JSON, after "~".
 */
import { isObject, type Json, type JsonObject, type MutableObject } from "../json.ts";

/** The prefix that is added to names without "io.k8s.". */
const HOME = "io.k8s.api.";

function longName(name: string): string {
  return name.startsWith("io.") ? name : HOME + name;
}

export function shortName(name: string): string {
  return name.startsWith(HOME) ? name.slice(HOME.length) : name;
}

/** Definitions by their full names; the schemas are OpenAPI v3 without prose. */
export type Table = {
  names(): readonly string[];
  definition(name: string): JsonObject | undefined;
  /** Definitions that are kinds, each with its kinds as "group/version/Kind"; nothing else of them is decoded. */
  kinds(): readonly (readonly [name: string, kinds: readonly string[]])[];
};

/** An empty line, the name of a definition, and its kinds. */
const HEAD = /\n\n(\S+)((?: [^~\s]\S*)*)/g;

/** Definitions are searched in the text on demand: most programs need few of them, and splitting the whole text takes longer. */
export function readTable(text: string): Table {
  const blocks = `\n\n${text}`;
  const decoded = new Map<string, JsonObject>();
  const heads = () => [...blocks.matchAll(HEAD)].map(([, name = "", kinds = ""]) => [longName(name), kinds] as const);
  return {
    names: () => heads().map(([name]) => name),
    kinds: () => heads().flatMap(([name, kinds]) => (kinds === "" ? [] : [[name, kinds.slice(1).split(" ")] as const])),
    definition(name) {
      const known = decoded.get(name);
      if (known !== undefined) return known;
      const block = blockOf(blocks, name);
      if (block === undefined) return undefined;
      const made = decodeDefinition(block);
      decoded.set(name, made);
      return made;
    },
  };
}

function blockOf(blocks: string, name: string): string | undefined {
  const start = `\n\n${shortName(name)}`;
  for (let at = blocks.indexOf(start); at >= 0 && name.startsWith("io."); at = blocks.indexOf(start, at + 1)) {
    const end = blocks.indexOf("\n\n", at + start.length);
    // another definition's name may have this one as a prefix
    if (/^(?:\s|$)/.test(blocks.charAt(at + start.length))) return blocks.slice(at + "\n\n".length, end < 0 ? undefined : end);
  }
  return undefined;
}

/** The first line of a definition may list its kinds (group/version/Kind) and, as JSON, other keywords; without them it is an object. */
function decodeDefinition(block: string): JsonObject {
  const { kinds, special } = headOf(block);
  const [, ...lines] = block.split("\n");
  const definition: MutableObject = special === undefined ? { type: "object" } : decodeSpecial(JSON.parse(special) as JsonObject);
  const fields = lines.map(decodeFieldLine);
  if (fields.length > 0) definition["properties"] = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  if (required.length > 0) definition["required"] = required;
  if (kinds.length > 0) definition["x-kubernetes-group-version-kind"] = kinds.map(decodeKind);
  return definition;
}

function headOf(block: string): { readonly kinds: readonly string[]; readonly special: string | undefined } {
  const end = block.indexOf("\n");
  const [head = "", special] = (end < 0 ? block : block.slice(0, end)).split(" ~");
  return { kinds: head.split(" ").slice(1), special };
}

/** A definition with only extensions is an object. */
function decodeSpecial(special: JsonObject): MutableObject {
  const names = Object.keys(special);
  return names.length > 0 && names.every((name) => name.startsWith("x-")) ? { type: "object", ...special } : { ...special };
}

function decodeKind(word: string): JsonObject {
  const [group = "", version = "", kind = ""] = word.split("/");
  return { group, kind, version };
}

function decodeFieldLine(line: string): { readonly name: string; readonly required: boolean; readonly schema: JsonObject } {
  const [marked = "", ...rest] = line.slice(1).split(" ");
  const required = marked.endsWith("!");
  return { name: required ? marked.slice(0, -1) : marked, required, schema: decodeField(rest.join(" ")) };
}

/** A field's schema from everything after its name. */
export function decodeField(text: string): JsonObject {
  if (text.startsWith("~")) return JSON.parse(text.slice(1)) as JsonObject;
  const at = text.indexOf(" =");
  const words = (at < 0 ? text : text.slice(0, at)).split(" ");
  const schema: MutableObject = { ...decodeType(words[0] ?? "") };
  if (at >= 0) schema["default"] = JSON.parse(text.slice(at + 2)) as Json;
  for (const word of words.slice(1)) addRule(schema, word[0] ?? "", word.slice(2));
  return schema;
}

function addRule(schema: MutableObject, letter: string, value: string): void {
  if (letter === "e") schema["enum"] = value.split(",");
  else if (letter === "p") schema["x-kubernetes-patch-strategy"] = value;
  else if (letter === "k") schema["x-kubernetes-patch-merge-key"] = value;
  else if (letter === "l") schema["x-kubernetes-list-type"] = value;
  else if (letter === "m") schema["x-kubernetes-list-map-keys"] = value.split(",");
  else if (letter === "t") schema["x-kubernetes-map-type"] = value;
}

const SCALARS: ReadonlyMap<string, { readonly schema: JsonObject; readonly zero: Json }> = new Map([
  ["s", { schema: { type: "string" }, zero: "" }],
  ["i32", { schema: { type: "integer", format: "int32" }, zero: 0 }],
  ["i64", { schema: { type: "integer", format: "int64" }, zero: 0 }],
  ["int", { schema: { type: "integer" }, zero: 0 }],
  ["num", { schema: { type: "number" }, zero: 0 }],
  ["f64", { schema: { type: "number", format: "double" }, zero: 0 }],
  ["b", { schema: { type: "boolean" }, zero: false }],
  ["byte", { schema: { type: "string", format: "byte" }, zero: "" }],
  ["any", { schema: {}, zero: {} }],
  ["obj", { schema: { type: "object" }, zero: {} }],
]);

export const SCALAR_NAMES = [...SCALARS.keys()];

export function decodeType(token: string): JsonObject {
  const zeroed = token.endsWith("'");
  const bare = zeroed ? token.slice(0, -1) : token;
  const inner = bare.slice(1, -1);
  if (bare.startsWith("[")) return { type: "array", items: decodeType(inner) };
  if (bare.startsWith("{")) return { type: "object", additionalProperties: decodeType(inner) };
  if (bare.startsWith("@")) return decodeReference(bare.slice(1), zeroed);
  const scalar = SCALARS.get(bare);
  return zeroed ? { ...scalar?.schema, default: scalar?.zero ?? null } : { ...scalar?.schema };
}

/** A `$ref` cannot have a default beside it, so such a reference is wrapped. "@@" is a reference that is not wrapped. */
function decodeReference(name: string, zeroed: boolean): JsonObject {
  const reference = { $ref: `#/components/schemas/${longName(name.startsWith("@") ? name.slice(1) : name)}` };
  if (name.startsWith("@")) return reference;
  return zeroed ? { allOf: [reference], default: {} } : { allOf: [reference] };
}

/** How often each `x-kubernetes-` extension occurs; equal in a table and its source. */
export function countExtensions(value: unknown, counts: Map<string, number> = new Map()): Map<string, number> {
  if (Array.isArray(value)) for (const item of value) countExtensions(item, counts);
  else if (isObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      if (name.startsWith("x-kubernetes-")) counts.set(name, (counts.get(name) ?? 0) + 1);
      countExtensions(field, counts);
    }
  }
  return counts;
}

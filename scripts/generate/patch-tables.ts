/**
 * Writes src/patch/generated/builtin-table.ts: the schemas of the built-in kinds, from the OpenAPI documents of a kube-apiserver, and
 * src/kube-server/discovery/generated/meta-descriptions.ts: the descriptions of object metadata.
 *
 *   node scripts/generate/patch-tables.ts                            from the OpenAPI document recorded beside the clone, if available
 *   node scripts/generate/patch-tables.ts FILE.json[.gz]             every document of /openapi/v3, keyed by its path
 *   node scripts/generate/patch-tables.ts http://127.0.0.1:8001      a running server (`kubectl proxy`)
 *
 * Without a source the committed table is kept. The table must decode to its input, or nothing is written.
 */
import { readFileSync, existsSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { countExtensions, decodeField, decodeType, readTable, SCALAR_NAMES, shortName } from "../../src/patch/schema/table.ts";

type Schema = { readonly [field: string]: unknown };
type Documents = Readonly<Record<string, { readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> } }>>;

const TARGET = new URL("../../src/patch/generated/builtin-table.ts", import.meta.url);
const DESCRIPTIONS = new URL("../../src/kube-server/discovery/generated/meta-descriptions.ts", import.meta.url);
const SHARED = new URL("../../../shared/kube/openapi-v3.json.gz", import.meta.url);
const KINDS = "x-kubernetes-group-version-kind";

/** True when the table was written; false when there was no source to write it from. */
export async function generatePatchTables(source?: string): Promise<boolean> {
  if (source === undefined && !existsSync(SHARED)) {
    console.log("patch tables: no source (no recorded document, no file or URL given); the committed table is left as it is");
    return false;
  }
  const documents = source?.startsWith("http") ? await fetchDocuments(source) : readDocuments(source ?? SHARED);
  const schemas = collectSchemas(documents);
  const table = encodeTable(schemas);
  assertSame(schemas, table);
  const descriptions = describeMetadata(documents);
  if (descriptions === undefined) console.log("patch tables: the source has no descriptions; the committed ones are left as they are");
  else writeFileSync(DESCRIPTIONS, descriptionsText(descriptions));
  writeFileSync(TARGET, moduleText(table, countExtensions(Object.fromEntries(schemas))));
  console.log(`patch tables: ${schemas.size} definitions, ${Math.round(table.length / 1024)} KiB`);
  return true;
}

function readDocuments(file: string | URL): Documents {
  const bytes = readFileSync(file);
  const text = bytes[0] === 0x1f ? gunzipSync(bytes).toString("utf8") : bytes.toString("utf8");
  return JSON.parse(text) as Documents;
}

async function fetchDocuments(server: string): Promise<Documents> {
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(new URL(path, server));
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
    return response.json();
  };
  const { paths } = (await get("/openapi/v3")) as { readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> };
  const entries = Object.entries(paths).map(async ([path, { serverRelativeURL }]) => [path, await get(serverRelativeURL)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Documents;
}

/**
 * All definitions of all documents. Definitions that every document repeats (DeleteOptions) list only the kinds of that document: they are
 * merged.
 */
function collectSchemas(documents: Documents): Map<string, Schema> {
  const found = new Map<string, Schema>();
  for (const document of Object.values(documents)) {
    for (const [name, raw] of Object.entries(document.components?.schemas ?? {})) {
      const schema = withoutProse(raw) as Schema;
      const before = found.get(name);
      found.set(name, before === undefined ? schema : unite(name, before, schema));
    }
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function unite(name: string, a: Schema, b: Schema): Schema {
  const { [KINDS]: kindsA = [], ...restA } = a;
  const { [KINDS]: kindsB = [], ...restB } = b;
  if (!isDeepStrictEqual(restA, restB)) throw new Error(`${name} differs between two documents`);
  const kinds = new Map([...(kindsA as Schema[]), ...(kindsB as Schema[])].map((kind) => [kindText(kind), kind]));
  return kinds.size === 0 ? a : { ...restA, [KINDS]: [...kinds].toSorted(([x], [y]) => (x < y ? -1 : 1)).map(([, kind]) => kind) };
}

/** Removes descriptions, but not a *field* of that name (CRDs have one): a description is a string, a field is a schema. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name, field]) => name !== "description" || typeof field !== "string");
  return Object.fromEntries(kept.map(([name, field]) => [name, name === "default" ? field : withoutProse(field)]));
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const DESCRIBED = ["FieldsV1", "ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "Time"].map((name) => `${META}.${name}`);

type Descriptions = Readonly<Record<string, { readonly description: string; readonly fields: Readonly<Record<string, string>> }>>;

/** Every custom resource has these fields, and `kubectl explain` shows them; all other prose would be 650 KiB. Undefined: the source has none. */
function describeMetadata(documents: Documents): Descriptions | undefined {
  const schemas = documents["api/v1"]?.components?.schemas ?? {};
  const described = DESCRIBED.map((name) => {
    const { description, properties = {} } = schemas[name] ?? {};
    const fields = Object.entries(properties as Record<string, Schema>).map(([field, schema]) => [field, text(schema["description"])]);
    return [name, { description: text(description), fields: Object.fromEntries(fields) }] as const;
  });
  return described.every(([, { description }]) => description !== "") ? Object.fromEntries(described) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function descriptionsText(descriptions: Descriptions): string {
  return `/** Generated by scripts/generate/patch-tables.ts from Kubernetes' OpenAPI documents (Apache-2.0). Do not edit. */
export type Described = { readonly description: string; readonly fields: Readonly<Record<string, string>> };

export const META_DESCRIPTIONS: Readonly<Record<string, Described>> = ${JSON.stringify(descriptions, null, 2)};
`;
}

function encodeTable(schemas: ReadonlyMap<string, Schema>): string {
  return [...schemas].map(([name, schema]) => encodeDefinition(name, schema)).join("\n\n");
}

function encodeDefinition(name: string, schema: Schema): string {
  const { properties = {}, required = [], [KINDS]: kinds = [], ...rest } = schema;
  const { type, ...more } = rest;
  const extra = type !== "object" ? rest : more;
  const words = Object.keys(extra).length === 0 && type === "object" ? [] : [`~${JSON.stringify(extra)}`];
  const head = [shortName(name), ...(kinds as Schema[]).map(kindText), ...words].join(" ");
  const fields = Object.entries(properties as Record<string, Schema>).map(([field, raw]) => {
    return ` ${field}${(required as string[]).includes(field) ? "!" : ""} ${encodeField(raw)}`;
  });
  return [head, ...fields].join("\n");
}

function kindText(kind: Schema): string {
  return `${String(kind["group"])}/${String(kind["version"])}/${String(kind["kind"])}`;
}

const RULES = [
  ["enum", "e"],
  ["x-kubernetes-patch-strategy", "p"],
  ["x-kubernetes-patch-merge-key", "k"],
  ["x-kubernetes-list-type", "l"],
  ["x-kubernetes-list-map-keys", "m"],
  ["x-kubernetes-map-type", "t"],
] as const;

/** The short form when it decodes to the same schema, JSON otherwise. */
function encodeField(schema: Schema): string {
  const type = { ...schema } as Record<string, unknown>;
  const rules: string[] = [];
  for (const [name, letter] of RULES) {
    if (name in type) rules.push(`${letter}=${[type[name]].flat().join(",")}`);
    delete type[name];
  }
  const token = encodeType(type);
  const candidates = [[token, ...rules].join(" ")];
  if ("default" in type) {
    const { default: value, ...bare } = type;
    candidates.push(`${[encodeType(bare), ...rules].join(" ")} =${JSON.stringify(value)}`);
  }
  return candidates.find((text) => !text.includes("?") && isDeepStrictEqual(decodeField(text), schema)) ?? `~${JSON.stringify(schema)}`;
}

/** "?" where there is no short form. */
function encodeType(schema: Schema): string {
  const { items, additionalProperties } = schema as { items?: Schema; additionalProperties?: Schema };
  const [wrapped] = (schema["allOf"] ?? []) as Schema[];
  const reference = schema["$ref"] ?? wrapped?.["$ref"];
  const names = [
    ...SCALAR_NAMES,
    ...(items === undefined ? [] : [`[${encodeType(items)}]`]),
    ...(additionalProperties === undefined ? [] : [`{${encodeType(additionalProperties)}}`]),
    ...(typeof reference === "string" ? ["@", "@@"].map((at) => at + shortName(reference.replace("#/components/schemas/", ""))) : []),
  ];
  const tokens = names.flatMap((name) => [name, `${name}'`]);
  return tokens.find((token) => !token.includes("?") && isDeepStrictEqual({ ...decodeType(token) }, schema)) ?? "?";
}

function assertSame(schemas: ReadonlyMap<string, Schema>, text: string): void {
  const table = readTable(text);
  const decoded = Object.fromEntries(table.names().map((name) => [name, table.definition(name)]));
  for (const [name, schema] of schemas) {
    const [want, got] = [inOrder(schema), inOrder(decoded[name] ?? {})];
    if (!isDeepStrictEqual(got, want))
      throw new Error(`${name} does not survive the table:\n${JSON.stringify(want)}\n${JSON.stringify(got)}`);
  }
  const before = countExtensions(Object.fromEntries(schemas));
  if (!isDeepStrictEqual(countExtensions(decoded), before)) throw new Error("the table has lost extensions");
}

/** The order of required fields has no meaning, and the table does not keep it. */
function inOrder(schema: Schema): Schema {
  const required = schema["required"];
  return Array.isArray(required) ? { ...schema, required: required.map(String).toSorted((a, b) => (a < b ? -1 : 1)) } : schema;
}

function moduleText(table: string, counts: ReadonlyMap<string, number>): string {
  const counted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
  if (/`|\$\{/.test(table)) throw new Error("the table has a character that its module cannot contain");
  return `/**
 * Generated by scripts/generate/patch-tables.ts from Kubernetes' OpenAPI documents (Apache-2.0). Do not edit.
 * schema/table.ts says how to read it. Extensions in it: ${counted.join(", ")}.
 */
export const BUILTIN_TABLE = String.raw\`${table}\`;
`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await generatePatchTables(process.argv[2]);

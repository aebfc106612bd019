/**
 * The Go types of the built-in kinds, built from #patch's OpenAPI definitions and facts that OpenAPI does not contain:
 * pointers, fields that are written even when empty, Go's names, and the order of fields.
 *
 * Read from generated/go-structs.ts, a line per struct. Behind a field's name: "!" written when empty, "~" left out when zero though a
 * struct, "*" pointer, "^Name" comes from an inlined struct, ":type" its Go type where that does not follow from OpenAPI.
 */
import { memoize, once } from "#base";
import { field, isJsonObject, type JsonObject } from "#kube";
import { builtinDefinition } from "#patch";
import { GO_STRUCTS } from "../generated/go-structs.ts";

export type ScalarKind = "string" | "bool" | "int32" | "int64" | "float64" | "bytes" | "time" | "microTime" | "quantity" | "intOrString";

export type GoType =
  | { readonly kind: ScalarKind; readonly go: string }
  /** Any JSON, kept as it came. */
  | { readonly kind: "any"; readonly go: string }
  | { readonly kind: "list" | "map"; readonly go: string; readonly element: GoType }
  | {
      readonly kind: "struct";
      readonly go: string;
      readonly name: string;
      readonly definition: string;
      readonly fields: () => ReadonlyMap<string, GoField>;
    };

export type GoField = {
  readonly name: string;
  readonly type: GoType;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** The inlined struct it comes from: part of the path in error messages. */
  readonly inlined: string | undefined;
};

type Mark = Omit<GoField, "type"> & { readonly go: string | undefined };

const MARKED = /^([^!~*^:]+)(!?)(~?)(\*?)(?:\^([\w.]+))?(?::(.+))?$/;
const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const SPECIAL: ReadonlyMap<string, ScalarKind> = new Map([
  [`${META}Time`, "time"],
  [`${META}MicroTime`, "microTime"],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "intOrString"],
]);

/** The Go type of an OpenAPI definition ("io.k8s.api.core.v1.Pod"). There are fewer than half as many definitions. */
export const goTypeOf = memoize({ limit: 4_000 }, (definition: string): GoType => {
  const name = definition.slice(definition.lastIndexOf(".") + 1);
  const go = definition.split(".").slice(-2).join(".");
  const special = SPECIAL.get(definition);
  if (special !== undefined) return { kind: special, go };
  const marks = marksOf(definition);
  if (marks === undefined && field(builtinDefinition(definition), "properties") === undefined) return { kind: "any", go };
  return { kind: "struct", go, name, definition, fields: once(() => fieldsOf(definition, marks ?? [])) };
});

function marksOf(definition: string): readonly Mark[] | undefined {
  return lineOf(definition.replace(/^io\.k8s\.api\./, ""))
    ?.split(" ")
    .slice(1)
    .map(readMark);
}

/** Searched linearly: a starting server needs few of nine hundred entries, each once. */
function lineOf(struct: string): string | undefined {
  const start = GO_STRUCTS.startsWith(`${struct} `) ? 0 : GO_STRUCTS.indexOf(`\n${struct} `) + 1;
  if (start === 0 && !GO_STRUCTS.startsWith(`${struct} `)) return undefined;
  const end = GO_STRUCTS.indexOf("\n", start);
  return GO_STRUCTS.slice(start, end === -1 ? undefined : end);
}

function readMark(word: string): Mark {
  const [, name = word, always, zero, pointer, inlined, go] = MARKED.exec(word) ?? [];
  return { name, omitEmpty: always !== "!", omitZero: zero === "~", pointer: pointer === "*", inlined, go };
}

function fieldsOf(definition: string, marks: readonly Mark[]): ReadonlyMap<string, GoField> {
  const properties = field(builtinDefinition(definition), "properties");
  return new Map(
    marks.map(({ go, ...mark }) => {
      const schema = field(properties, mark.name);
      return [mark.name, { ...mark, type: typeOfSchema(isJsonObject(schema) ? schema : {}, go) }];
    }),
  );
}

function typeOfSchema(schema: JsonObject, go: string | undefined): GoType {
  const all = field(schema, "allOf");
  const ref = field(schema, "$ref") ?? (Array.isArray(all) ? field(all[0], "$ref") : undefined);
  if (typeof ref === "string") return goTypeOf(ref.slice(ref.lastIndexOf("/") + 1));
  const items = field(schema, "items");
  const values = field(schema, "additionalProperties");
  if (isJsonObject(items)) return listOrMap("list", "[]", items, go);
  if (isJsonObject(values)) return listOrMap("map", "map[string]", values, go);
  const kind = scalarOf(schema);
  return kind === undefined ? { kind: "any", go: go ?? "interface {}" } : { kind, go: go ?? (kind === "bytes" ? "[]uint8" : kind) };
}

function listOrMap(kind: "list" | "map", prefix: string, inner: JsonObject, go: string | undefined): GoType {
  const inside = go?.startsWith(prefix) === true ? go.slice(prefix.length) : undefined;
  const element = typeOfSchema(inner, inside);
  return { kind, go: go ?? `${prefix}${element.go}`, element };
}

function scalarOf(schema: JsonObject): ScalarKind | undefined {
  const format = field(schema, "format");
  switch (field(schema, "type")) {
    case "string":
      return format === "byte" ? "bytes" : format === "date-time" ? "time" : "string";
    case "boolean":
      return "bool";
    case "integer":
      return format === "int32" ? "int32" : "int64";
    case "number":
      return "float64";
    default:
      return undefined;
  }
}

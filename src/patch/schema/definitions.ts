/**
 * OpenAPI schemas (v2, v3 and the structural schemas of CRDs) as one small tree of nodes, created on demand.
 *
 * References are resolved only when they are followed: JSONSchemaProps refers to itself.
 */
import { once } from "#base";
import { fieldOf, isList, isObject, type JsonObject } from "../json.ts";
import type { ListType } from "./port.ts";

export type SchemaNode =
  | { readonly kind: "object"; readonly path: string; readonly fields: ReadonlyMap<string, SchemaField> }
  | { readonly kind: "map"; readonly path: string; readonly values: () => SchemaNode }
  | { readonly kind: "list"; readonly path: string; readonly items: () => SchemaNode }
  | { readonly kind: "scalar"; readonly path: string; readonly type: string; readonly format: string }
  | { readonly kind: "reference"; readonly path: string; readonly target: string; readonly resolve: () => SchemaNode }
  /** Any value. */
  | { readonly kind: "any"; readonly path: string };

export type SchemaField = {
  readonly node: () => SchemaNode;
  readonly patchStrategy: string | undefined;
  readonly mergeKey: string | undefined;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[] | undefined;
  readonly mapType: "atomic" | "granular" | undefined;
};

/** Finds a definition's raw schema by its full name. */
export type Definitions = (name: string) => JsonObject | undefined;

const REFERENCE = /^#\/(?:definitions|components\/schemas)\/(.+)$/;

export function parseNode(raw: JsonObject, path: string, definitions: Definitions): SchemaNode {
  const target = referenceOf(raw);
  if (target !== undefined) return { kind: "reference", path, target, resolve: once(() => definitionNode(target, definitions)) };
  const type = fieldOf(raw, "type");
  const properties = fieldOf(raw, "properties");
  if (type === "array") return { kind: "list", path, items: once(() => subNode(raw, "items", path, definitions)) };
  if (typeof type === "string" && type !== "object") return { kind: "scalar", path, type, format: text(raw, "format") ?? "" };
  if (isObject(properties)) return { kind: "object", path, fields: parseFields(properties, path, definitions) };
  if (type === undefined) return { kind: "any", path };
  return { kind: "map", path, values: once(() => subNode(raw, "additionalProperties", path, definitions)) };
}

export function definitionNode(name: string, definitions: Definitions): SchemaNode {
  const raw = definitions(name);
  return raw === undefined ? { kind: "any", path: name } : parseNode(raw, name, definitions);
}

/** OpenAPI v3 allows no other keywords beside a `$ref`, so Kubernetes wraps it: `allOf: [{$ref}]`. */
function referenceOf(raw: JsonObject): string | undefined {
  const direct = fieldOf(raw, "$ref");
  if (typeof direct === "string") return REFERENCE.exec(direct)?.[1] ?? direct;
  const allOf = fieldOf(raw, "allOf");
  const first = isList(allOf) ? allOf[0] : undefined;
  return isObject(first) && raw["properties"] === undefined ? referenceOf(first) : undefined;
}

function subNode(raw: JsonObject, name: string, path: string, definitions: Definitions): SchemaNode {
  const sub = fieldOf(raw, name);
  return isObject(sub) ? parseNode(sub, path, definitions) : { kind: "any", path };
}

function parseFields(properties: JsonObject, path: string, definitions: Definitions): ReadonlyMap<string, SchemaField> {
  const fields = new Map<string, SchemaField>();
  for (const [name, raw] of Object.entries(properties)) {
    if (isObject(raw)) fields.set(name, parseField(raw, `${path}.${name}`, definitions));
  }
  return fields;
}

function parseField(raw: JsonObject, path: string, definitions: Definitions): SchemaField {
  const listMapKeys = fieldOf(raw, "x-kubernetes-list-map-keys");
  return {
    node: once(() => parseNode(raw, path, definitions)),
    patchStrategy: text(raw, "x-kubernetes-patch-strategy"),
    mergeKey: text(raw, "x-kubernetes-patch-merge-key"),
    listType: oneOf(raw, "x-kubernetes-list-type", ["atomic", "set", "map"]),
    listMapKeys: isList(listMapKeys) ? listMapKeys.filter((key) => typeof key === "string") : undefined,
    mapType: oneOf(raw, "x-kubernetes-map-type", ["atomic", "granular"]),
  };
}

function text(raw: JsonObject, name: string): string | undefined {
  const value = fieldOf(raw, name);
  return typeof value === "string" ? value : undefined;
}

function oneOf<const T extends string>(raw: JsonObject, name: string, known: readonly T[]): T | undefined {
  const value = fieldOf(raw, name);
  return known.find((candidate) => candidate === value);
}

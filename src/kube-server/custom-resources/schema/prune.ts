/**
 * Pruning: fields that the schema does not declare are dropped, and their paths listed for fieldValidation.
 *
 * Surprise: under x-kubernetes-preserve-unknown-fields nothing is dropped at that level, but declared fields are still pruned inside.
 * apiVersion, kind and metadata of a resource are never pruned here.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { EMPTY_SCHEMA, valueSchema, type JsonSchema } from "./json-schema.ts";

export type Pruned = { readonly value: Json; readonly unknown: readonly string[] };

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);

/** `isResource`: the value is a whole resource (its metadata is not in the schema). */
export function prune(value: Json, schema: JsonSchema | undefined, isResource: boolean): Pruned {
  const unknown: string[] = [];
  const root = isResource ? { ...(schema ?? EMPTY_SCHEMA), embeddedResource: true } : schema;
  const pruned = pruneValue(value, root, { path: "", unknown });
  return { value: pruned, unknown: unknown.toSorted() };
}

type At = { readonly path: string; readonly unknown: string[] };

function pruneValue(value: Json, schema: JsonSchema | undefined, at: At): Json {
  if (schema?.preserveUnknownFields === true) return keepUnknown(value, schema, at);
  if (Array.isArray(value)) return mapItems(value, (item, position) => pruneValue(item, schema?.items, below(at, `[${position}]`)));
  return isJsonObject(value) ? pruneObject(value, schema, at) : value;
}

function pruneObject(value: JsonObject, schema: JsonSchema | undefined, at: At): JsonObject {
  return mapFields(value, (item, name) => {
    if (schema?.embeddedResource === true && META_FIELDS.has(name)) return item;
    const known = schema?.properties?.get(name);
    if (known !== undefined) return pruneValue(item, known, field(at, name));
    if (schema?.additionalProperties !== undefined) return pruneValue(item, valueSchema(schema), field(at, name));
    if (schema === undefined || !META_FIELDS.has(name) || at.path !== "") at.unknown.push(field(at, name).path);
    return undefined;
  });
}

function keepUnknown(value: Json, schema: JsonSchema, at: At): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : mapItems(value, (item, position) => keepUnknown(item, items, below(at, `[${position}]`)));
  }
  if (!isJsonObject(value)) return value;
  return mapFields(value, (item, name) => {
    if (schema.embeddedResource && META_FIELDS.has(name)) return item;
    const known = schema.properties?.get(name);
    if (known !== undefined) return pruneValue(item, known, field(at, name));
    return schema.additionalProperties === undefined ? item : pruneValue(item, valueSchema(schema), field(at, name));
  });
}

function field(at: At, name: string): At {
  return { ...at, path: at.path === "" ? name : `${at.path}.${name}` };
}

function below(at: At, suffix: string): At {
  return { ...at, path: `${at.path}${suffix}` };
}

/** Copies only what changed; undefined removes the field. */
export function mapFields(value: JsonObject, change: (item: Json, name: string) => Json | undefined): JsonObject {
  let changed = false;
  const entries: [string, Json][] = [];
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const next = change(item, name);
    if (next !== item) changed = true;
    if (next !== undefined) entries.push([name, next]);
  }
  return changed ? Object.fromEntries(entries) : value;
}

export function mapItems(value: readonly Json[], change: (item: Json, position: number) => Json): readonly Json[] {
  const next = value.map(change);
  return next.some((item, position) => item !== value[position]) ? next : value;
}

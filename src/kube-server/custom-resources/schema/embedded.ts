/**
 * Resources inside a custom resource (x-kubernetes-embedded-resource): their apiVersion, kind and metadata are decoded and checked
 * like those of any object.
 */
import { err, ok, type Result } from "#base";
import { dns1035LabelProblems, field, isJsonObject, pathSegmentProblems, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { invalid, required } from "../causes/causes.ts";
import { child, index, key, type CausePath } from "../causes/field-path.ts";
import { OBJECT_META } from "../decode/object-meta-shape.ts";
import { readShape } from "../../protocol/shapes.ts";
import { validateObjectMeta } from "../metadata/object-meta.ts";
import { schemaOfField, valueSchema, type JsonSchema } from "./json-schema.ts";
import { mapFields } from "./prune.ts";

export type Coerced = { readonly value: Json; readonly unknown: readonly string[] };

/** Normalises the metadata of embedded resources; its unknown fields are dropped and reported. */
export function coerceEmbedded(value: Json, schema: JsonSchema | undefined, path?: string): Result<Coerced, FieldCause> {
  const unknown: string[] = [];
  const coerced = coerce(value, schema, path, unknown);
  return coerced.ok ? ok({ value: coerced.value, unknown: unknown.toSorted() }) : coerced;
}

function coerce(value: Json, schema: JsonSchema | undefined, path: CausePath, unknown: string[]): Result<Json, FieldCause> {
  if (schema === undefined) return ok(value);
  if (Array.isArray(value)) return coerceItems(value, schema, path, unknown);
  return isJsonObject(value) ? coerceFields(value, schema, path, unknown) : ok(value);
}

function coerceItems(items: readonly Json[], schema: JsonSchema, path: CausePath, unknown: string[]): Result<Json, FieldCause> {
  const next: Json[] = [];
  for (const [position, item] of items.entries()) {
    const result = coerce(item, schema.items, index(path, position), unknown);
    if (!result.ok) return result;
    next.push(result.value);
  }
  return ok(next.every((item, position) => item === items[position]) ? items : next);
}

function coerceFields(value: JsonObject, schema: JsonSchema, path: CausePath, unknown: string[]): Result<Json, FieldCause> {
  let failure: FieldCause | undefined;
  const next = mapFields(value, (item, name) => {
    const result = schema.embeddedResource ? coerceMeta(item, name, path, unknown) : ok(item);
    const below = result.ok ? coerceBelow(result.value, schema, { path, name }, unknown) : result;
    if (!below.ok) failure ??= below.error;
    return below.ok ? below.value : item;
  });
  return failure === undefined ? ok(next) : err(failure);
}

type Place = { readonly path: CausePath; readonly name: string };

function coerceBelow(value: Json, schema: JsonSchema, at: Place, unknown: string[]): Result<Json, FieldCause> {
  const property = schema.properties?.get(at.name);
  if (property !== undefined) return coerce(value, property, child(at.path, at.name), unknown);
  return coerce(value, valueSchema(schema), key(at.path, at.name), unknown);
}

function coerceMeta(value: Json, name: string, path: CausePath, unknown: string[]): Result<Json, FieldCause> {
  if (name === "apiVersion" || name === "kind") {
    return typeof value === "string" ? ok(value) : err(invalid(child(path, name), value, "must be a string"));
  }
  if (name !== "metadata") return ok(value);
  const shaped = readShape(OBJECT_META, value);
  if (!shaped.ok) return err(invalid(child(path, "metadata"), value, shaped.error));
  unknown.push(...shaped.value.unknown.map((text) => `${child(path, "metadata")}.${text}`));
  return ok(shaped.value.value);
}

/** The rules for embedded resources anywhere below. `isResource`: the value itself is one. */
export function validateEmbedded(path: CausePath, value: Json, schema: JsonSchema | undefined, isResource: boolean): readonly FieldCause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) =>
      validateEmbedded(index(path, at), item, schema.items, schema.items?.embeddedResource === true),
    );
  if (!isJsonObject(value)) return [];
  const own = isResource ? validateResource(path, value) : [];
  const below = Object.entries(value).flatMap(([name, item]) => {
    const known = schemaOfField(schema, name);
    const at = schema.properties?.has(name) === true ? child(path, name) : key(path, name);
    return validateEmbedded(at, item ?? null, known, known?.embeddedResource === true);
  });
  return [...own, ...below];
}

function validateResource(path: CausePath, value: JsonObject): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(value, name)) causes.push(required(child(path, name)));
  }
  causes.push(...validateApiVersion(path, field(value, "apiVersion")), ...validateKind(path, field(value, "kind")));
  const metadata = field(value, "metadata");
  return metadata === undefined ? causes : [...causes, ...validateMetadata(child(path, "metadata"), metadata)];
}

function validateApiVersion(path: CausePath, value: Json | undefined): readonly FieldCause[] {
  if (value === undefined) return [];
  const at = child(path, "apiVersion");
  if (typeof value !== "string") return [invalid(at, value, "must be a string")];
  if (value === "") return [invalid(at, value, "must not be empty")];
  return value.split("/").length > 2 ? [invalid(at, value, `unexpected GroupVersion string: ${value}`)] : [];
}

function validateKind(path: CausePath, value: Json | undefined): readonly FieldCause[] {
  if (value === undefined) return [];
  const at = child(path, "kind");
  if (typeof value !== "string") return [invalid(at, value, "must be a string")];
  if (value === "") return [invalid(at, value, "must not be empty")];
  const problems = dns1035LabelProblems(value.toLowerCase());
  return problems.length === 0 ? [] : [invalid(at, value, `may have mixed case, but should otherwise match: ${problems.join(",")}`)];
}

function validateMetadata(path: string, value: Json): readonly FieldCause[] {
  const shaped = readShape(OBJECT_META, value);
  if (!shaped.ok) return [invalid(path, value, shaped.error)];
  const meta = { ...shaped.value.value, name: field(shaped.value.value, "name") ?? "fakename" };
  return validateObjectMeta(meta, typeof field(meta, "namespace") === "string", pathSegmentProblems, path);
}

/**
 * Normalises a custom resource as a client sends it: metadata is decoded as that of every object, unknown fields are dropped and reported,
 * nulls without a meaning are removed, embedded resources are decoded too. Converted objects are treated the same.
 */
import { err, ok, type Result } from "#base";
import { depthExceeds, field, isJsonObject, MAX_DEPTH, goPlainText, type Json, type JsonObject, type KubeObject } from "#kube";
import type { Decoded } from "../../resource-type.ts";
import { describeCauses } from "../causes/causes.ts";
import { OBJECT_META } from "../decode/object-meta-shape.ts";
import { readShape } from "../../protocol/shapes.ts";
import { dropRefusedNulls } from "../schema/defaults.ts";
import { coerceEmbedded } from "../schema/embedded.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { prune } from "../schema/prune.ts";
import { goTypeOf } from "../validation/numbers.ts";

export type Coercion = {
  readonly schema: JsonSchema | undefined;
  readonly group: string;
  readonly kind: string;
  readonly preserveUnknownFields: boolean;
  /** For an apply nulls are not removed: those that it sets or leaves are validated. */
  readonly keepNulls?: boolean;
};

/** Objects of another kind keep their fields: validation will refuse them for their kind. */
export function coerceObject(raw: Json, coercion: Coercion): Result<Decoded, string> {
  if (!isJsonObject(raw)) return err(`json: cannot unmarshal ${goTypeOf(raw)} into Go value of type map[string]interface {}`);
  if (depthExceeds(raw, MAX_DEPTH)) return err("json: exceeded max depth");
  for (const name of ["kind", "apiVersion"]) {
    const value = field(raw, name);
    if (value !== undefined && typeof value !== "string")
      return err(`.${name} accessor error: ${goPlainText(value)} is of the type ${goTypeOf(value)}, expected string`);
  }
  const metadata = field(raw, "metadata");
  const meta = metadata === undefined ? undefined : readShape(OBJECT_META, metadata);
  if (meta !== undefined && !meta.ok) return err(meta.error);
  const shaped = isOwnKind(raw, coercion) ? shapeFields(raw, coercion) : ok({ value: raw, unknown: [] });
  if (!shaped.ok) return shaped;
  const unknown = [...(meta?.value.unknown.map((path) => `metadata.${path}`) ?? []), ...shaped.value.unknown];
  const object = { ...(shaped.value.value as JsonObject), ...(meta === undefined ? {} : { metadata: meta.value.value }) };
  return ok({ object: object as unknown as KubeObject, findings: unknown.map((path) => `unknown field "${path}"`) });
}

function isOwnKind(raw: JsonObject, { group, kind }: Coercion): boolean {
  const apiVersion = field(raw, "apiVersion");
  return field(raw, "kind") === kind && typeof apiVersion === "string" && apiVersion.startsWith(`${group}/`);
}

function shapeFields(
  raw: JsonObject,
  { schema, preserveUnknownFields, keepNulls = false }: Coercion,
): Result<{ readonly value: Json; readonly unknown: readonly string[] }, string> {
  const pruned = preserveUnknownFields ? { value: raw, unknown: [] } : prune(raw, schema, true);
  const plain = preserveUnknownFields || keepNulls ? pruned.value : dropRefusedNulls(pruned.value, schema);
  const coerced = coerceEmbedded(plain, schema);
  if (!coerced.ok) return err(describeCauses([coerced.error]));
  return ok({ value: coerced.value.value, unknown: [...pruned.unknown, ...coerced.value.unknown] });
}

/**
 * Defaulting: goes through an object along its Go type and gives every struct the defaults of its type, parents before children.
 *
 * Types without any default in or below them are passed over; which those are is found out once.
 */
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { builtinDefinition } from "#patch";
import type { GoField, GoType } from "../codec/go-types.ts";
import { canonicalQuantity } from "../codec/quantity-text.ts";
import { changed, copyOf, setField, type Draft } from "../draft.ts";
import { COMPUTED_DEFAULTS } from "./computed-defaults.ts";
import { FIELD_DEFAULTS } from "./field-defaults.ts";

type Struct = Extract<GoType, { readonly kind: "struct" }>;

export function withDefaults(type: GoType, object: KubeObject): KubeObject {
  return hasDefaults(type) ? changed(object, (draft) => fill(type, draft)) : object;
}

function fill(type: GoType, value: Json | undefined): void {
  if (!hasDefaults(type)) return;
  if (type.kind === "struct" && isJsonObject(value)) fillStruct(type, value);
  else if (type.kind === "list" && Array.isArray(value)) for (const item of value) fill(type.element, item);
  else if (type.kind === "map" && isJsonObject(value)) {
    if (type.go === RESOURCE_LIST) roundUp(value);
    else for (const item of Object.values(value)) fill(type.element, item);
  }
}

function fillStruct(type: Struct, draft: Draft): void {
  const fields = type.fields();
  for (const [name, value] of Object.entries(defaultsOf(type.definition))) {
    const known = fields.get(name);
    if (known !== undefined && isUnset(known, field(draft, name))) draft[name] = copyOf(value);
  }
  COMPUTED_DEFAULTS.get(shortName(type.definition))?.(draft);
  for (const known of fields.values()) {
    const value = field(draft, known.name);
    if (value !== undefined && value !== null) fill(known.type, value);
  }
}

/** A pointer is set even to zero; anything else is not. */
function isUnset(known: GoField, value: Json | undefined): boolean {
  return value === undefined || value === null || (!known.pointer && (value === "" || value === 0 || value === false));
}

function shortName(definition: string): string {
  return definition.replace(/^io\.k8s\.api\./, "");
}

const declared = new Map<string, JsonObject>();

/** Our table, and what Kubernetes declares in OpenAPI; there, zero values only say that a field is no pointer. */
function defaultsOf(definition: string): JsonObject {
  const known = declared.get(definition);
  if (known !== undefined) return known;
  const properties = field(builtinDefinition(definition), "properties");
  const found: Draft = {};
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const value = field(schema, "default");
    if ((typeof value === "string" && value !== "") || (typeof value === "number" && value !== 0) || value === true) found[name] = value;
  }
  const all = { ...found, ...FIELD_DEFAULTS.get(shortName(definition)) };
  declared.set(definition, all);
  return all;
}

const RESOURCE_LIST = "v1.ResourceList";
const FINER_THAN_MILLI = /[nu]$/;

/** Resource amounts finer than a thousandth are rounded up. */
function roundUp(amounts: Draft): void {
  for (const [name, value] of Object.entries(amounts)) {
    if (typeof value !== "string" || !FINER_THAN_MILLI.test(value)) continue;
    const unit = value.endsWith("n") ? 1_000_000n : 1_000n;
    const amount = BigInt(value.slice(0, -1));
    const rounded = canonicalQuantity(`${amount / unit + (amount % unit > 0n ? 1n : 0n)}m`);
    if (rounded.ok) setField(amounts, name, rounded.value);
  }
}

const memo = new Map<GoType, boolean>();

function hasDefaults(type: GoType): boolean {
  const known = memo.get(type);
  if (known !== undefined) return known;
  memo.set(type, false); // a type that holds itself has the defaults that it has elsewhere
  const has = findDefaults(type);
  memo.set(type, has);
  return has;
}

function findDefaults(type: GoType): boolean {
  if (type.kind === "map") return type.go === RESOURCE_LIST || hasDefaults(type.element);
  if (type.kind === "list") return hasDefaults(type.element);
  if (type.kind !== "struct") return false;
  const own = COMPUTED_DEFAULTS.has(shortName(type.definition)) || Object.keys(defaultsOf(type.definition)).length > 0;
  return own || [...type.fields().values()].some((known) => hasDefaults(known.type));
}

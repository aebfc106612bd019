/**
 * Defaulting: goes through an object along its Go type and gives every struct the defaults of its type, parents before children.
 *
 * Types without any defaults at any depth are skipped; the result of that check is cached. Values that have all their defaults are returned
 * without a copy.
 */
import { memoize, memoizeByObject } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { builtinDefinition } from "#patch";
import type { GoField, GoType } from "../codec/go-types.ts";
import { canonicalQuantity } from "../codec/quantity-text.ts";
import { asJson, copyOf, setField, type Draft } from "../draft.ts";
import { COMPUTED_DEFAULTS, type ComputeDefaults } from "./computed-defaults.ts";
import { FIELD_DEFAULTS } from "./field-defaults.ts";

type Struct = Extract<GoType, { readonly kind: "struct" }>;

/** `like` has its defaults: parts that are shared with it have them as well. */
export function withDefaults(type: GoType, object: KubeObject, like?: KubeObject): KubeObject {
  return filled(type, asJson(object), like === undefined ? undefined : asJson(like)) as unknown as KubeObject;
}

/** Returns the value itself if nothing was added. */
function filled(type: GoType, value: Json, like: Json | undefined): Json {
  if (value === like || !hasDefaults(type)) return value;
  if (type.kind === "struct" && isJsonObject(value)) return filledStruct(type, value, isJsonObject(like) ? like : undefined);
  if (type.kind === "list" && Array.isArray(value)) return filledItems(type.element, value, Array.isArray(like) ? like : []);
  if (type.kind !== "map" || !isJsonObject(value)) return value;
  return type.go === RESOURCE_LIST ? roundedUp(value) : filledValues(type.element, value);
}

function filledStruct(type: Struct, value: JsonObject, like: JsonObject | undefined): JsonObject {
  const { constants, compute, below } = planOf(type);
  let draft: Draft | undefined;
  for (const { known, constant } of constants) {
    if (isUnset(known, field(value, known.name))) (draft ??= { ...value })[known.name] = copyOf(constant);
  }
  if (compute !== undefined) compute((draft ??= { ...value }));
  for (const known of below) {
    const inner = field(draft ?? value, known.name);
    if (inner === undefined || inner === null) continue;
    const next = filled(known.type, inner, like?.[known.name]);
    if (next !== inner) (draft ??= { ...value })[known.name] = next;
  }
  return draft ?? value;
}

function filledItems(element: GoType, value: readonly Json[], like: readonly Json[]): readonly Json[] {
  let copy: Json[] | undefined;
  for (const [index, item] of value.entries()) {
    const next = filled(element, item, like[index]);
    if (next !== item) (copy ??= [...value])[index] = next;
  }
  return copy ?? value;
}

function filledValues(element: GoType, value: JsonObject): JsonObject {
  let copy: Draft | undefined;
  for (const [name, item] of Object.entries(value)) {
    const next = item === undefined ? undefined : filled(element, item, undefined);
    if (next !== item) setField((copy ??= { ...value }), name, next);
  }
  return copy ?? value;
}

/** What is to be done for a struct, without what only other structs need. */
type Plan = {
  readonly constants: readonly { readonly known: GoField; readonly constant: Json }[];
  readonly compute: ComputeDefaults | undefined;
  readonly below: readonly GoField[];
};

const planOf = memoizeByObject((type: Struct): Plan => {
  const fields = type.fields();
  const constants = Object.entries(defaultsOf(type.definition)).flatMap(([name, constant]) => {
    const known = fields.get(name);
    return known === undefined || constant === undefined ? [] : [{ known, constant }];
  });
  const below = [...fields.values()].filter((known) => hasDefaults(known.type));
  return { constants, compute: COMPUTED_DEFAULTS.get(shortName(type.definition)), below };
});

/** A pointer is set even to zero; anything else is not. */
function isUnset(known: GoField, value: Json | undefined): boolean {
  return value === undefined || value === null || (!known.pointer && (value === "" || value === 0 || value === false));
}

function shortName(definition: string): string {
  return definition.replace(/^io\.k8s\.api\./, "");
}

/** The table of this folder and the defaults in OpenAPI; a zero value there only means that a field is not a pointer. */
const defaultsOf = memoize({ limit: 4_000 }, (definition: string): JsonObject => {
  const properties = field(builtinDefinition(definition), "properties");
  const found: Draft = {};
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const value = field(schema, "default");
    if ((typeof value === "string" && value !== "") || (typeof value === "number" && value !== 0) || value === true) found[name] = value;
  }
  return { ...found, ...FIELD_DEFAULTS.get(shortName(definition)) };
});

const RESOURCE_LIST = "v1.ResourceList";
const FINER_THAN_MILLI = /[nu]$/;

/** Resource amounts finer than a thousandth are rounded up. */
function roundedUp(amounts: JsonObject): JsonObject {
  let copy: Draft | undefined;
  for (const [name, value] of Object.entries(amounts)) {
    if (typeof value !== "string" || !FINER_THAN_MILLI.test(value)) continue;
    const unit = value.endsWith("n") ? 1_000_000n : 1_000n;
    const amount = BigInt(value.slice(0, -1));
    const rounded = canonicalQuantity(`${amount / unit + (amount % unit > 0n ? 1n : 0n)}m`);
    if (rounded.ok) setField((copy ??= { ...amounts }), name, rounded.value);
  }
  return copy ?? amounts;
}

/** A recursive reference adds no defaults. */
const hasDefaults: (type: GoType) => boolean = memoizeByObject(findDefaults, false);

function findDefaults(type: GoType): boolean {
  if (type.kind === "map") return type.go === RESOURCE_LIST || hasDefaults(type.element);
  if (type.kind === "list") return hasDefaults(type.element);
  if (type.kind !== "struct") return false;
  const own = COMPUTED_DEFAULTS.has(shortName(type.definition)) || Object.keys(defaultsOf(type.definition)).length > 0;
  return own || [...type.fields().values()].some((known) => hasDefaults(known.type));
}

/**
 * Converts a zod schema to the schema of a CRD: OpenAPI 3.0, structural as Kubernetes requires.
 *
 * Only listed keywords are copied. If a new version of zod uses other keywords, a test here fails, before a cluster rejects the CRD.
 */
import * as z from "zod";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { VALIDATIONS, type KubernetesValidation } from "./rules.ts";

export type Structural = {
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly default?: Json;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Structural };
  readonly items?: Structural;
  readonly additionalProperties?: Structural;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly [VALIDATIONS]?: readonly KubernetesValidation[];
};

/** The copied keywords, in their output order. */
const COPIED = [
  "description",
  "type",
  "format",
  "enum",
  "default",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "required",
] as const;

const HANDLED: ReadonlySet<string> = new Set([...COPIED, "properties", "items", "additionalProperties", VALIDATIONS]);

export function toStructural(schema: z.ZodType): Structural {
  const { $schema: _dialect, ...openApi } = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", reused: "inline" });
  return clean(openApi as JsonObject);
}

function clean(schema: JsonObject): Structural {
  // int-or-string is the only union with its own keyword
  const isChoice = schema["x-kubernetes-int-or-string"] === true;
  const surprising = Object.keys(schema).filter((keyword) => !HANDLED.has(keyword) && !(keyword === "anyOf" && isChoice));
  if (surprising.length > 0) throw new Error(`a CRD schema cannot say ${surprising.join(", ")}`);
  const kept = COPIED.flatMap((keyword) => (isWanted(schema, keyword) ? [[keyword, copied(schema, keyword)]] : []));
  const { properties, items, additionalProperties } = schema;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return {
    ...(Object.fromEntries(kept) as Structural),
    ...(isJsonObject(properties) ? { properties: cleanAll(properties) } : {}),
    ...(isJsonObject(items) ? { items: clean(items) } : {}),
    ...(isJsonObject(additionalProperties) && !preserves ? { additionalProperties: clean(additionalProperties) } : {}),
    ...(schema[VALIDATIONS] === undefined ? {} : { [VALIDATIONS]: schema[VALIDATIONS] as unknown as KubernetesValidation[] }),
  };
}

function cleanAll(properties: JsonObject): { readonly [name: string]: Structural } {
  return Object.fromEntries(Object.entries(properties).flatMap(([name, value]) => (isJsonObject(value) ? [[name, clean(value)]] : [])));
}

/** zod limits every integer to the safe range of JavaScript; that limit is not part of the field. */
function isWanted(schema: JsonObject, keyword: (typeof COPIED)[number]): boolean {
  const value = schema[keyword];
  if (keyword === "minimum" || keyword === "maximum") return value !== undefined && Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER;
  return value !== undefined;
}

function copied(schema: JsonObject, keyword: (typeof COPIED)[number]): Json | undefined {
  const value = schema[keyword];
  // `RegExp.source` escapes "/", which is not needed
  return keyword === "pattern" && typeof value === "string" ? value.replaceAll("\\/", "/") : value;
}

/** The schema one step down: a field, an item, or an entry of a map. */
export function below(schema: Structural | undefined, segment: PropertyKey): Structural | undefined {
  if (typeof segment === "number") return schema?.items;
  const name = String(segment);
  const properties = schema?.properties;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return schema?.additionalProperties;
}

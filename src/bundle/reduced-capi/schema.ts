/** A short notation for structural schemas. `anything` is what the reduced kinds do not check. */
import type { Json, JsonObject } from "#kube";

export type ReducedSchema = JsonObject;

export const anything: ReducedSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
export const text: ReducedSchema = { type: "string" };
export const name: ReducedSchema = { type: "string", minLength: 1, maxLength: 253 };
export const integer: ReducedSchema = { type: "integer", format: "int32" };
export const count: ReducedSchema = { type: "integer", format: "int32", minimum: 0 };
export const flag: ReducedSchema = { type: "boolean" };
export const time: ReducedSchema = { type: "string", format: "date-time" };
export const intOrString: ReducedSchema = { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true };

export const oneOf = (...values: readonly string[]): ReducedSchema => ({ type: "string", enum: values });

export function object(properties: Readonly<Record<string, ReducedSchema>>, required: readonly string[] = []): ReducedSchema {
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

export const list = (items: ReducedSchema): ReducedSchema => ({ type: "array", items, "x-kubernetes-list-type": "atomic" });

export function listMap(items: ReducedSchema, ...keys: readonly string[]): ReducedSchema {
  return { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
}

export const mapOf = (values: ReducedSchema): ReducedSchema => ({ type: "object", additionalProperties: values });

export const defaulted = (schema: ReducedSchema, value: Json): ReducedSchema => ({ ...schema, default: value });

/** A reference of the v1beta2 contract: no version and no namespace. */
export const contractRef = object({ apiGroup: name, kind: name, name }, ["apiGroup", "kind", "name"]);

export const labelSelector = object({
  matchExpressions: list(object({ key: text, operator: text, values: list(text) }, ["key", "operator"])),
  matchLabels: mapOf(text),
});

const conditions = listMap(
  object(
    {
      type: text,
      status: oneOf("True", "False", "Unknown"),
      reason: text,
      message: text,
      lastTransitionTime: time,
      observedGeneration: { type: "integer", format: "int64" },
    },
    ["type", "status", "reason", "lastTransitionTime"],
  ),
  "type",
);

/** Controllers write the status, so only the fields that patches merge by key are declared. */
export const status: ReducedSchema = { ...anything, properties: { conditions } };

/** The status of a kind with the scale subresource. */
export const scaledStatus: ReducedSchema = { ...anything, properties: { conditions, replicas: integer, selector: text } };

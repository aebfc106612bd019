/**
 * JSON Schema (draft 7, which most editors support) of a whole object: for completion, hover texts and validation in editors.
 *
 * It is weaker than the CRD: CEL rules have no counterpart here, so a file without errors in the editor may still be rejected.
 */
import { apiVersionOf, type Json, type JsonObject, type KubeObject, type Resource } from "#kube";
import { VALIDATIONS } from "./rules.ts";
import type { Structural } from "./structural.ts";

export function toEditorSchema<T extends KubeObject>(resource: Resource<T>, root: Structural): JsonObject {
  const { kind, group } = resource;
  const schema = convert(root);
  const properties = schema["properties"] as JsonObject;
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: `https://${group}/schemas/${kind.toLowerCase()}.json`,
    title: kind,
    ...schema,
    properties: {
      ...properties,
      apiVersion: { description: "Group and version of the API.", const: apiVersionOf(resource) },
      kind: { description: "Kind of the object.", const: kind },
    },
  };
}

const DROPPED: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "additionalProperties",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  VALIDATIONS,
]);

function convert(schema: Structural): JsonObject {
  const kept = Object.entries(schema as JsonObject).filter(([keyword]) => !DROPPED.has(keyword));
  return {
    ...Object.fromEntries(kept),
    ...(schema["x-kubernetes-int-or-string"] === true ? { type: ["integer", "string"] } : {}),
    ...(schema["x-kubernetes-list-type"] === "set" ? { uniqueItems: true } : {}),
    ...(schema.items === undefined ? {} : { items: convert(schema.items) }),
    ...fieldsOf(schema),
  };
}

function fieldsOf(schema: Structural): JsonObject {
  if (schema.additionalProperties !== undefined) return { additionalProperties: convert(schema.additionalProperties) };
  if (schema.properties === undefined) return {};
  const properties = Object.entries(schema.properties).map(([name, field]): [string, Json] => [name, convert(field)]);
  return { properties: Object.fromEntries(properties), additionalProperties: false };
}

/**
 * Schemas of built-in kinds as /openapi/v2 has them, from those of /openapi/v3. Custom kinds follow other rules and publish both versions
 * (custom-resources/resource/openapi.ts).
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { mapSchemas } from "../custom-resources/index.ts";

const COMPONENTS = "#/components/schemas/";

/** Keywords that Swagger lacks, and `default`, which a real server does not publish in it. */
const NOT_IN_V2 = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default"]);

export function swaggerSchema(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (one) => {
    const kept = Object.entries({ ...one, ...wrappedIn(one) }).filter(([name]) => !NOT_IN_V2.has(name));
    const { $ref, ...rest } = Object.fromEntries(kept);
    return {
      ...rest,
      // quantities and int-or-strings are a choice of types in version 3 and strings in version 2
      ...(field(one, "oneOf") !== undefined && field(one, "type") === undefined ? { type: "string" } : {}),
      ...($ref === undefined ? {} : { $ref: definitionRef($ref) }),
    };
  });
}

/** Version 3 allows nothing beside a `$ref`, so Kubernetes writes `allOf: [{$ref}]`; version 2 has the reference itself. */
function wrappedIn(schema: JsonObject): JsonObject {
  const all = field(schema, "allOf");
  const [only] = Array.isArray(all) && all.length === 1 ? all : [];
  return isJsonObject(only) ? only : {};
}

export function definitionRef(ref: Json): Json {
  return typeof ref === "string" && ref.startsWith(COMPONENTS) ? `#/definitions/${ref.slice(COMPONENTS.length)}` : ref;
}

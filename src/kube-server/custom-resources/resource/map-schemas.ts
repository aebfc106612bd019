/**
 * A walk over the positions in a schema that hold schemas: the values of properties, items and additionalProperties. Names of properties are
 * never read as keywords, so a property may be named `default`, `$ref` or `__proto__`.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";

/** The schema with `change` applied to it and then to every schema below. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const changed = change(schema);
  const properties = field(changed, "properties");
  const items = field(changed, "items");
  const additional = field(changed, "additionalProperties");
  const below = (inner: Json | undefined): JsonObject => mapSchemas(isJsonObject(inner) ? inner : {}, change);
  return {
    ...changed,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, below(inner)])) }
      : {}),
    ...(isJsonObject(items) ? { items: below(items) } : {}),
    ...(isJsonObject(additional) ? { additionalProperties: below(additional) } : {}),
  };
}

/**
 * A walk over a schema that knows where schemas stand: as the value of a property, of items, of additionalProperties. What a property is
 * called is never read as a keyword, so `default`, `$ref` and `__proto__` are names like any other.
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

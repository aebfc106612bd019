/**
 * Adds a description and other CRD keywords to a schema.
 *
 * zod's own `describe` and `meta` return a copy, and copies were half of the time to load the kinds. This function changes the schema itself, so
 * use it only for a new schema that is not shared yet.
 */
import * as z from "zod";

export function described<S extends z.ZodType>(schema: S, meta: string | z.GlobalMeta): S {
  z.globalRegistry.add(schema, typeof meta === "string" ? { description: meta } : meta);
  return schema;
}

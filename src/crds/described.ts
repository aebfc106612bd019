/**
 * A schema with its description and the other words that a CRD has about it.
 *
 * zod's own `describe` and `meta` give a copy, and copies were half of what it costs to load the kinds. This one writes on the schema itself, so
 * it is for a schema that was made just now and that nobody else holds.
 */
import * as z from "zod";

export function described<S extends z.ZodType>(schema: S, meta: string | z.GlobalMeta): S {
  z.globalRegistry.add(schema, typeof meta === "string" ? { description: meta } : meta);
  return schema;
}

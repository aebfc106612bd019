/**
 * A schema with its description and the other keywords that a CRD has for it.
 *
 * zod's own `describe` and `meta` give a copy, and copies were half of what it costs to load the kinds. This one writes on the schema itself, so
 * it is for a schema that was made just now and is not shared yet.
 */
import * as z from "zod";

export function described<S extends z.ZodType>(schema: S, meta: string | z.GlobalMeta): S {
  z.globalRegistry.add(schema, typeof meta === "string" ? { description: meta } : meta);
  return schema;
}

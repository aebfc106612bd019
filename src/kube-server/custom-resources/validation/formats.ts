/** The effective format of a schema: one that is known and fits the type. */
import { isKnownFormat } from "#cel";
import type { JsonSchema } from "../schema/json-schema.ts";

/** Undefined for a format that is unknown or of another type. */
export function effectiveFormat(schema: JsonSchema): string {
  if (schema.format === "") return "";
  return isRecognised(schema) ? schema.format : "";
}

export function isRecognised(schema: Pick<JsonSchema, "format" | "type" | "intOrString">): boolean {
  if (schema.intOrString) return isKnownFormat(schema.format);
  if (schema.type === "" || schema.type === "string") return isKnownFormat(schema.format);
  if (schema.type === "integer") return schema.format === "int32" || schema.format === "int64";
  return schema.type === "number" && (schema.format === "float" || schema.format === "double");
}

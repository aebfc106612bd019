/** A value together with the schema that it was validated against: what the updater works on. Made only by `parseTyped`. */
import { map, type Result } from "#base";
import type { JsonObject } from "#kube";
import type { TypeSchema } from "./schema.ts";
import { validate, type ValidateOptions } from "./validate.ts";

export type TypedValue = { readonly value: JsonObject; readonly type: TypeSchema };

export function parseTyped(type: TypeSchema, value: JsonObject, options: ValidateOptions): Result<TypedValue, string> {
  return map(validate(type, value, options), () => ({ value, type }));
}

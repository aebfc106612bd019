/** A value with the schema that it was validated against, for the updater. Created only by `parseTyped` and `parseStored`. */
import { map, ok, type Result } from "#base";
import type { Json, JsonObject } from "#kube";
import { ownField } from "./own-fields.ts";
import { Recent } from "./recent.ts";
import { fieldType, type MapSchema, type TypeSchema } from "./schema.ts";
import { fits, validate, type ValidateOptions } from "./validate.ts";

export type TypedValue = { readonly value: JsonObject; readonly type: TypeSchema };

export function parseTyped(type: TypeSchema, value: JsonObject, options: ValidateOptions): Result<TypedValue, string> {
  return map(validate(type, value, options), () => ({ value, type }));
}

/**
 * A cache of large valid parts of objects: an object is validated when it is written and again with every later write, and shares most parts
 * with its previous state.
 */
const sound = new Recent<object, TypeSchema>();
const LENIENT: ValidateOptions = { allowDuplicates: true };

/** For an object that is or will be stored: parts shared with `old`, which was parsed before, are not validated again. */
export function parseStored(type: TypeSchema, value: JsonObject, old?: JsonObject): Result<TypedValue, string> {
  const quick = type.map !== undefined && partsFit(type.map, value, old);
  return quick ? ok({ value, type }) : parseTyped(type, value, LENIENT);
}

function partsFit(map: MapSchema, value: JsonObject, old: JsonObject | undefined): boolean {
  for (const name in value) {
    const part = value[name];
    if (part === undefined) continue;
    const type = fieldType(map, name);
    if (type === undefined || !partFits(type, part, old && ownField(old, name))) return false;
  }
  return true;
}

function partFits(type: TypeSchema, part: Json, before: Json | undefined): boolean {
  if (typeof part !== "object" || part === null) return fits(type, part, LENIENT, 1);
  if (isSound(type, part)) return true;
  if (!fits(type, part, LENIENT, 1, isSound(type, before) ? before : undefined)) return false;
  sound.set(part, type);
  return true;
}

function isSound(type: TypeSchema, part: Json | undefined): boolean {
  return typeof part === "object" && part !== null && sound.get(part) === type;
}

/** `$retainKeys`: the keys of an object to keep. It works on any object of a patch, independently of the schema. */
import { ok, type Result } from "#base";
import { badRetainKeys, failure, type PatchError } from "../errors.ts";
import { formatValue } from "../go-values.ts";
import { fieldOf, isList, jsonEqual, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";
import { DELETE_FROM_PRIMITIVE_LIST, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./directives.ts";
import type { MergeMode } from "./merge-object.ts";

/** A copy of `original` with only the keys that the patch retains. */
export function retainKeys(original: JsonObject, patch: JsonObject, mode: MergeMode): Result<MutableObject, PatchError> {
  const retained = fieldOf(patch, RETAIN_KEYS);
  if (retained === undefined) return ok({ ...original });
  if (mode.target === "patch") return carryOver(original, retained);
  if (!isList(retained)) return badRetainKeys();
  const keys = new Set<Json | undefined>(retained);
  for (const name of Object.keys(patch)) {
    if (isData(name, patch[name]) && !keys.has(name)) return badRetainKeys();
  }
  const kept: MutableObject = {};
  for (const name of Object.keys(original)) {
    const value = original[name];
    if (value !== undefined && keys.has(name)) setField(kept, name, value);
  }
  return ok(kept);
}

/** A key that is set must be retained; deletions and directives need not be. */
function isData(name: string, value: Json | undefined): boolean {
  if (value === null || value === undefined || name === RETAIN_KEYS) return false;
  return !name.startsWith(DELETE_FROM_PRIMITIVE_LIST) && !name.startsWith(SET_ELEMENT_ORDER);
}

function carryOver(original: JsonObject, retained: Json): Result<MutableObject, PatchError> {
  const before = fieldOf(original, RETAIN_KEYS);
  if (before !== undefined && !jsonEqual(before, retained)) {
    const both = `${formatValue(before)} and ${formatValue(retained)}`;
    return failure("bad-retain-keys", `${both} are not deep equal: this may happen when calculating the 3-way diff patch`);
  }
  return ok({ ...original, [RETAIN_KEYS]: retained });
}

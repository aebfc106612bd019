/**
 * Merges a patch into an object, field by field, as the schema specifies. This is the core of strategic merge.
 *
 * The target can be an object or another patch. In an object, directives are applied and nulls delete fields; in a patch (for
 * three-way patches) both are kept for the server.
 */
import { ok, type Result } from "#base";
import { badPrimitiveList, type PatchError } from "../errors.ts";
import { goTypeOf } from "../go-values.ts";
import { fieldOf, isList, isObject, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";
import type { PatchSchema } from "../schema/port.ts";
import {
  applyObjectDirective,
  asNewValue,
  DELETE_FROM_PRIMITIVE_LIST,
  hasDirectives,
  listNamedBy,
  PATCH,
  RETAIN_KEYS,
} from "./directives.ts";
import { deleteFromList, mergeListsAsDeclared } from "./merge-list.ts";
import { retainKeys } from "./retain-keys.ts";
import { applyElementOrders } from "./set-element-order.ts";

export type MergeMode = {
  readonly target: "object" | "patch";
  /** "list-types" differs from Kubernetes: see list-types.ts. */
  readonly lists: "patch-metadata" | "list-types";
};

export function mergeObjects(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema,
  mode: MergeMode,
): Result<JsonObject, PatchError> {
  const directive = fieldOf(patch, PATCH);
  if (directive !== undefined) return applyObjectDirective(directive, patch);
  if (hasDirectives(patch)) return mergeWithDirectives(original, patch, schema, mode);
  const result: MutableObject = { ...original };
  for (const name of Object.keys(patch)) {
    const merged = mergeField(result, name, patch[name], schema, mode);
    if (!merged.ok) return merged;
  }
  return ok(result);
}

/** Retained keys first, then the ordered lists, then deletions from lists, then everything else. */
function mergeWithDirectives(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema,
  mode: MergeMode,
): Result<JsonObject, PatchError> {
  const retained = retainKeys(original, patch, mode);
  if (!retained.ok) return retained;
  const result = retained.value;
  const done = applyElementOrders(result, patch, schema, mode);
  if (!done.ok) return done;
  const names = Object.keys(patch).filter((name) => name !== RETAIN_KEYS && !done.value.has(name));
  const deletions = names.filter((name) => name.startsWith(DELETE_FROM_PRIMITIVE_LIST));
  for (const name of deletions) {
    const deleted = mergeDeletions(result, name, patch[name], schema, mode);
    if (!deleted.ok) return deleted;
  }
  for (const name of names) {
    if (deletions.includes(name)) continue;
    const merged = mergeField(result, name, patch[name], schema, mode);
    if (!merged.ok) return merged;
  }
  return ok(result);
}

type Merged = Result<undefined, PatchError>;
const done: Merged = ok(undefined);

function mergeField(result: MutableObject, name: string, value: Json | undefined, schema: PatchSchema, mode: MergeMode): Merged {
  if (value === undefined) return done;
  if (value === null) return mergeNull(result, name, mode);
  const current = fieldOf(result, name);
  if (isObject(value) && isObject(current)) return mergeObjectField(result, name, current, value, schema, mode);
  if (isList(value) && isList(current)) return mergeListField(result, name, current, value, schema, mode);
  const taken = asNewValue(value, mode.target === "object" ? "drop" : "keep");
  if (taken === undefined) delete result[name];
  else setField(result, name, taken);
  return done;
}

function mergeNull(result: MutableObject, name: string, mode: MergeMode): Merged {
  if (mode.target === "patch") setField(result, name, null);
  else delete result[name];
  return done;
}

function mergeObjectField(
  result: MutableObject,
  name: string,
  current: JsonObject,
  value: JsonObject,
  schema: PatchSchema,
  mode: MergeMode,
): Merged {
  const field = schema.objectField(name);
  if (!field.ok) return field;
  const merged = field.value.strategy === "replace" ? ok(value) : mergeObjects(current, value, field.value.schema, mode);
  if (!merged.ok) return merged;
  setField(result, name, merged.value);
  return done;
}

function mergeListField(
  result: MutableObject,
  name: string,
  current: readonly Json[],
  value: readonly Json[],
  schema: PatchSchema,
  mode: MergeMode,
): Merged {
  const field = schema.listField(name);
  if (!field.ok) return field;
  const list = mergeListsAsDeclared(current, value, field.value, mode);
  if (!list.ok) return list;
  setField(result, name, list.value.merged);
  return done;
}

/** `$deleteFromPrimitiveList/name`. A value that is not a list is merged as a field with this name, as in Kubernetes. */
function mergeDeletions(result: MutableObject, key: string, value: Json | undefined, schema: PatchSchema, mode: MergeMode): Merged {
  if (value === undefined) return done;
  if (mode.target === "patch") {
    setField(result, key, value);
    return done;
  }
  const named = listNamedBy(key, DELETE_FROM_PRIMITIVE_LIST, badPrimitiveList);
  if (!named.ok) return named;
  const name = named.value === "" ? key : named.value;
  const current = fieldOf(result, name);
  if (value === null) return mergeNull(result, name, mode);
  if (current === undefined || goTypeOf(current) !== goTypeOf(value)) return done;
  if (!isList(current) || !isList(value)) return mergeField(result, name, value, schema, mode);
  const field = schema.listField(name);
  if (!field.ok) return field;
  const list = deleteFromList(current, value, field.value);
  if (!list.ok) return list;
  setField(result, name, list.value);
  return done;
}

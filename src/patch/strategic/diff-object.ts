/**
 * The strategic patch that turns one object into another.
 *
 * Each half can be omitted, because a three-way patch takes them from different pairs of documents: changes and additions from the
 * current object, deletions from the last applied one.
 */
import { ok, type Result } from "#base";
import { failure, type PatchError } from "../errors.ts";
import { compareText } from "../go-values.ts";
import { fieldOf, isEmpty, isList, isObject, jsonEqual, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";
import type { PatchSchema } from "../schema/port.ts";
import { diffLists } from "./diff-list.ts";
import { DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./directives.ts";

export type StrategicDiffOptions = {
  /** Add the order of the elements of a changed list. */
  readonly elementOrder: boolean;
  readonly ignoreChanges: boolean;
  readonly ignoreDeletions: boolean;
  /** List the retained keys; set by the schema of the compared field. */
  readonly retainKeys: boolean;
};

export function diffObjects(
  original: JsonObject,
  modified: JsonObject,
  schema: PatchSchema,
  options: StrategicDiffOptions,
): Result<JsonObject, PatchError> {
  const patch: MutableObject = {};
  for (const name of Object.keys(modified)) {
    const value = modified[name];
    if (value === undefined) continue;
    const diffed = diffField(patch, name, fieldOf(original, name), value, schema, options);
    if (!diffed.ok) return diffed;
  }
  if (!options.ignoreDeletions) addDeletions(patch, original, modified);
  if (options.retainKeys) addRetainedKeys(patch, original, modified);
  return ok(patch);
}

type Diffed = Result<undefined, PatchError>;
const done: Diffed = ok(undefined);

function diffField(
  patch: MutableObject,
  name: string,
  before: Json | undefined,
  after: Json,
  schema: PatchSchema,
  options: StrategicDiffOptions,
): Diffed {
  if (before !== undefined) {
    if (name === PATCH) return diffDirective(patch, before, after);
    if (isObject(before) && isObject(after)) return diffObjectField(patch, name, before, after, schema, options);
    if (isList(before) && isList(after)) return diffListField(patch, name, before, after, schema, options);
  }
  if (before !== after && !options.ignoreChanges) setField(patch, name, after);
  return done;
}

function diffDirective(patch: MutableObject, before: Json, after: Json): Diffed {
  if (typeof before !== "string" || typeof after !== "string") return failure("bad-directive", `invalid value for special key: ${PATCH}`);
  if (before !== after) patch[PATCH] = after;
  return done;
}

function diffObjectField(
  patch: MutableObject,
  name: string,
  before: JsonObject,
  after: JsonObject,
  schema: PatchSchema,
  options: StrategicDiffOptions,
): Diffed {
  const field = schema.objectField(name);
  // An unknown field is an error only if it has changed.
  if (!field.ok) return jsonEqual(before, after) ? done : field;
  if (field.value.strategy === "replace") {
    if (!options.ignoreChanges) setField(patch, name, after);
    return done;
  }
  const inner = diffObjects(before, after, field.value.schema, { ...options, retainKeys: field.value.retainKeys });
  if (!inner.ok) return inner;
  if (!isEmpty(inner.value)) setField(patch, name, inner.value);
  return done;
}

function diffListField(
  patch: MutableObject,
  name: string,
  before: readonly Json[],
  after: readonly Json[],
  schema: PatchSchema,
  options: StrategicDiffOptions,
): Diffed {
  const field = schema.listField(name);
  if (!field.ok) return jsonEqual(before, after) ? done : field;
  if (field.value.strategy !== "merge") {
    if (!options.ignoreChanges && !jsonEqual(before, after)) setField(patch, name, after);
    return done;
  }
  const list = diffLists(before, after, field.value, { ...options, retainKeys: field.value.retainKeys });
  if (!list.ok) return list;
  const { additions, deletions, order } = list.value;
  if (additions.length > 0) setField(patch, name, additions);
  if (deletions.length > 0) patch[`${DELETE_FROM_PRIMITIVE_LIST}/${name}`] = deletions;
  if (order.length > 0) patch[`${SET_ELEMENT_ORDER}/${name}`] = order;
  return done;
}

function addDeletions(patch: MutableObject, original: JsonObject, modified: JsonObject): void {
  for (const name of Object.keys(original)) {
    if (original[name] !== undefined && fieldOf(modified, name) === undefined) setField(patch, name, null);
  }
}

/** Needed if something changes, or if the original has a key that must be removed. */
function addRetainedKeys(patch: MutableObject, original: JsonObject, modified: JsonObject): void {
  const kept = Object.keys(modified).filter((name) => modified[name] !== undefined && modified[name] !== null);
  if (kept.length === 0) return;
  const surplus = Object.keys(original).some((name) => {
    const value = original[name];
    return value !== undefined && value !== null && fieldOf(modified, name) === undefined;
  });
  if (surplus || !isEmpty(patch)) patch[RETAIN_KEYS] = kept.toSorted(compareText);
}

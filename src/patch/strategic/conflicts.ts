/**
 * Conflicts between two patches. They depend on the schema: two patches that add different containers do not conflict, two that set
 * different images for one container do.
 *
 * Kubernetes sorts lists of scalars in place to compare them, and then sends the patch with the sorted lists. `Traces` are those lists;
 * a three-way patch must contain them to equal that of kubectl.
 */
import { ok, type Result } from "#base";
import { failure, tooDeep, type PatchError } from "../errors.ts";
import { formatAsString, formatValue } from "../go-values.ts";
import { depthExceeds, fieldOf, isList, isObject, MAX_DEPTH, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge, PatchSchema } from "../schema/port.ts";
import { sortedByText } from "./diff-list.ts";
import { PATCH, RETAIN_KEYS } from "./directives.ts";
import { dropDuplicates, elementsOf } from "./elements.ts";

type Verdict = Result<boolean, PatchError>;
/** Lists of the left patch, and the same lists after the comparison has sorted them. */
export type Traces = Map<readonly Json[], readonly Json[]>;

/**
 * Do two strategic patches set the same field to different values?
 *
 * @example strategicPatchesConflict({ spec: { replicas: 1 } }, { spec: { replicas: 2 } }, deploymentSchema) // ok: true
 */
export function strategicPatchesConflict(left: JsonObject, right: JsonObject, schema: PatchSchema): Verdict {
  if (depthExceeds(left, MAX_DEPTH)) return tooDeep();
  return comparePatches(left, right, schema, new Map());
}

export function comparePatches(left: JsonObject, right: JsonObject, schema: PatchSchema, traces: Traces): Verdict {
  return objectsConflict(left, right, schema, "", traces);
}

function objectsConflict(left: JsonObject, right: JsonObject, schema: PatchSchema, strategy: string, traces: Traces): Verdict {
  // A directive applies to the whole object: the patches conflict unless both have the same directive.
  if (fieldOf(left, PATCH) !== fieldOf(right, PATCH)) return ok(true);
  if (strategy === "replace") return ok(false);
  for (const name of Object.keys(left)) {
    const mine = left[name];
    const theirs = fieldOf(right, name);
    if (mine === undefined || theirs === undefined || name === PATCH || name === RETAIN_KEYS) continue;
    const verdict = fieldsConflict(name, mine, theirs, schema, traces);
    if (!verdict.ok || verdict.value) return verdict;
  }
  return ok(false);
}

function fieldsConflict(name: string, left: Json, right: Json, schema: PatchSchema, traces: Traces): Verdict {
  if (isList(left)) {
    const field = schema.listField(name);
    if (!field.ok) return field;
    return isList(right) ? listsConflict(left, right, field.value, traces) : ok(true);
  }
  if (isObject(left)) {
    const field = schema.objectField(name);
    if (!field.ok) return field;
    return isObject(right) ? objectsConflict(left, right, field.value.schema, field.value.strategy, traces) : ok(true);
  }
  return ok(left !== right);
}

function listsConflict(left: readonly Json[], right: readonly Json[], field: FieldMerge, traces: Traces): Verdict {
  const elements = elementsOf(left, right);
  if (!elements.ok) return elements;
  if (field.strategy === "merge") {
    // Lists of scalars are joined: no value is lost.
    return elements.value === "scalars" ? ok(false) : keyedListsConflict(left, right, field, traces);
  }
  if (left.length !== right.length) return ok(true);
  if (elements.value === "objects") return elementsConflict(left, right, field.schema, traces);
  const mine = sortScalars(left);
  traces.set(left, mine.whole);
  return elementsConflict(mine.compared, sortScalars(right).compared, field.schema, traces);
}

function elementsConflict(left: readonly Json[], right: readonly Json[], schema: PatchSchema, traces: Traces): Verdict {
  for (const [index, mine] of left.entries()) {
    const theirs = right[index];
    if (!isObject(mine) || !isObject(theirs)) {
      if (mine !== theirs) return ok(true);
      continue;
    }
    const verdict = objectsConflict(mine, theirs, schema, "", traces);
    if (!verdict.ok || verdict.value) return verdict;
  }
  return ok(false);
}

/** `compared`: sorted, without duplicates. `whole`: with the original length, and leftover elements at the end. */
function sortScalars(list: readonly Json[]): { readonly compared: readonly Json[]; readonly whole: readonly Json[] } {
  const items = [...list];
  const length = dropDuplicates(items);
  const compared = sortedByText(items.slice(0, length)).map(({ item }) => item);
  return { compared, whole: [...compared, ...items.slice(length)] };
}

function keyedListsConflict(left: readonly Json[], right: readonly Json[], field: FieldMerge, traces: Traces): Verdict {
  const mine = byMergeKey(left, field.mergeKey);
  if (!mine.ok) return mine;
  const theirs = byMergeKey(right, field.mergeKey);
  if (!theirs.ok) return theirs;
  for (const [key, item] of mine.value) {
    const other = theirs.value.get(key);
    if (other === undefined) continue;
    const verdict = objectsConflict(item, other, field.schema, "", traces);
    if (!verdict.ok || verdict.value) return verdict;
  }
  return ok(false);
}

function byMergeKey(list: readonly Json[], mergeKey: string): Result<ReadonlyMap<string, JsonObject>, PatchError> {
  const items = new Map<string, JsonObject>();
  for (const item of list as readonly JsonObject[]) {
    const key = fieldOf(item, mergeKey);
    if (key === undefined) {
      return failure("no-merge-key", `cannot find merge key \`${mergeKey}\` in merging list element:${formatValue(item)}`);
    }
    items.set(formatAsString(key), item);
  }
  return ok(items);
}

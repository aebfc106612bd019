/**
 * Whether two patches want different things. The schema matters: two patches that add different containers do not disagree, two that
 * set different images for one container do.
 */
import { ok, type Result } from "#base";
import { failure, tooDeep, type PatchError } from "../errors.ts";
import { formatAsString, formatValue } from "../go-values.ts";
import { depthExceeds, fieldOf, isList, isObject, MAX_DEPTH, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge, PatchSchema } from "../schema/port.ts";
import { sortedByText } from "./diff-list.ts";
import { PATCH, RETAIN_KEYS } from "./directives.ts";
import { elementsOf, withoutDuplicates } from "./elements.ts";

type Verdict = Result<boolean, PatchError>;

/**
 * Do two strategic patches set the same field to different values?
 *
 * @example strategicPatchesConflict({ spec: { replicas: 1 } }, { spec: { replicas: 2 } }, deploymentSchema) // ok: true
 */
export function strategicPatchesConflict(left: JsonObject, right: JsonObject, schema: PatchSchema): Verdict {
  if (depthExceeds(left, MAX_DEPTH)) return tooDeep();
  return objectsConflict(left, right, schema, "");
}

function objectsConflict(left: JsonObject, right: JsonObject, schema: PatchSchema, strategy: string): Verdict {
  // A directive acts on the whole object: either both patches say the same, or they disagree.
  if (fieldOf(left, PATCH) !== fieldOf(right, PATCH)) return ok(true);
  if (strategy === "replace") return ok(false);
  for (const name of Object.keys(left)) {
    const mine = left[name];
    const theirs = fieldOf(right, name);
    if (mine === undefined || theirs === undefined || name === PATCH || name === RETAIN_KEYS) continue;
    const verdict = fieldsConflict(name, mine, theirs, schema);
    if (!verdict.ok || verdict.value) return verdict;
  }
  return ok(false);
}

function fieldsConflict(name: string, left: Json, right: Json, schema: PatchSchema): Verdict {
  if (isList(left)) {
    const field = schema.listField(name);
    if (!field.ok) return field;
    return isList(right) ? listsConflict(left, right, field.value) : ok(true);
  }
  if (isObject(left)) {
    const field = schema.objectField(name);
    if (!field.ok) return field;
    return isObject(right) ? objectsConflict(left, right, field.value.schema, field.value.strategy) : ok(true);
  }
  return ok(left !== right);
}

function listsConflict(left: readonly Json[], right: readonly Json[], field: FieldMerge): Verdict {
  const elements = elementsOf(left, right);
  if (!elements.ok) return elements;
  if (field.strategy === "merge") {
    // Lists of scalars unite: nobody loses anything.
    return elements.value === "scalars" ? ok(false) : keyedListsConflict(left, right, field);
  }
  if (left.length !== right.length) return ok(true);
  if (elements.value === "objects") return elementsConflict(left, right, field.schema);
  return elementsConflict(sortedScalars(left), sortedScalars(right), field.schema);
}

function elementsConflict(left: readonly Json[], right: readonly Json[], schema: PatchSchema): Verdict {
  for (const [index, mine] of left.entries()) {
    const theirs = right[index];
    if (!isObject(mine) || !isObject(theirs)) {
      if (mine !== theirs) return ok(true);
      continue;
    }
    const verdict = objectsConflict(mine, theirs, schema, "");
    if (!verdict.ok || verdict.value) return verdict;
  }
  return ok(false);
}

function sortedScalars(list: readonly Json[]): readonly Json[] {
  return sortedByText(withoutDuplicates(list)).map(({ item }) => item);
}

function keyedListsConflict(left: readonly Json[], right: readonly Json[], field: FieldMerge): Verdict {
  const mine = byMergeKey(left, field.mergeKey);
  if (!mine.ok) return mine;
  const theirs = byMergeKey(right, field.mergeKey);
  if (!theirs.ok) return theirs;
  for (const [key, item] of mine.value) {
    const other = theirs.value.get(key);
    if (other === undefined) continue;
    const verdict = objectsConflict(item, other, field.schema, "");
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

/** Creates strategic patches: two-way as `kubectl edit` sends it, three-way as `kubectl apply` does. */
import { ok, type Result } from "#base";
import { badJson, failure, tooDeep, type PatchError } from "../errors.ts";
import { formatValue } from "../go-values.ts";
import { depthExceeds, fieldNames, fieldOf, isList, isObject, MAX_DEPTH, setField } from "../json.ts";
import type { Json, JsonObject, MutableObject } from "../json.ts";
import type { PatchSchema } from "../schema/port.ts";
import { conflictError } from "./conflict-error.ts";
import { comparePatches, type Traces } from "./conflicts.ts";
import { diffObjects, type StrategicDiffOptions } from "./diff-object.ts";
import { mergeObjects } from "./merge-object.ts";

/** Rejects a patch by returning false; see `fieldUnchanged`. */
export type Precondition = (patch: JsonObject) => boolean;

/** Options for creating a patch. */
export type CreateOptions = { readonly preconditions?: readonly Precondition[] };

/** The three objects of a three-way patch, as `kubectl apply` has them. */
export type ThreeWay = {
  /** The last applied object (kubectl stores it in an annotation). */
  readonly original: Json | undefined;
  /** The object to apply. */
  readonly modified: Json | undefined;
  /** The object on the server. */
  readonly current: Json | undefined;
};

const EVERYTHING: StrategicDiffOptions = { elementOrder: true, ignoreChanges: false, ignoreDeletions: false, retainKeys: false };

/**
 * The patch that turns `original` into `modified`.
 *
 * @example
 * createTwoWayStrategicPatch({ spec: { replicas: 1, paused: true } }, { spec: { replicas: 2 } }, deploymentSchema)
 * // ok: { spec: { replicas: 2, paused: null } }
 */
export function createTwoWayStrategicPatch(
  original: Json | undefined,
  modified: Json | undefined,
  schema: PatchSchema,
  options: CreateOptions = {},
): Result<JsonObject, PatchError> {
  const documents = readDocuments(original, modified);
  if (!documents.ok) return documents;
  const [before = {}, after = {}] = documents.value;
  const patch = diffObjects(before, after, schema, EVERYTHING);
  return patch.ok ? checkPreconditions(patch.value, options) : patch;
}

/**
 * The patch that changes `current` to `modified` and keeps fields of other writers: changes and additions from current to
 * modified, deletions from original to modified. Without `overwrite`, fields that others changed differently are a conflict.
 *
 * @example
 * createThreeWayStrategicPatch({ original: { spec: { paused: true } }, modified: { spec: { replicas: 2 } },
 *   current: { spec: { paused: true, replicas: 1, minReadySeconds: 5 } } }, deploymentSchema, { overwrite: true })
 * // ok: { spec: { paused: null, replicas: 2 } }
 */
export function createThreeWayStrategicPatch(
  { original, modified, current }: ThreeWay,
  schema: PatchSchema,
  options: CreateOptions & { readonly overwrite?: boolean } = {},
): Result<JsonObject, PatchError> {
  const documents = readDocuments(original, modified, current);
  if (!documents.ok) return documents;
  const [before = {}, after = {}, live = {}] = documents.value;
  const changes = diffObjects(live, after, schema, { ...EVERYTHING, ignoreDeletions: true });
  if (!changes.ok) return changes;
  const deletions = diffObjects(before, after, schema, { ...EVERYTHING, ignoreChanges: true });
  if (!deletions.ok) return deletions;
  const merged = mergeObjects(deletions.value, changes.value, schema, { target: "patch", lists: "patch-metadata" });
  if (!merged.ok) return merged;
  const patch = checkPreconditions(merged.value, options);
  if (!patch.ok || options.overwrite === true) return patch;
  return withoutConflicts(patch.value, before, live, schema);
}

function withoutConflicts(
  patch: JsonObject,
  original: JsonObject,
  current: JsonObject,
  schema: PatchSchema,
): Result<JsonObject, PatchError> {
  const changed = diffObjects(original, current, schema, { ...EVERYTHING, elementOrder: false });
  if (!changed.ok) return changed;
  const traces: Traces = new Map();
  const conflicts = comparePatches(patch, changed.value, schema, traces);
  if (!conflicts.ok) return conflicts;
  return conflicts.value ? conflictError(patch, changed.value) : ok(withTraces(patch, traces) as JsonObject);
}

/** The patch with the lists in the order after the comparison. */
function withTraces(value: Json, traces: Traces): Json {
  if (traces.size === 0) return value;
  if (isList(value)) return traces.get(value) ?? value.map((item) => withTraces(item, traces));
  if (!isObject(value)) return value;
  const copy: MutableObject = {};
  for (const name of fieldNames(value)) setField(copy, name, withTraces(value[name] ?? null, traces));
  return copy;
}

function readDocuments(...documents: readonly (Json | undefined)[]): Result<readonly JsonObject[], PatchError> {
  const objects: JsonObject[] = [];
  for (const document of documents) {
    const object = document ?? {};
    if (!isObject(object)) return badJson();
    if (depthExceeds(object, MAX_DEPTH)) return tooDeep();
    objects.push(object);
  }
  return ok(objects);
}

export function checkPreconditions(patch: JsonObject, { preconditions = [] }: CreateOptions): Result<JsonObject, PatchError> {
  if (preconditions.every((holds) => holds(patch))) return ok(patch);
  return failure("precondition-failed", `precondition failed for: ${formatValue(patch)}`);
}

/**
 * A precondition: the patch must not touch this field. kubectl requires it for apiVersion, kind and metadata.name.
 *
 * @example createTwoWayStrategicPatch(a, b, schema, { preconditions: [fieldUnchanged("kind"), fieldUnchanged("metadata", "name")] })
 */
export function fieldUnchanged(...path: readonly string[]): Precondition {
  return (patch) => {
    let at: Json | undefined = patch;
    for (const name of path) at = isObject(at) ? fieldOf(at, name) : undefined;
    return at === undefined;
  };
}

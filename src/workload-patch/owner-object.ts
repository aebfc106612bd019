/** The Deployment as its owner wrote it: without the patch that is on it. */
import { field, isJsonObject, jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { SERVICE_LABEL } from "./merge-patch.ts";
import { RECORD_ANNOTATION, recordOf, withoutRecord, type PatchedField } from "./patch-record.ts";
import { isTooMuchWork, partsOfFields } from "./patch-work.ts";
import { pathKey, valueAt } from "./patched-path.ts";
import { restoreFields } from "./restore.ts";

export type OwnerObject = {
  readonly object: JsonObject;
  /** What is recorded of each field, by `pathKey`: by the object, else by the one before. */
  readonly recorded: ReadonlyMap<string, PatchedField>;
  readonly recordProblem?: string;
};

/**
 * Only what a record has is ours: a label of the service without one is the owner's.
 *
 * A writer can drop the record and keep fields of the patch (an Update with annotations of its own). A field that the write does not change is
 * then restored from the record of the previous object. A writer that drops the record and the label replaced the whole object.
 */
export function ownerObject(deployment: KubeObject, previous: KubeObject | undefined): OwnerObject {
  const own = recordOf(deployment);
  const fields = own.ok ? (own.value?.fields ?? []) : [];
  const problem = own.ok ? {} : { recordProblem: own.error };
  const restored = restoreFields(jsonOf(withoutRecord(deployment)), fields);
  if (previous === undefined || hasSameRecord(deployment, previous))
    return { object: restored.object, recorded: byPath(fields), ...problem };
  const last = recordOf(previous);
  const readable = last.ok ? (last.value?.fields ?? []) : [];
  const lastFields = isTooMuchWork(partsOfFields(readable), deployment) ? [] : readable;
  const matched = byPath(restored.fields.flatMap(({ field: entry, changed }) => (changed ? [] : [entry])));
  const kept = isReplacement(deployment)
    ? []
    : lastFields.filter((entry) => !matched.has(pathKey(entry.path)) && isUntouched(entry, deployment, previous));
  const object = restoreFields(restored.object, kept).object;
  return { object, recorded: byPath([...lastFields, ...fields]), ...problem };
}

function hasSameRecord(deployment: KubeObject, previous: KubeObject): boolean {
  return field(deployment.metadata.annotations, RECORD_ANNOTATION) === field(previous.metadata.annotations, RECORD_ANNOTATION);
}

function byPath(fields: readonly PatchedField[]): ReadonlyMap<string, PatchedField> {
  return new Map(fields.map((entry) => [pathKey(entry.path), entry]));
}

function isReplacement({ metadata }: KubeObject): boolean {
  return field(metadata.annotations, RECORD_ANNOTATION) === undefined && field(metadata.labels, SERVICE_LABEL) === undefined;
}

/** A list or object that was created counts as untouched: it is removed only when it is empty. */
function isUntouched({ path, after, created }: PatchedField, deployment: KubeObject, previous: KubeObject): boolean {
  if (created === true) return true;
  return jsonEqual(valueAt(jsonOf(deployment), path), after) && jsonEqual(valueAt(jsonOf(previous), path), after);
}

/** An object of the API is JSON. */
export function jsonOf(object: KubeObject): JsonObject {
  return isJsonObject(object) ? object : {};
}

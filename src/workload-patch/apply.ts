/** Applies a workload patch: to the owner's object, which is the Deployment without the patch that is on it. */
import { err, ok, once, type Result } from "#base";
import { field, fieldAt, isJsonObject, jsonEqual, matches, requirementsOf, type JsonObject, type KubeObject } from "#kube";
import { isFlip, isGivenUp, sameButForPatch, withFlip } from "./conflicts.ts";
import { mergeWorkloadPatch, type MergedPatch } from "./merge-patch.ts";
import type { MergedField } from "./merge.ts";
import type { AppliedPatch, PatchProblem, PatchWrite } from "./outcomes.ts";
import { jsonOf, ownerObject, type OwnerObject } from "./owner-object.ts";
import {
  MAX_FIELDS,
  PATCHED_ANNOTATIONS_LIMIT,
  REQUEST_ANNOTATION,
  withAnnotations,
  withRecord,
  type PatchedField,
} from "./patch-record.ts";
import { isTooMuchWork, partsOf, partsOfFields, partsOfPatch } from "./patch-work.ts";
import { pathKey, valueAt } from "./patched-path.ts";
import { revertWorkloadPatch } from "./revert.ts";
import { changesUnpatched } from "./unpatched-changes.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

/** Idempotent. The record keeps what the owner wrote; with `previous`, repeated changes of one field by another manager become a conflict. */
export function applyWorkloadPatch(deployment: KubeObject, patch: WorkloadPatch, write: PatchWrite): Result<AppliedPatch, PatchProblem> {
  if (!isDeployment(deployment)) {
    return err({ kind: "not-a-deployment", message: "the object is not a Deployment of apps/v1 with a pod template" });
  }
  const owner = ownerObject(deployment, write.previous);
  if (patch.detach === true) return ok(detached(deployment, owner));
  if (!hasConsent(owner.object, patch)) return ok({ ...detached(deployment, owner), withoutConsent: true });
  if (isTooMuchWork(partsOfPatch(patch), owner.object)) return err(listsTooLong(deployment));
  const whole = once(() => mergeWorkloadPatch(owner.object, patch, () => false));
  const recorded = countFlips({ deployment, patch, write, owner, whole });
  const givenUp = (merged: MergedField) => isGivenUp(recorded.get(pathKey(merged.path)), merged, write.at);
  const merged = hasBackoff(recorded) ? mergeWorkloadPatch(owner.object, patch, givenUp) : whole();
  if (selectsLess(owner.object, merged.object)) {
    return err({
      kind: "selector",
      message: `spec.selector of Deployment ${deployment.metadata.name} selects by a label that the patch changes`,
    });
  }
  const fields = merged.fields.map((entry) => recordedField(entry, recorded.get(pathKey(entry.path)), write.at));
  // the next review could not read such a record
  if (isTooMuchWork(partsOfFields(fields), merged.object)) return err(listsTooLong(deployment));
  if (fields.length > MAX_FIELDS) return err(tooManyFields(deployment));
  const patched = withRecord(merged.object as KubeObject, { version: 1, service: patch.service, fields });
  const problem = annotationsProblem(patched);
  if (problem !== undefined) return err(problem);
  const changed = !jsonEqual(patched, deployment);
  return ok({
    deployment: changed ? patched : deployment,
    changed,
    missingContainers: merged.missing,
    skipped: merged.skipped,
    conflicts: fields.flatMap(({ path, backoff }) => (backoff === undefined ? [] : [{ path, ...backoff }])),
    ...(owner.recordProblem === undefined ? {} : { recordProblem: owner.recordProblem }),
  });
}

/** Asked of the Deployment that is written: one that is created has no service before, and one whose owner removes the label has the patch. */
function hasConsent(owner: JsonObject, { consent }: WorkloadPatch): boolean {
  if (consent === undefined) return true;
  const value = field(fieldAt(owner, "metadata", "labels"), consent.label);
  return typeof value === "string" && consent.values.includes(value);
}

/** The owner's object, also when a writer dropped the record. */
function detached(deployment: KubeObject, owner: OwnerObject): AppliedPatch {
  const { deployment: plain, restored, kept, recordProblem } = revertWorkloadPatch(deployment);
  const object = recordProblem === undefined ? withAnnotations(owner.object as KubeObject, { [REQUEST_ANNOTATION]: undefined }) : plain;
  const changed = !jsonEqual(object, deployment);
  const problem = recordProblem === undefined ? {} : { recordProblem };
  return {
    deployment: changed ? object : deployment,
    changed,
    missingContainers: [],
    conflicts: [],
    skipped: [],
    reverted: { restored, kept },
    ...problem,
  };
}

function isDeployment(object: KubeObject): boolean {
  return (
    object.kind === "Deployment" &&
    object.apiVersion === "apps/v1" &&
    isJsonObject(object.metadata) &&
    isJsonObject(field(field(field(object, "spec"), "template"), "spec"))
  );
}

type Application = {
  readonly deployment: KubeObject;
  readonly patch: WorkloadPatch;
  readonly write: PatchWrite;
  readonly owner: OwnerObject;
  /** The owner's object with the patch, with nothing given up. */
  readonly whole: () => MergedPatch;
};

/** Of fields times parts of managedFields: the keys in them are parsed for each field. */
const MOST_OWNERS = 500_000;

function hasBackoff(recorded: OwnerObject["recorded"]): boolean {
  for (const { backoff } of recorded.values()) if (backoff !== undefined) return true;
  return false;
}

/** What is recorded of each field, with the flips of this write. */
function countFlips({ deployment, patch, write, owner, whole }: Application): OwnerObject["recorded"] {
  const { previous, dryRun } = write;
  if (previous === undefined || dryRun === true) return owner.recorded;
  const flipped = [...owner.recorded].filter(([, entry]) => isFlip(entry, jsonOf(deployment)));
  if (flipped.length === 0) return owner.recorded;
  if (changesUnpatched({ deployment, previous }, patch, owner.recorded)) return owner.recorded;
  const last = ownerObject(previous, undefined).object;
  if (isTooMuchWork(partsOfPatch(patch), last)) return owner.recorded;
  const then = mergeWorkloadPatch(last, patch, () => false);
  if (!sameButForPatch(whole().object, then.object)) return owner.recorded;
  // a spec that is replaced as a whole lacks what the patch added; only the owner's own values count
  const isReplaced = [...owner.recorded.values()].every((entry) => entry.path[0] !== "spec" || !hasPatchedValue(entry, deployment));
  const counted = flipped.filter(([, entry]) => !isReplaced || entry.before !== undefined);
  if (counted.length * partsOf(field(deployment.metadata, "managedFields")) > MOST_OWNERS) return owner.recorded;
  return new Map([...owner.recorded, ...counted.map(([key, entry]) => [key, withFlip(entry, deployment, write)] as const)]);
}

function hasPatchedValue({ path, after, created }: PatchedField, deployment: KubeObject): boolean {
  return created !== true && jsonEqual(valueAt(jsonOf(deployment), path), after);
}

/**
 * Times and conflicts stay while the patched value stays. A field that was given up and is patched again starts anew. An equal field is returned as
 * it was recorded: another order of its fields would be a change of the record.
 */
function recordedField(merged: MergedField, recorded: PatchedField | undefined, at: string): PatchedField {
  if (recorded === undefined || !jsonEqual(recorded.after, merged.after)) return { ...merged, since: at };
  const { since, flips, backoffs, backoff } = recorded;
  const count = backoffs === undefined ? {} : { backoffs };
  if (backoff !== undefined && !isGivenUp(recorded, merged, at)) return { ...merged, since: at, ...count };
  const field = { ...merged, since, ...(flips === undefined ? {} : { flips }), ...count, ...(backoff === undefined ? {} : { backoff }) };
  return jsonEqual(field, recorded) ? recorded : field;
}

/** The server refuses a Deployment whose selector does not match its pod template. */
function selectsLess(owner: JsonObject, patched: JsonObject): boolean {
  const selector = field(field(owner, "spec"), "selector");
  if (!isJsonObject(selector)) return false;
  const requirements = requirementsOf(selector);
  const selects = (object: JsonObject) => matches(requirements, templateLabels(object));
  return !selects(patched) && selects(owner);
}

function templateLabels(deployment: JsonObject): Readonly<Record<string, string>> {
  const labels = field(field(field(field(deployment, "spec"), "template"), "metadata"), "labels");
  return (isJsonObject(labels) ? labels : {}) as Readonly<Record<string, string>>;
}

function listsTooLong({ metadata }: KubeObject): PatchProblem {
  const message = `lists of Deployment ${metadata.name} are too long for a patch with so many fields; shorten them, or patch fewer fields`;
  return { kind: "lists-too-long", message };
}

function tooManyFields({ metadata }: KubeObject): PatchProblem {
  const message = `the patch changes more than ${MAX_FIELDS} fields of Deployment ${metadata.name}; patch fewer`;
  return { kind: "record-too-large", message };
}

function annotationsProblem({ metadata }: KubeObject): PatchProblem | undefined {
  const annotations = Object.entries(metadata.annotations ?? {});
  // a character of a text has at most three bytes
  if (sizeOf(annotations, (text) => 3 * text.length) <= PATCHED_ANNOTATIONS_LIMIT) return undefined;
  if (sizeOf(annotations, byteLength) <= PATCHED_ANNOTATIONS_LIMIT) return undefined;
  const message = `the record of the changed fields would make the annotations of Deployment ${metadata.name} larger than 240 KiB, of the 256 KiB that API servers allow`;
  return { kind: "record-too-large", message: `${message}; shorten its annotations, or patch fewer fields` };
}

function sizeOf(annotations: readonly (readonly [string, string])[], measure: (text: string) => number): number {
  let size = 0;
  for (const [name, value] of annotations) size += measure(name) + measure(value);
  return size;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** Applies the workload patch of a Deployment to the object of a review. Pure but for the time. */
import { timestamp, type Clock } from "#base";
import type { KubeObject } from "#kube";
import {
  applyWorkloadPatch,
  jsonPatchBetween,
  PATCH_CHECK_MANAGER,
  pathText,
  type AppliedPatch,
  type WorkloadPatch,
} from "#workload-patch";
import type { ReviewDeployment } from "./handler.ts";
import { NO_CHANGE, type ReviewAnswer } from "./review-answer.ts";

export type ReviewDeploymentOptions = {
  readonly find: (namespace: string, name: string) => WorkloadPatch | undefined;
  readonly clock: Clock;
};

export function reviewDeployments({ find, clock }: ReviewDeploymentOptions): ReviewDeployment {
  return ({ namespace, name, object, old, dryRun, fieldManager }) => {
    const patch = find(namespace, name);
    if (patch === undefined) return undefined;
    if (dryRun && fieldManager === PATCH_CHECK_MANAGER) return NO_CHANGE;
    const manager = fieldManager === "" ? undefined : fieldManager;
    const write = { at: timestamp(clock), previous: old, manager, dryRun };
    const applied = applyWorkloadPatch(object, patch, write);
    if (applied.ok) return answerWith(object, applied.value, warningsOf(patch.service, applied.value));
    const warnings = [`LatticeService ${patch.service} does not patch this Deployment: ${applied.error.message}`];
    if (applied.error.kind !== "record-too-large") return { patch: [], warnings };
    // the API server would refuse the annotations of the owner together with the record of the patch that is on it
    const plain = applyWorkloadPatch(object, { ...patch, detach: true }, write);
    return plain.ok ? answerWith(object, plain.value, warnings) : { patch: [], warnings };
  };
}

function answerWith(object: KubeObject, { changed, deployment }: AppliedPatch, warnings: readonly string[]): ReviewAnswer {
  return { patch: changed ? jsonPatchBetween(object, deployment) : [], warnings };
}

/** One answer has five warnings: the last counts the rest. */
const MAX_SKIPPED = 4;

/** Names and paths only: values of the Deployment may be sensitive. */
function warningsOf(service: string, applied: AppliedPatch): readonly string[] {
  const { missingContainers, conflicts, skipped, recordProblem } = applied;
  const about = `LatticeService ${service}:`;
  if (applied.withoutConsent === true) return applied.changed ? withdrawn(about, applied) : [];
  return [
    ...missingContainers.map((container) => `${about} this Deployment has no container "${container}"`),
    ...conflicts.map(
      ({ path, manager }) => `${about} ${pathText(path)} is left to ${manager ?? "another manager"}, which keeps changing it`,
    ),
    ...skipped.slice(0, MAX_SKIPPED).map(({ path, reason }) => `${about} ${pathText(path)} is not patched: ${reason}`),
    ...(skipped.length > MAX_SKIPPED ? [`${about} ${skipped.length - MAX_SKIPPED} more fields are not patched`] : []),
    ...(recordProblem === undefined ? [] : [`${about} the record of changed fields was not readable and is replaced`]),
  ];
}

function withdrawn(about: string, { reverted, recordProblem }: AppliedPatch): readonly string[] {
  if (recordProblem !== undefined)
    return [`${about} this Deployment is not shared any more, and its record of changed fields is not readable`];
  const kept = (reverted?.kept ?? []).map(({ path }) => `${about} ${pathText(path)} is not restored, because it was changed since`);
  return [`${about} the changes are taken off, because this Deployment is not shared any more`, ...kept];
}

/** Applies the workload patch of a Deployment to the object of a review. Pure but for the time. */
import { timestamp, type Clock } from "#base";
import {
  applyWorkloadPatch,
  jsonPatchBetween,
  PATCH_CHECK_MANAGER,
  pathText,
  type AppliedPatch,
  type WorkloadPatch,
} from "#workload-patch";
import type { ReviewDeployment } from "./handler.ts";
import { NO_CHANGE } from "./review-answer.ts";

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
    const applied = applyWorkloadPatch(object, patch, { at: timestamp(clock), previous: old, manager, dryRun });
    if (!applied.ok)
      return { patch: [], warnings: [`LatticeService ${patch.service} does not patch this Deployment: ${applied.error.message}`] };
    const changes = applied.value.changed ? jsonPatchBetween(object, applied.value.deployment) : [];
    return { patch: changes, warnings: warningsOf(patch.service, applied.value) };
  };
}

/** The API server passes on 4 KiB of warnings. */
const MAX_SKIPPED = 5;

/** Names and paths only: values of the Deployment may be sensitive. */
function warningsOf(service: string, { missingContainers, conflicts, skipped, recordProblem }: AppliedPatch): readonly string[] {
  const about = `LatticeService ${service}:`;
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

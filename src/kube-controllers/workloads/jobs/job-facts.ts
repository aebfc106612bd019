/** Properties of a Job's spec and of its Pods. Pure, and used in many places. */
import { requirementsOf, type Job, type JobCondition, type Pod, type Requirement } from "#kube";
import { parseIndex } from "./indexes.ts";

export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count";
export const INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

export function isSuspended({ spec }: Job): boolean {
  return spec.suspend === true;
}

export function hasLimitPerIndex({ spec }: Job): boolean {
  return spec.backoffLimitPerIndex !== undefined;
}

/** Then a terminating Pod still counts as running until it has ended. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec.podReplacementPolicy === "Failed" || spec.podFailurePolicy !== undefined;
}

export function isForeign({ spec }: Job): boolean {
  return spec.managedBy !== undefined && spec.managedBy !== "kubernetes.io/job-controller";
}

export function selectorOf({ spec }: Job): readonly Requirement[] {
  return spec.selector === undefined ? [] : requirementsOf(spec.selector);
}

export function conditionOf({ status }: Job, type: string): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** "Complete" or "Failed"; undefined while it is neither. */
export function finishedAs(job: Job): "Complete" | "Failed" | undefined {
  return (["Complete", "Failed"] as const).find((type) => conditionOf(job, type)?.status === "True");
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** -1 when it has none. */
export function indexOf({ metadata: { annotations = {} } }: Pod): number {
  const text = Object.hasOwn(annotations, INDEX_ANNOTATION) ? annotations[INDEX_ANNOTATION] : undefined;
  return (text === undefined ? undefined : parseIndex(text)) ?? -1;
}

export function hasValidIndex(job: Job, pod: Pod): boolean {
  const index = indexOf(pod);
  return index >= 0 && index < (job.spec.completions ?? 0);
}

export function countAnnotation({ metadata: { annotations = {} } }: Pod, name: string): number {
  const text = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  return text !== undefined && /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}

/** A terminating Pod has failed, unless the Job waits for its end. */
export function isPodFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (replacesOnlyFailed(job)) return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

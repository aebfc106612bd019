/** Whether a Job will end, and how. Pure. The order of the checks is that of kube-controller-manager. */
import type { Job } from "#kube";
import { timeOf } from "../pods/pod-state.ts";
import { failedBy, TARGETS, type Ending } from "./job-conditions.ts";
import { conditionOf, hasLimitPerIndex, isIndexed, isPodFailed, isSuspended } from "./job-facts.ts";
import { countIndexes } from "./indexes.ts";
import type { JobView } from "./job-view.ts";
import { judge } from "./pod-failure-policy.ts";
import { metSuccessRule } from "./success-policy.ts";

export function endingOf(view: JobView, now: number): Ending | undefined {
  return announced(view.job) ?? byFailurePolicy(view) ?? byLimits(view, now) ?? byIndexes(view);
}

/** Decided in an earlier pass; its Pods are ending. */
function announced(job: Job): Ending | undefined {
  for (const result of ["Complete", "Failed"] as const) {
    const condition = conditionOf(job, TARGETS[result]);
    if (condition?.status === "True") return { result, reason: condition.reason ?? "", message: condition.message ?? "" };
  }
  return undefined;
}

function byFailurePolicy({ job, pods }: JobView): Ending | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  const message = pods.filter((pod) => isPodFailed(pod, job)).flatMap((pod) => judge(job, pod).message ?? [])[0];
  return message === undefined ? undefined : failedBy("PodFailurePolicy", message);
}

function byLimits(view: JobView, now: number): Ending | undefined {
  const { job, failed } = view;
  const limit = job.spec.backoffLimit ?? 6;
  if (failed > limit || hasRestartedTooOften(view, limit))
    return failedBy("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  const left = deadlineLeftMs(job, now);
  return left !== undefined && left <= 0 ? failedBy("DeadlineExceeded", "Job was active longer than specified deadline") : undefined;
}

/** With `OnFailure` containers restart inside their Pods; the restarts count as failures. */
function hasRestartedTooOften({ job, pods }: JobView, limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== "OnFailure") return false;
  const running = pods.filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending");
  const statuses = running.flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]);
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Undefined without a deadline, and while the Job does not run. */
export function deadlineLeftMs(job: Job, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const { startTime } = job.status ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(job)) return undefined;
  return timeOf(startTime) + activeDeadlineSeconds * 1_000 - now;
}

function byIndexes({ job, succeededIndexes, failedIndexes }: JobView): Ending | undefined {
  if (!isIndexed(job)) return undefined;
  if (hasLimitPerIndex(job) && failedIndexes !== undefined) {
    const failed = countIndexes(failedIndexes);
    const { maxFailedIndexes, completions = 0 } = job.spec;
    if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
      return failedBy("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
    }
    if (failed > 0 && failed + countIndexes(succeededIndexes) >= completions) return failedBy("FailedIndexes", "Job has failed indexes");
  }
  const met = metSuccessRule(job, succeededIndexes);
  return met === undefined ? undefined : { result: "Complete", reason: "SuccessPolicy", message: met };
}

/**
 * A Job and its Pods, sorted for one pass: running Pods, Pods that ended since the last status write, finished indexes. Pure.
 *
 * Ended Pods keep a finalizer until they are counted. `settling` are those whose finalizer this process has removed and whose new state
 * is not in the cache yet: they are counted already.
 */
import type { Job, Pod } from "#kube";
import { isPodActive, isPodReady, isPodTerminating } from "../pods/pod-state.ts";
import { backoffAfter, finishedAt, type BackoffRecord } from "./job-backoff.ts";
import {
  countAnnotation,
  hasLimitPerIndex,
  hasValidIndex,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  indexOf,
  isIndexed,
  isPodFailed,
  isTracked,
} from "./job-facts.ts";
import { countIndexes, hasIndex, NO_INDEXES, parseIndexes, withIndexes, type Indexes } from "./indexes.ts";
import { judge } from "./pod-failure-policy.ts";

export type JobView = {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: number;
  readonly ready: number;
  /** Including ended Pods that are not in the counters of the status yet. */
  readonly succeeded: number;
  readonly failed: number;
  readonly previousIndexes: Indexes;
  readonly succeededIndexes: Indexes;
  /** Undefined unless the Job has a limit per index. */
  readonly failedIndexes: Indexes | undefined;
  /** By index: the failed Pod whose replacement backs off. It keeps its finalizer, because its count is copied to the replacement. */
  readonly waitingByIndex: ReadonlyMap<number, Pod>;
  readonly backoff: BackoffRecord;
  readonly settling: ReadonlySet<string>;
};

export function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}

export function viewOf(job: Job, pods: readonly Pod[], known: { settling: ReadonlySet<string>; backoff: BackoffRecord }): JobView {
  const { settling } = known;
  const active = pods.filter(isPodActive);
  const uncounted = job.status?.uncountedTerminatedPods ?? {};
  const fresh = pods.filter((pod) => isTracked(pod) && !settling.has(uidOf(pod)) && (!isIndexed(job) || hasValidIndex(job, pod)));
  const [knownSucceeded, knownFailed] = [new Set(uncounted.succeeded), new Set(uncounted.failed)];
  const newSucceeded = fresh.filter((pod) => pod.status?.phase === "Succeeded" && !knownSucceeded.has(uidOf(pod)));
  const newFailed = fresh.filter((pod) => isPodFailed(pod, job) && !knownFailed.has(uidOf(pod)));
  const indexes = indexesOf(job, pods, active, fresh);
  const counted = (job.status?.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded ?? []).length;
  return {
    job,
    pods,
    active,
    settling,
    terminating: pods.filter(isPodTerminating).length,
    ready: active.filter(isPodReady).length,
    succeeded: isIndexed(job) ? countIndexes(indexes.succeededIndexes) : counted,
    failed: (job.status?.failed ?? 0) + newFailed.filter((pod) => judge(job, pod).counts).length + (uncounted.failed ?? []).length,
    ...indexes,
    backoff: backoffAfter(known.backoff, newSucceeded, newFailed),
  };
}

type IndexView = Pick<JobView, "previousIndexes" | "succeededIndexes" | "failedIndexes" | "waitingByIndex">;

function indexesOf(job: Job, pods: readonly Pod[], active: readonly Pod[], fresh: readonly Pod[]): IndexView {
  const completions = job.spec.completions ?? 0;
  if (!isIndexed(job))
    return { previousIndexes: NO_INDEXES, succeededIndexes: NO_INDEXES, failedIndexes: undefined, waitingByIndex: new Map() };
  const valid = pods.filter((pod) => isTracked(pod) && hasValidIndex(job, pod));
  const previousIndexes = parseIndexes(job.status?.completedIndexes, completions);
  const succeededIndexes = withIndexes(previousIndexes, valid.filter(({ status }) => status?.phase === "Succeeded").map(indexOf));
  if (!hasLimitPerIndex(job)) return { previousIndexes, succeededIndexes, failedIndexes: undefined, waitingByIndex: new Map() };
  const failedIndexes = withIndexes(
    parseIndexes(job.status?.failedIndexes, completions),
    valid.filter((pod) => failsIndex(job, pod)).map(indexOf),
  );
  const running = new Set(active.map(indexOf));
  const done = (index: number) => hasIndex(succeededIndexes, index) || hasIndex(failedIndexes, index) || running.has(index);
  const waiting = fresh.filter((pod) => isPodFailed(pod, job) && !done(indexOf(pod)));
  return { previousIndexes, succeededIndexes, failedIndexes, waitingByIndex: latestByIndex(waiting) };
}

function failsIndex(job: Job, pod: Pod): boolean {
  if (!isPodFailed(pod, job)) return false;
  const { action, counts } = judge(job, pod);
  return action === "FailIndex" || (counts && countAnnotation(pod, INDEX_FAILURES) >= (job.spec.backoffLimitPerIndex ?? 0));
}

export function absoluteFailures(pod: Pod): number {
  return countAnnotation(pod, INDEX_FAILURES) + countAnnotation(pod, INDEX_IGNORED_FAILURES);
}

function latestByIndex(pods: readonly Pod[]): ReadonlyMap<number, Pod> {
  const latest = new Map<number, Pod>();
  for (const pod of pods) {
    const known = latest.get(indexOf(pod));
    const isLater = known === undefined || (absoluteFailures(known) <= absoluteFailures(pod) && finishedAt(pod) >= finishedAt(known));
    if (isLater) latest.set(indexOf(pod), pod);
  }
  return latest;
}

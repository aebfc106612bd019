/** Creates or deletes Pods of a Job until the right number runs. Returns the running Pods afterwards. */
import { ok, type Result } from "#base";
import { jobs, keyOf, keyText, type Pod } from "#kube";
import type { KubeError } from "#kube-client";
import { inPlainDeletionOrder } from "../pods/deletion-order.ts";
import { isNamespaceEnding } from "../pods/pod-control.ts";
import { isPodReady, isPodTerminating } from "../pods/pod-state.ts";
import { slowStart } from "../pods/slow-start.ts";
import { hasLimitPerIndex, hasValidIndex, indexOf, isIndexed, isSuspended, isTracked, replacesOnlyFailed } from "./job-facts.ts";
import { firstMissing, union, withIndexes, NO_INDEXES } from "./indexes.ts";
import { finishedAt, remainingMs } from "./job-backoff.ts";
import { indexedGenerateName, indexedTemplate, jobTemplate } from "./job-pods.ts";
import { absoluteFailures, type JobView } from "./job-view.ts";
import { removeFinalizer, type JobWork } from "./job-work.ts";

const AT_ONCE = 500;

export type Managed = {
  readonly active: number;
  readonly terminating: number;
  readonly ready: number;
  /** When to create the Pods that back off now. */
  readonly waitMs?: number;
  readonly error?: KubeError;
};

export async function manageJob(work: JobWork, view: JobView, now: number): Promise<Managed> {
  const { active, terminating } = view;
  const wanted = isSuspended(view.job) ? 0 : wantedActive(view);
  const surplus = podsToRemove(view, Math.max(0, active.length - wanted)).slice(0, AT_ONCE);
  if (surplus.length > 0) return removePods(work, view, surplus, "untrack");
  const missing = wanted - active.length - (replacesOnlyFailed(view.job) ? terminating : 0);
  return missing > 0 && !isSuspended(view.job) ? createPods(work, view, Math.min(missing, AT_ONCE), now) : unchanged(view);
}

function unchanged({ active, terminating, ready }: JobView): Managed {
  return { active: active.length, terminating, ready };
}

/** Without `completions` no new Pods are created once one has succeeded. */
function wantedActive({ job, active, succeeded }: JobView): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** One of two Pods with the same index is removed, and so is one whose index the Job no longer has. */
function podsToRemove({ job, active }: JobView, atLeast: number): readonly Pod[] {
  const ordered = inPlainDeletionOrder(active);
  if (!isIndexed(job)) return ordered.slice(0, atLeast);
  const kept = new Map(ordered.filter((pod) => hasValidIndex(job, pod)).map((pod) => [indexOf(pod), pod]));
  const isKept = (pod: Pod) => kept.get(indexOf(pod)) === pod;
  const [left, duplicates] = [ordered.filter(isKept), ordered.filter((pod) => !isKept(pod))];
  return [...duplicates, ...left.slice(0, Math.max(0, atLeast - duplicates.length))];
}

/** "untrack": they are not to be counted. "count": their finalizer stays, and they are counted as failed. */
export async function removePods(work: JobWork, view: JobView, pods: readonly Pod[], how: "untrack" | "count"): Promise<Managed> {
  const { job } = view;
  const key = keyText(keyOf(job));
  const owner = { object: job, resource: jobs };
  const podKeys = pods.map((pod) => keyText(keyOf(pod)));
  if (how === "untrack") work.expectations.expectDeletions(key, podKeys);
  const answers = await Promise.all(
    pods.map(async (pod, index): Promise<Result<unknown, KubeError>> => {
      const untracked = how === "untrack" && isTracked(pod) ? await removeFinalizer(work, pod) : ok(undefined);
      const removed = untracked.ok ? await work.control.remove(owner, pod.metadata.name) : untracked;
      if (!removed.ok) work.expectations.deleted(key, podKeys[index] ?? "");
      return removed.ok || removed.error.kind !== "not-found" ? removed : ok(undefined);
    }),
  );
  const failed = answers.find((answer) => !answer.ok);
  const gone = answers.filter(({ ok: isGone }) => isGone).length;
  return {
    active: view.active.length - gone,
    terminating: view.terminating + gone,
    ready: view.ready - pods.filter(isPodReady).length,
    ...(failed?.ok === false ? { error: failed.error } : {}),
  };
}

async function createPods(work: JobWork, view: JobView, count: number, now: number): Promise<Managed> {
  const { job } = view;
  const wait = hasLimitPerIndex(job) ? 0 : remainingMs(view.backoff, now);
  if (wait > 0) return { ...unchanged(view), waitMs: wait };
  if (!isIndexed(job))
    return create(
      work,
      view,
      Array.from({ length: count }, () => undefined),
    );
  const pending = pendingIndexes(view, count);
  const waits = pending.map((index) => indexWait(view, index, now));
  const due = pending.filter((_, at) => waits[at] === 0);
  if (due.length === 0 && pending.length > 0) return { ...unchanged(view), waitMs: waits.reduce((a, b) => Math.min(a, b)) };
  return create(work, view, due);
}

function pendingIndexes({ job, active, pods, succeededIndexes, failedIndexes }: JobView, count: number): readonly number[] {
  const taken = [...active, ...(replacesOnlyFailed(job) ? pods.filter(isPodTerminating) : [])].map(indexOf).filter((index) => index >= 0);
  const done = union(withIndexes(succeededIndexes, taken), failedIndexes ?? NO_INDEXES);
  return firstMissing(done, count, job.spec.completions ?? 0);
}

function indexWait({ waitingByIndex }: JobView, index: number, now: number): number {
  const failed = waitingByIndex.get(index);
  return failed === undefined ? 0 : remainingMs({ failures: absoluteFailures(failed) + 1, lastFailureAt: finishedAt(failed) }, now);
}

async function create(work: JobWork, view: JobView, indexes: readonly (number | undefined)[]): Promise<Managed> {
  const { job } = view;
  const key = keyText(keyOf(job));
  const template = jobTemplate(job);
  const owner = { object: job, resource: jobs };
  work.expectations.expectCreations(key, indexes.length);
  const { missing, error } = await slowStart(indexes.length, async (at) => {
    const index = indexes[at];
    const created =
      index === undefined
        ? await work.control.create(owner, template)
        : await work.control.create(
            owner,
            indexedTemplate(job, template, index, view.waitingByIndex.get(index)),
            indexedGenerateName(job, index),
          );
    if (created.ok || !isNamespaceEnding(created.error)) return created;
    work.expectations.created(key);
    return ok(undefined);
  });
  if (missing > 0) work.expectations.created(key, missing);
  const active = view.active.length + indexes.length - missing;
  return { ...unchanged(view), active, ...(error === undefined ? {} : { error }) };
}

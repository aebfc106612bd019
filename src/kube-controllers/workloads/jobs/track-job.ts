/**
 * Counts ended Pods exactly once, even if a crash happens between any two writes.
 *
 * In four steps: the uids of ended Pods are added to the status (`uncountedTerminatedPods`); their finalizers are removed; the uids become
 * numbers; and when nothing is left to count, the Job is finished. A Pod cannot be deleted before the first step, because it has a finalizer.
 */
import { err, ok, timestamp, type Result } from "#base";
import { jobs, keyOf, keyText, type Job, type JobStatus, type Pod } from "#kube";
import type { KubeError } from "#kube-client";
import { ensureCondition, newCondition, TARGETS, type Ending } from "./job-conditions.ts";
import { conditionOf, hasLimitPerIndex, hasValidIndex, indexOf, isIndexed, isPodFailed, isTracked } from "./job-facts.ts";
import { countIndexes, formatIndexes, hasIndex, withIndexes } from "./indexes.ts";
import { uidOf, type JobView } from "./job-view.ts";
import { removeFinalizer, type JobWork } from "./job-work.ts";
import { judge } from "./pod-failure-policy.ts";

const MAX_UNCOUNTED = 500;

export type JobStatusDraft = {
  /** With the current counters of running Pods. */
  readonly status: JobStatus;
  readonly ending: Ending | undefined;
  readonly changed: boolean;
};

export async function trackJob(work: JobWork, view: JobView, draft: JobStatusDraft): Promise<Result<void, KubeError>> {
  const open = new Set(view.pods.filter((pod) => isTracked(pod) && !view.settling.has(uidOf(pod))).map(uidOf));
  const collected = collect(view, draft, open);
  const announced = announce(view.job, collected.status, draft.ending, timestamp(work.clock));
  const flush = draft.changed || collected.changed || announced !== collected.status;
  const flushed = flush ? await write(work, view.job, announced) : ok({ ...view.job, status: announced });
  if (!flushed.ok) return flushed;
  if (flush) work.backoffs.set(keyText(keyOf(view.job)), view.backoff);
  const released = await release(work, view.job, collected.ended);
  for (const uid of released.uids) open.delete(uid);
  const settled = settle(flushed.value.status ?? {}, open);
  if (released.error !== undefined) {
    if (settled.changed) await write(work, flushed.value, settled.status);
    return err(released.error);
  }
  return finish(work, flushed.value, {
    ...settled,
    ending: collected.more ? undefined : draft.ending,
    terminating: draft.status.terminating ?? 0,
  });
}

type Collected = {
  readonly status: JobStatus;
  readonly changed: boolean;
  /** Their finalizers can be removed. */
  readonly ended: readonly Pod[];
  /** There are more than one status can hold; the rest is for the next pass. */
  readonly more: boolean;
};

/** Step one: Pods that have ended and are not in the status yet. */
function collect(view: JobView, draft: JobStatusDraft, open: ReadonlySet<string>): Collected {
  const { job } = view;
  const before = settle(draft.status, open);
  const succeeded = [...(before.status.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(before.status.uncountedTerminatedPods?.failed ?? [])];
  const [known, indexes] = [succeeded.length + failed.length, new Set<number>()];
  const ended: Pod[] = [];
  const pods = isIndexed(job) ? view.pods.toSorted((a, b) => indexOf(a) - indexOf(b)) : view.pods;
  for (const pod of pods) {
    if (!open.has(uidOf(pod)) || !mayRelease(view, draft.ending, pod)) continue;
    if (succeeded.length + failed.length + indexes.size >= MAX_UNCOUNTED) break;
    ended.push(pod);
    if (pod.status?.phase === "Succeeded" && !failed.includes(uidOf(pod))) noteSuccess(view, pod, { succeeded, indexes });
    else if (countsAsFailure(view, draft.ending, pod) && !failed.includes(uidOf(pod))) failed.push(uidOf(pod));
  }
  const status = withIndexStatus(view, { ...before.status, uncountedTerminatedPods: uncounted(succeeded, failed) }, indexes);
  const isNew = succeeded.length + failed.length > known || status.completedIndexes !== draft.status.completedIndexes;
  const more = ended.length >= MAX_UNCOUNTED;
  return { status, changed: before.changed || isNew || status.failedIndexes !== draft.status.failedIndexes, ended, more };
}

function noteSuccess({ job, previousIndexes }: JobView, pod: Pod, to: { succeeded: string[]; indexes: Set<number> }): void {
  if (!isIndexed(job)) {
    if (!to.succeeded.includes(uidOf(pod))) to.succeeded.push(uidOf(pod));
  } else if (hasValidIndex(job, pod) && !hasIndex(previousIndexes, indexOf(pod))) {
    to.indexes.add(indexOf(pod));
  }
}

/** All of them when the Job ends or is deleted; otherwise the ended ones, except one whose replacement still needs its count. */
function mayRelease({ job, waitingByIndex }: JobView, ending: Ending | undefined, pod: Pod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || ending !== undefined || pod.status?.phase === "Succeeded") return true;
  if (!isPodFailed(pod, job)) return false;
  return !hasLimitPerIndex(job) || waitingByIndex.get(indexOf(pod)) !== pod;
}

function countsAsFailure({ job }: JobView, ending: Ending | undefined, pod: Pod): boolean {
  if (!isPodFailed(pod, job) && ending?.result !== "Failed") return false;
  return (!isIndexed(job) || hasValidIndex(job, pod)) && judge(job, pod).counts;
}

function withIndexStatus({ job, succeededIndexes, failedIndexes }: JobView, status: JobStatus, more: ReadonlySet<number>): JobStatus {
  if (!isIndexed(job)) return status;
  const all = withIndexes(succeededIndexes, more);
  const text = formatIndexes(all);
  const { completedIndexes: _before, succeeded: _count, ...rest } = status;
  return {
    ...rest,
    ...(text === "" ? {} : { completedIndexes: text, succeeded: countIndexes(all) }),
    ...(failedIndexes === undefined ? {} : { failedIndexes: formatIndexes(failedIndexes) }),
  };
}

/** Uids of Pods without the finalizer become numbers. */
function settle(status: JobStatus, open: ReadonlySet<string>): { readonly status: JobStatus; readonly changed: boolean } {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const stillSucceeded = succeeded.filter((uid) => open.has(uid));
  const stillFailed = failed.filter((uid) => open.has(uid));
  const [more, worse] = [succeeded.length - stillSucceeded.length, failed.length - stillFailed.length];
  if (more + worse === 0) return { status, changed: false };
  const counts = {
    ...((status.succeeded ?? 0) + more === 0 ? {} : { succeeded: (status.succeeded ?? 0) + more }),
    ...((status.failed ?? 0) + worse === 0 ? {} : { failed: (status.failed ?? 0) + worse }),
  };
  return { status: { ...status, ...counts, uncountedTerminatedPods: uncounted(stillSucceeded, stillFailed) }, changed: true };
}

function uncounted(succeeded: readonly string[], failed: readonly string[]): NonNullable<JobStatus["uncountedTerminatedPods"]> {
  return { ...(succeeded.length === 0 ? {} : { succeeded }), ...(failed.length === 0 ? {} : { failed }) };
}

/** SuccessCriteriaMet is written before Complete: clients that wait for success need not wait for the last Pod to end. */
function announce(job: Job, status: JobStatus, ending: Ending | undefined, now: string): JobStatus {
  if (ending === undefined || conditionOf(job, TARGETS[ending.result]) !== undefined) return status;
  return { ...status, conditions: [...(status.conditions ?? []), newCondition(TARGETS[ending.result], ending, now)] };
}

async function release(work: JobWork, job: Job, pods: readonly Pod[]): Promise<{ uids: readonly string[]; error: KubeError | undefined }> {
  const key = keyText(keyOf(job));
  const settling = work.settling.get(key) ?? new Set();
  work.settling.set(key, settling);
  for (const pod of pods) settling.add(uidOf(pod));
  const answers = await Promise.all(
    pods.map(async (pod) => {
      const removed = await removeFinalizer(work, pod);
      if (!removed.ok) settling.delete(uidOf(pod));
      const isOff = removed.ok || removed.error.kind === "not-found";
      return { uid: uidOf(pod), error: isOff || removed.ok ? undefined : removed.error };
    }),
  );
  return {
    uids: answers.flatMap(({ uid, error }) => (error === undefined ? [uid] : [])),
    error: answers.flatMap(({ error }) => error ?? [])[0],
  };
}

type Last = { readonly status: JobStatus; readonly changed: boolean; readonly ending: Ending | undefined; readonly terminating: number };

async function finish(work: JobWork, job: Job, { status, changed, ending, terminating }: Last): Promise<Result<void, KubeError>> {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const isOver = ending !== undefined && succeeded.length + failed.length === 0 && terminating === 0;
  if (!isOver) return changed ? done(await write(work, job, status)) : ok(undefined);
  const now = timestamp(work.clock);
  const conditions = ensureCondition(status.conditions ?? [], newCondition(ending.result, ending, now));
  const last = { ...status, conditions, ...(ending.result === "Complete" ? { completionTime: now } : {}) };
  const written = await write(work, job, last);
  if (!written.ok) return written;
  recordEnd(work, written.value, ending);
  return ok(undefined);
}

function done(answer: Result<unknown, KubeError>): Result<void, KubeError> {
  return answer.ok ? ok(undefined) : answer;
}

function recordEnd({ record }: JobWork, job: Job, { result, reason, message }: Ending): void {
  if (result === "Failed") return record({ regarding: job, type: "Warning", reason, note: message });
  const { completions } = job.spec;
  if (completions !== undefined && (job.status?.succeeded ?? 0) > completions) {
    const note = "Too many succeeded pods running after completion count reached";
    record({ regarding: job, type: "Warning", reason: "TooManySucceededPods", note });
  }
  record({ regarding: job, type: "Normal", reason: "Completed", note: "Job completed" });
}

async function write({ client, written }: JobWork, job: Job, status: JobStatus): Promise<Result<Job, KubeError>> {
  const updated = await client.update(jobs, { ...job, status }, { subresource: "status" });
  if (updated.ok) written.wrote(updated.value);
  return updated;
}

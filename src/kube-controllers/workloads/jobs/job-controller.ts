/**
 * Jobs: Pods that run to completion, counted when they end.
 *
 * A Job that will end first gets a condition (`SuccessCriteriaMet`, `FailureTarget`), then its Pods end, and only then is it Complete or Failed.
 */
import { timestamp } from "#base";
import type { WorkQueue } from "#controller-runtime";
import { jobs as jobResource, keyText, parseKey, pods as podResource, type Job, type JobStatus, type Pod } from "#kube";
import type { KubeController } from "../../context.ts";
import { again, done, failed, passOf, type Pass } from "../../work.ts";
import { claim } from "../pods/claim.ts";
import { Expectations } from "../pods/expectations.ts";
import { childHandler } from "../pods/follow-children.ts";
import { indexByController, ownedOrOrphaned, resolveController } from "../pods/owners.ts";
import { podControl } from "../pods/pod-control.ts";
import { podLimitOf } from "../pods/pod-limit.ts";
import { WrittenVersions } from "../pods/written-versions.ts";
import { omitEmpty } from "../pods/status-update.ts";
import { COMPLETED, ensureCondition, newCondition, type Ending } from "./job-conditions.ts";
import { NO_FAILURES } from "./job-backoff.ts";
import { deadlineLeftMs, endingOf } from "./job-ending.ts";
import { finishedAs, isForeign, isSuspended, isTracked, selectorOf, TRACKING_FINALIZER } from "./job-facts.ts";
import { followOrphans } from "./job-orphans.ts";
import { uidOf, viewOf, type JobView } from "./job-view.ts";
import { forgetJob, type JobWork } from "./job-work.ts";
import { manageJob, removePods, type Managed } from "./manage-job.ts";
import { trackJob } from "./track-job.ts";

export const jobController: KubeController = {
  name: "job-controller",
  start(context) {
    const { informers, client, clock, record } = context;
    const work: JobWork = {
      client,
      clock,
      record,
      jobs: informers.of(jobResource),
      pods: indexByController(informers.of(podResource)),
      control: podControl({ ...context, limit: podLimitOf(context) }),
      expectations: new Expectations(clock),
      settling: new Map(),
      backoffs: new Map(),
      written: new WrittenVersions(),
    };
    const queue = context.work({ name: "job", pass: (key) => pass(work, key), backoff: { initialMs: 1_000, maxMs: 60_000, factor: 2 } });
    informers.subscribe(jobResource, ({ key, before, after }) => {
      if (before !== undefined && after?.metadata.uid !== before.metadata.uid) {
        forgetJob(work, keyText(key));
        work.written.forget(before.metadata.uid ?? "");
      }
      queue.add(keyText(key));
    });
    followPods(work, queue, (handler) => informers.subscribe(podResource, handler));
    followOrphans(context, work);
  },
};

type Subscribe = (handler: (change: Parameters<ReturnType<typeof childHandler<Job, Pod>>>[0]) => void) => void;

function followPods(work: JobWork, queue: WorkQueue, subscribe: Subscribe): void {
  const { jobs, expectations } = work;
  const enqueue = (key: string) => queue.add(key);
  const handle = childHandler<Job, Pod>({ owners: jobs, ownerResource: jobResource, selectorOf, enqueue, expectations });
  subscribe((change) => {
    const { before, after } = change;
    const job = before === undefined ? undefined : resolveController(jobs, jobResource, before);
    if (before !== undefined && job !== undefined && (after === undefined || !isTracked(after))) {
      work.settling.get(keyText({ namespace: job.metadata.namespace, name: job.metadata.name }))?.delete(uidOf(before));
    }
    handle(change);
  });
}

async function pass(work: JobWork, key: string): Promise<Pass> {
  const cached = work.jobs.get(parseKey(key));
  if (cached === undefined) {
    forgetJob(work, key);
    return done;
  }
  if (!work.written.isCurrent(cached) || isForeign(cached)) return done;
  if (finishedAs(cached) !== undefined) {
    work.backoffs.delete(key);
    return done;
  }
  // both before the Pods are read: events during the pass are not in its list, and must still count as unobserved
  const satisfied = work.expectations.satisfied(key);
  const settling = new Set(work.settling.get(key));
  const { client } = work;
  const claimant = {
    client,
    owner: cached,
    ownerResource: jobResource,
    resource: podResource,
    selector: selectorOf(cached),
    finalizer: TRACKING_FINALIZER,
  };
  const pods = await claim(claimant, ownedOrOrphaned(work.pods, cached));
  if (!pods.ok) return passOf(pods);
  const known = { settling, backoff: work.backoffs.get(key) ?? NO_FAILURES };
  return syncJob(work, viewOf(begun(work, cached), pods.value, known), satisfied);
}

function begun({ clock }: JobWork, job: Job): Job {
  if (job.status?.startTime !== undefined || isSuspended(job)) return job;
  return { ...job, status: { ...job.status, startTime: timestamp(clock) } };
}

async function syncJob(work: JobWork, view: JobView, satisfied: boolean): Promise<Pass> {
  const { job } = view;
  const now = work.clock.now();
  const ending = endingOf(view, now);
  const mayManage = satisfied && job.metadata.deletionTimestamp === undefined;
  const managed =
    ending !== undefined
      ? await removePods(work, view, view.active, "count")
      : mayManage
        ? await manageJob(work, view, now)
        : standing(view);
  const over = ending ?? (isReached(view, managed) ? COMPLETED : undefined);
  // the Job may end only when its running Pods are known for certain
  const certain = ending === undefined || (satisfied && managed.active === 0) ? over : undefined;
  const suspended = ending === undefined && over === undefined && mayManage ? noteSuspension(work, job) : job.status;
  const status = withCounters(suspended ?? {}, managed);
  const changed = suspended !== job.status || countersDiffer(job.status, status);
  const tracked = await trackJob(work, view, { status, ending: certain, changed });
  if (!tracked.ok) return passOf(tracked);
  if (managed.error !== undefined)
    return managed.error.kind === "conflict" ? passOf({ ok: false, error: managed.error }) : failed(managed.error.message);
  return nextCheck(job, managed, over, now);
}

function standing({ active, terminating, ready }: JobView): Managed {
  return { active: active.length, terminating, ready };
}

function isReached({ job, succeeded }: JobView, { active }: Managed): boolean {
  const { completions } = job.spec;
  return active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}

/** The status with the current `Suspended`; the same object when nothing changes. */
function noteSuspension({ clock, record }: JobWork, job: Job): JobStatus | undefined {
  const now = timestamp(clock);
  const isOff = isSuspended(job);
  const draft = isOff
    ? ({ status: "True", reason: "JobSuspended", message: "Job suspended" } as const)
    : ({ status: "False", reason: "JobResumed", message: "Job resumed" } as const);
  const known = job.status?.conditions ?? [];
  const conditions = ensureCondition(known, newCondition("Suspended", draft, now));
  if (conditions === known) return job.status;
  record({ regarding: job, type: "Normal", reason: isOff ? "Suspended" : "Resumed", note: draft.message });
  const { startTime: _started, ...rest } = job.status ?? {};
  return { ...rest, conditions, ...(isOff ? {} : { startTime: now }) };
}

function withCounters(status: JobStatus, { active, ready, terminating }: Managed): JobStatus {
  const { active: _active, ...rest } = status;
  const { uncountedTerminatedPods = {} } = status;
  return { ...rest, ...omitEmpty({ active }), ready, terminating, uncountedTerminatedPods };
}

function countersDiffer(before: JobStatus | undefined, after: JobStatus): boolean {
  return before?.active !== after.active || before?.ready !== after.ready || before?.terminating !== after.terminating;
}

function nextCheck(job: Job, { waitMs }: Managed, over: Ending | undefined, now: number): Pass {
  const left = over === undefined ? deadlineLeftMs(job, now) : undefined;
  const soonest = Math.min(waitMs ?? Infinity, left ?? Infinity);
  return soonest === Infinity ? done : again(Math.max(1, soonest));
}

/** Starts one run of a CronJob: deadline, concurrency, and the Job itself, whose name contains the minute, so that no run is started twice. */
import { cronJobs, jobs, keyOf, type CronJob, type CronJobStatus, type Job } from "#kube";
import type { KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { controllerReference, isControlledBy } from "../pods/owners.ts";
import { isNamespaceEnding } from "../pods/pod-control.ts";
import { timeOf } from "../pods/pod-state.ts";
import { deleteJob, withoutActive, type CronJobRun } from "./active-jobs.ts";
import type { CronSchedule } from "./cron-schedule.ts";
import { untilNext } from "./missed-schedules.ts";
import { zonedText, type Zone } from "./time-zone.ts";

const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";

export type Planned = { readonly schedule: CronSchedule; readonly zone: Zone; readonly at: number; readonly now: number };

/** Undefined when nothing is to be started now. */
export async function startJob(context: KubeControllerContext, cronJob: CronJob, planned: Planned): Promise<CronJobRun | undefined> {
  if (!mayStart(context, cronJob, planned)) return undefined;
  const replaced = await replaceActive(context, cronJob);
  if (!replaced.done) return { status: replaced.status, pass: again(1_000) };
  const wanted = jobFor(cronJob, planned);
  const created = await context.client.create(jobs, wanted);
  if (created.ok) {
    context.record({ regarding: cronJob, type: "Normal", reason: "SuccessfulCreate", note: `Created job ${wanted.metadata.name}` });
    return started(cronJob, replaced.status, created.value, planned);
  }
  if (created.error.kind === "already-exists") return adopt(context, cronJob, { status: replaced.status, wanted, planned });
  if (!isNamespaceEnding(created.error)) {
    context.record({ regarding: cronJob, type: "Warning", reason: "FailedCreate", note: `Error creating job: ${created.error.message}` });
  }
  return { status: replaced.status, pass: passOf(created) };
}

function mayStart({ record }: KubeControllerContext, cronJob: CronJob, { at, now }: Planned): boolean {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  if (startingDeadlineSeconds !== undefined && at + startingDeadlineSeconds * 1_000 < now) {
    const when = new Date(at).toUTCString().replace("GMT", "+0000");
    record({ regarding: cronJob, type: "Warning", reason: "MissSchedule", note: `Missed scheduled time to start a job: ${when}` });
    return false;
  }
  const active = cronJob.status?.active ?? [];
  const name = jobName(cronJob, at);
  if (active.some((job) => job.name === name) || timeOf(cronJob.status?.lastScheduleTime) === at) return false;
  if (concurrencyPolicy !== "Forbid" || active.length === 0) return true;
  const note = "Not starting job because prior execution is running and concurrency policy is Forbid";
  record({ regarding: cronJob, type: "Normal", reason: "JobAlreadyActive", note });
  return false;
}

async function replaceActive(
  context: KubeControllerContext,
  cronJob: CronJob,
): Promise<{ readonly status: CronJobStatus; readonly done: boolean }> {
  let status = cronJob.status ?? {};
  if (cronJob.spec.concurrencyPolicy !== "Replace") return { status, done: true };
  for (const { name = "", namespace } of status.active ?? []) {
    const job = await context.client.get(jobs, { namespace, name });
    if (!job.ok) {
      context.record({ regarding: cronJob, type: "Warning", reason: "FailedGet", note: `Get job: ${job.error.message}` });
      return { status, done: false };
    }
    if (!(await deleteJob(context, cronJob, job.value))) return { status, done: false };
    status = withoutActive(status, job.value);
  }
  return { status, done: true };
}

/** Created by an earlier pass whose status write failed; or by another owner, and then this run is skipped. */
async function adopt(
  { client }: KubeControllerContext,
  cronJob: CronJob,
  { status, wanted, planned }: { status: CronJobStatus; wanted: Job; planned: Planned },
): Promise<CronJobRun> {
  const there = await client.get(jobs, keyOf(wanted));
  if (!there.ok) return { status, pass: passOf(there) };
  return isControlledBy(there.value, cronJob) ? started(cronJob, status, there.value, planned) : { status, pass: done };
}

function started(cronJob: CronJob, status: CronJobStatus, job: Job, planned: Planned): CronJobRun {
  const { name, namespace = "", uid = "", resourceVersion = "" } = job.metadata;
  const active = [...(status.active ?? []), { apiVersion: "batch/v1", kind: "Job", name, namespace, uid, resourceVersion }];
  const next = { ...status, active, lastScheduleTime: secondsText(planned.at) };
  const until = untilNext({ ...cronJob, status: next }, planned.schedule, planned.now);
  const pass: Pass = until === undefined ? done : again(until);
  return { status: next, pass };
}

function jobName({ metadata }: CronJob, at: number): string {
  return `${metadata.name}-${Math.floor(at / 60_000)}`;
}

function jobFor(cronJob: CronJob, { at, zone }: Planned): Job {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobName(cronJob, at),
      namespace: cronJob.metadata.namespace ?? "",
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: { ...metadata?.annotations, [SCHEDULED]: zonedText(zone, at) },
      ownerReferences: [controllerReference(cronJob, cronJobs)],
    },
    spec,
  };
}

function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

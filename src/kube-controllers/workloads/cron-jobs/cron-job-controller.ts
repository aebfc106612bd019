/** CronJobs: creates Jobs by schedule and concurrency policy, and deletes old ones. */
import type { EventNote } from "#controller-runtime";
import { cronJobs, jobs as jobResource, keyOf, keyText, parseKey, type CronJob, type CronJobStatus, type Job } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { finishedAs } from "../jobs/job-facts.ts";
import { childHandler } from "../pods/follow-children.ts";
import { indexByController, ownedBy } from "../pods/owners.ts";
import { timeOf } from "../pods/pod-state.ts";
import { updateStatus } from "../pods/status-update.ts";
import { deleteJob, withoutActive, type CronJobRun } from "./active-jobs.ts";
import { parseSchedule, type CronSchedule } from "./cron-schedule.ts";
import { dueRun, untilNext } from "./missed-schedules.ts";
import { startJob } from "./start-job.ts";
import { parseZone, type Zone } from "./time-zone.ts";

export const cronJobController: KubeController = {
  name: "cronjob-controller",
  start(context) {
    const { informers } = context;
    const owners = informers.of(cronJobs);
    indexByController(informers.of(jobResource));
    const queue = context.work({ name: "cronjob", pass: (key) => pass(context, key) });
    const enqueue = (key: string) => queue.add(key);
    informers.subscribe(cronJobs, ({ key }) => enqueue(keyText(key)));
    informers.subscribe(jobResource, childHandler<CronJob, Job>({ owners, ownerResource: cronJobs, enqueue }));
  },
};

async function pass(context: KubeControllerContext, key: string): Promise<Pass> {
  const { client, informers } = context;
  const cronJob = informers.of(cronJobs).get(parseKey(key));
  if (cronJob === undefined) return done;
  const jobs = ownedBy(informers.of(jobResource), cronJob);
  const cleaned = await removeOld(context, cronJob, jobs);
  const observed = await observe(context, { ...cronJob, status: cleaned }, jobs);
  const run = await runIfDue(context, { ...cronJob, status: observed });
  const written = await updateStatus(client, cronJobs, cronJob, run.status);
  if (!written.ok) return passOf(written);
  return run.pass;
}

/** The status after finished Jobs beyond the limits are deleted. */
async function removeOld(context: KubeControllerContext, cronJob: CronJob, jobs: readonly Job[]): Promise<CronJobStatus> {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  const beyond = (result: "Complete" | "Failed", limit: number | undefined) => {
    const finished = jobs.filter((job) => finishedAs(job) === result && job.metadata.deletionTimestamp === undefined).toSorted(byStart);
    return limit === undefined ? [] : finished.slice(0, Math.max(0, finished.length - limit));
  };
  let status = cronJob.status ?? {};
  for (const job of [...beyond("Complete", successfulJobsHistoryLimit), ...beyond("Failed", failedJobsHistoryLimit)]) {
    if (await deleteJob(context, cronJob, job)) status = withoutActive(status, job);
  }
  return status;
}

function byStart(a: Job, b: Job): number {
  const [first, second] = [a.status?.startTime, b.status?.startTime];
  if ((first === undefined) !== (second === undefined)) return first === undefined ? 1 : -1;
  return timeOf(first) - timeOf(second) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** Updates the status with the state of the started Jobs. */
async function observe(context: KubeControllerContext, cronJob: CronJob, jobs: readonly Job[]): Promise<CronJobStatus> {
  const { record, informers } = context;
  let status = cronJob.status ?? {};
  const isActive = (uid: string | undefined, now = status) => (now.active ?? []).some((active) => active.uid === uid);
  for (const job of jobs) {
    const { name, uid } = job.metadata;
    const result = finishedAs(job);
    if (result === undefined && !isActive(uid)) {
      const fresh = await freshStatus(context, cronJob);
      if (isActive(uid, fresh)) status = fresh;
      else record(unexpected(cronJob, name));
    } else if (result !== undefined && isActive(uid)) {
      status = withoutActive(status, job);
      record({ regarding: cronJob, type: "Normal", reason: "SawCompletedJob", note: `Saw completed job: ${name}, condition: ${result}` });
    }
    const { completionTime } = job.status ?? {};
    const isLater = completionTime !== undefined && timeOf(completionTime) > timeOf(status.lastSuccessfulTime);
    if (result === "Complete" && isLater) status = { ...status, lastSuccessfulTime: completionTime };
  }
  for (const { name = "", namespace, uid } of status.active ?? []) {
    if (jobs.some(({ metadata }) => metadata.uid === uid) || informers.of(jobResource).get({ namespace, name }) !== undefined) continue;
    record({ regarding: cronJob, type: "Normal", reason: "MissingJob", note: `Active job went missing: ${name}` });
    status = withoutActive(status, { metadata: { name, ...(uid === undefined ? {} : { uid }) } });
  }
  return status;
}

/** Usually the Job is ours and the cache lacks the status write that recorded it. */
async function freshStatus({ client }: KubeControllerContext, cronJob: CronJob): Promise<CronJobStatus> {
  const fresh = await client.get(cronJobs, keyOf(cronJob));
  return fresh.ok ? (fresh.value.status ?? {}) : {};
}

function unexpected(regarding: CronJob, name: string): EventNote {
  return { regarding, type: "Warning", reason: "UnexpectedJob", note: `Saw a job that the controller did not create or forgot: ${name}` };
}

async function runIfDue(context: KubeControllerContext, cronJob: CronJob): Promise<CronJobRun> {
  const status = cronJob.status ?? {};
  if (cronJob.metadata.deletionTimestamp !== undefined || cronJob.spec.suspend === true) return { status, pass: done };
  const planned = scheduleOf(context, cronJob);
  if (planned === undefined) return { status, pass: done };
  const now = context.clock.now();
  const due = dueRun(cronJob, planned.schedule, now);
  const until = untilNext(cronJob, planned.schedule, now);
  const later: CronJobRun = { status, pass: until === undefined ? done : again(until) };
  if (due === undefined) return later;
  if (due.tooManyMissed) {
    const note = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    context.record({ regarding: cronJob, type: "Warning", reason: "TooManyMissedTimes", note });
  }
  return (await startJob(context, cronJob, { ...planned, at: due.at, now })) ?? later;
}

/** An invalid schedule or time zone is reported once, until the CronJob changes. */
function scheduleOf(
  { record }: KubeControllerContext,
  cronJob: CronJob,
): { readonly schedule: CronSchedule; readonly zone: Zone } | undefined {
  const { schedule: text, timeZone = "UTC" } = cronJob.spec;
  const zone = parseZone(timeZone);
  if (!zone.ok) {
    record({ regarding: cronJob, type: "Warning", reason: "UnknownTimeZone", note: `invalid timeZone: "${timeZone}": ${zone.error}` });
    return undefined;
  }
  const schedule = parseSchedule(text, zone.value);
  if (schedule.ok) return { schedule: schedule.value, zone: zone.value };
  record({
    regarding: cronJob,
    type: "Warning",
    reason: "UnparseableSchedule",
    note: `unparseable schedule: "${text}" : ${schedule.error}`,
  });
  return undefined;
}

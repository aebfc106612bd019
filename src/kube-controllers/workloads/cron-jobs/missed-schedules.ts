/** Which run of a CronJob is due now, and how long until the next. Pure. */
import type { CronJob } from "#kube";
import { timeOf } from "../pods/pod-state.ts";
import type { CronSchedule } from "./cron-schedule.ts";

/** Shortly after the minute: clocks of API servers differ. */
const DELTA_MS = 100;
const MANY = 100;

export type Due = { readonly at: number; readonly tooManyMissed: boolean };

type Recent = { readonly earliest: number; readonly latest: number | undefined; readonly missed: number };

/** The latest scheduled time since the last run (or the creation of the CronJob, or the deadline). */
function mostRecent({ metadata, spec, status }: CronJob, schedule: CronSchedule, now: number, withDeadline: boolean): Recent {
  const since = timeOf(status?.lastScheduleTime ?? metadata.creationTimestamp);
  const deadline = withDeadline && spec.startingDeadlineSeconds !== undefined ? now - spec.startingDeadlineSeconds * 1_000 : 0;
  const earliest = Math.max(since, deadline);
  const first = schedule.next(earliest);
  if (first === undefined || now < first) return { earliest, latest: undefined, missed: 0 };
  const second = schedule.next(first);
  if (second === undefined || now < second) return { earliest, latest: first, missed: 0 };
  const period = second - first;
  const missed = Math.floor((now - first) / period) + 1;
  // missed times are not iterated: after a long pause of this process there may be a million
  return { earliest, latest: latestRun(schedule, first + (missed - 2) * period, now), missed };
}

/** The last time after `from` that is not after `now`. A schedule that pauses for a month and then runs every minute has many. */
function latestRun(schedule: CronSchedule, from: number, now: number): number | undefined {
  let latest: number | undefined;
  let at = schedule.next(from);
  for (let steps = 0; at !== undefined && at <= now && steps < MANY; steps += 1) {
    latest = at;
    at = schedule.next(at);
  }
  if (at === undefined || at > now) return latest;
  let [low, high] = [at, now];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const next = schedule.next(middle);
    if (next !== undefined && next <= now) low = next;
    else high = middle;
  }
  return low;
}

export function dueRun(cronJob: CronJob, schedule: CronSchedule, now: number): Due | undefined {
  const { latest, missed } = mostRecent(cronJob, schedule, now, true);
  return latest === undefined ? undefined : { at: latest, tooManyMissed: missed > MANY };
}

/** Undefined when there is no further run. */
export function untilNext(cronJob: CronJob, schedule: CronSchedule, now: number): number | undefined {
  const { earliest, latest, missed } = mostRecent(cronJob, schedule, now, false);
  const next = schedule.next(latest ?? (missed === 0 ? earliest : now));
  return next === undefined ? undefined : Math.max(1, next + DELTA_MS - now);
}

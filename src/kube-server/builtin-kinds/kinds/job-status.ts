/**
 * What the status of a Job may say. Any controller may run Jobs (`managedBy`), so the server checks what clients rely on: a Job that has ended
 * stays ended, and counters do not fall.
 *
 * Most rules hold only for a write that changes what they are about: after a change of the spec a status may be wrong until its controller has
 * caught up, and may still be written to.
 */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { parseSeconds } from "../../apply/rfc3339.ts";
import { at, isTrueAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { duplicate, IMMUTABLE, invalid, invalidUnseen, required, type Causes } from "../rules/causes.ts";
import { indexesOverlap, indexesProblem } from "../rules/job-indexes.ts";
import { counts } from "../rules/workloads.ts";

type Facts = ReturnType<typeof factsOf>;
type Pair = { readonly next: Facts; readonly changed: (...names: readonly (keyof Facts)[]) => boolean };

export function validateJobStatus(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [factsOf(next), factsOf(previous)];
  const pair: Pair = { next: now, changed: (...names) => names.some((name) => !jsonEqual(now[name] ?? null, before[name] ?? null)) };
  return [
    ...counts(next, "status", "active", "succeeded", "failed", "ready", "terminating"),
    ...uncountedOnce(objectAt(next, "status", "uncountedTerminatedPods")),
    ...contradictions(pair),
    ...completion(pair),
    ...ending(pair),
    ...indexes(next, pair),
    ...leftovers(pair),
    ...transitions(next, now, before),
  ];
}

function factsOf(job: KubeObject) {
  const status = objectAt(job, "status");
  const holds = (type: string, truth = "True") =>
    objectsAt(status, "conditions").some((condition) => condition["type"] === type && condition["status"] === truth);
  const [complete, failed] = [holds("Complete"), holds("Failed")];
  return {
    complete,
    failed,
    finished: complete || failed,
    failing: holds("FailureTarget"),
    succeeding: holds("SuccessCriteriaMet"),
    suspended: holds("Suspended"),
    resumed: holds("Suspended", "False"),
    completionTime: at(status, "completionTime"),
    startTime: at(status, "startTime"),
    active: numberAt(status, "active") ?? 0,
    failures: numberAt(status, "failed") ?? 0,
    successes: numberAt(status, "succeeded") ?? 0,
    ready: numberAt(status, "ready"),
    terminating: numberAt(status, "terminating"),
    uncounted: uncountedOf(objectAt(status, "uncountedTerminatedPods")),
    completedIndexes: textAt(status, "completedIndexes"),
    failedIndexes: at(status, "failedIndexes"),
    neverRuns: isTrueAt(job, "spec", "suspend") && numberAt(job, "spec", "completions") === 0,
  };
}

function uncountedOf(uncounted: JsonObject | undefined): JsonObject | undefined {
  return uncounted && { Succeeded: textsOrNull(uncounted, "succeeded"), Failed: textsOrNull(uncounted, "failed") };
}

function textsOrNull(uncounted: JsonObject, name: string) {
  const texts = textsAt(uncounted, name);
  return texts.length === 0 ? null : [...texts];
}

function uncountedOnce(uncounted: JsonObject | undefined): Causes {
  const seen = new Set<string>();
  return ["succeeded", "failed"].flatMap((name) =>
    textsAt(uncounted, name).flatMap((uid, index) => {
      const path = `status.uncountedTerminatedPods.${name}[${index}]`;
      if (uid === "") return [invalid(path, uid, "must not be empty")];
      if (seen.has(uid)) return [duplicate(path, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

const aboutConditions = (detail: string) => invalidUnseen("status.conditions", detail);

function contradictions({ next, changed }: Pair): Causes {
  return [
    ...(changed("complete", "failed") && next.complete && next.failed
      ? [aboutConditions("cannot set Complete=True and Failed=true conditions")]
      : []),
    ...(changed("complete", "failing") && next.complete && next.failing
      ? [aboutConditions("cannot set Complete=True and FailureTarget=true conditions")]
      : []),
  ];
}

function completion({ next, changed }: Pair): Causes {
  const { complete, completionTime: end, startTime: start } = next;
  const moved = changed("complete", "completionTime");
  const path = "status.completionTime";
  const early = typeof start === "string" && typeof end === "string" && (parseSeconds(end) ?? 0) < (parseSeconds(start) ?? 0);
  return [
    ...(moved && end !== undefined && !complete
      ? [invalid(path, end, "cannot set completionTime when there is no Complete=True condition")]
      : []),
    ...(moved && end === undefined && complete ? [required(path, "completionTime is required for Complete jobs")] : []),
    ...(changed("startTime", "completionTime") && early ? [invalid(path, end, "must be equal to or after `startTime`")] : []),
  ];
}

function ending({ next, changed }: Pair): Causes {
  const { finished, uncounted } = next;
  const counted = uncounted === undefined || (uncounted["Succeeded"] === null && uncounted["Failed"] === null);
  return [
    ...(changed("failed", "failedIndexes") && next.failed && !next.failing
      ? [aboutConditions("cannot set Failed=True condition without the FailureTarget=true condition")]
      : []),
    ...(changed("complete", "succeeding") && next.complete && !next.succeeding
      ? [aboutConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")]
      : []),
    ...(changed("finished", "active") && next.active > 0 && finished
      ? [invalid("status.active", next.active, "active>0 is invalid for finished job")]
      : []),
    ...(changed("finished", "startTime") && !next.neverRuns && next.startTime === undefined && finished
      ? [required("status.startTime", "startTime is required for finished job")]
      : []),
    ...(changed("finished", "uncounted") && finished && !counted
      ? [invalid("status.uncountedTerminatedPods", uncounted, "must be empty for finished job")]
      : []),
  ];
}

function indexes(job: KubeObject, { next, changed }: Pair): Causes {
  const [completions, limit] = [numberAt(job, "spec", "completions"), numberAt(job, "spec", "backoffLimitPerIndex")];
  const { completedIndexes: completed, failedIndexes: failed } = next;
  const isIndexed = textAt(job, "spec", "completionMode") === "Indexed";
  const wrong = (name: "completedIndexes" | "failedIndexes", text: string): Causes => {
    const problem = completions === undefined ? undefined : indexesProblem(text, completions);
    return problem === undefined ? [] : [invalid(`status.${name}`, text, `error parsing ${name}: ${problem}`)];
  };
  const overlap = typeof failed === "string" && completions !== undefined ? indexesOverlap(completed, failed, completions) : undefined;
  return [
    ...(changed("completedIndexes") ? wrong("completedIndexes", completed) : []),
    ...(changed("failedIndexes") && limit !== undefined && typeof failed === "string" ? wrong("failedIndexes", failed) : []),
    ...(changed("completedIndexes") && completed !== "" && !isIndexed
      ? [invalid("status.completedIndexes", completed, "cannot set non-empty completedIndexes when non-indexed completion mode")]
      : []),
    ...(changed("failedIndexes") && limit === undefined && failed !== undefined
      ? [invalid("status.failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")]
      : []),
    ...(changed("failedIndexes", "completedIndexes") && overlap !== undefined ? [invalid("status.failedIndexes", failed, overlap)] : []),
  ];
}

function leftovers({ next, changed }: Pair): Causes {
  const { terminating, ready, active, finished, succeeding } = next;
  return [
    ...(changed("finished", "terminating") && terminating !== undefined && terminating > 0 && finished
      ? [invalid("status.terminating", terminating, "terminating>0 is invalid for finished job")]
      : []),
    ...(changed("ready", "active") && ready !== undefined && ready > active
      ? [invalid("status.ready", ready, "cannot set more ready pods than active")]
      : []),
    ...(succeeding && next.failed ? [aboutConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")] : []),
    ...(succeeding && next.failing ? [aboutConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")] : []),
  ];
}

const TERMINAL = [
  ["Failed", "failed"],
  ["Complete", "complete"],
  ["FailureTarget", "failing"],
] as const;

function transitions(job: KubeObject, now: Facts, before: Facts): Causes {
  const mayShrink =
    textAt(job, "spec", "completionMode") === "Indexed" && numberAt(job, "spec", "completions") === numberAt(job, "spec", "parallelism");
  const movedEnd = now.completionTime !== undefined && before.completionTime !== undefined && now.completionTime !== before.completionTime;
  const movedStart = before.startTime !== undefined && now.startTime !== before.startTime;
  const resumes = before.suspended && now.resumed;
  const withPolicy = objectAt(job, "spec", "successPolicy") !== undefined;
  return [
    ...(withPolicy && !now.succeeding && now.complete
      ? [aboutConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")]
      : []),
    ...TERMINAL.flatMap(([type, name]) =>
      before[name] && !now[name] ? [aboutConditions(`cannot disable the terminal ${type}=True condition`)] : [],
    ),
    ...(now.failures < before.failures ? [invalid("status.failed", now.failures, "cannot decrease the failed counter")] : []),
    ...(!mayShrink && now.successes < before.successes
      ? [invalid("status.succeeded", now.successes, "cannot decrease the succeeded counter")]
      : []),
    ...(movedEnd ? [invalid("status.completionTime", now.completionTime, IMMUTABLE)] : []),
    ...(movedStart && !resumes && !isTrueAt(job, "spec", "suspend")
      ? [invalid("status.startTime", now.startTime ?? null, "field is immutable for unsuspended job once set")]
      : []),
    ...(before.succeeding && !now.succeeding ? [aboutConditions("cannot disable the SuccessCriteriaMet=True condition")] : []),
    ...(before.complete && !before.succeeding && now.succeeding
      ? [aboutConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")]
      : []),
  ];
}

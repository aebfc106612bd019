/** CronJob. */
import { fromThrowing } from "#base";
import type { JsonObject } from "#kube";
import { cronJobCells } from "../cells/workloads.ts";
import { at, numberAt, objectAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, invalid, nonNegative, notSupported, required } from "../rules/causes.ts";
import { cronProblem } from "../rules/cron.ts";
import { validateJobSpec } from "../rules/job-spec.ts";
import { oneOf } from "../rules/shared.ts";
import { dnsNameWarnings, templateWarnings } from "../rules/warnings.ts";
import { specOf } from "../rules/workloads.ts";

export const cronJob: KindRules = {
  generation: specOf,
  onStatus: "nothing",
  validate: (object) => {
    const spec = objectAt(object, "spec") ?? {};
    const name = textAt(object, "metadata", "name");
    return [
      ...validateSchedule(spec),
      ...nonNegative("spec.startingDeadlineSeconds", numberAt(spec, "startingDeadlineSeconds")),
      ...validateTimeZone(spec),
      ...oneOf("spec.concurrencyPolicy", textAt(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]),
      ...validateJobTemplate(objectAt(spec, "jobTemplate", "spec") ?? {}, "spec.jobTemplate.spec"),
      ...["successfulJobsHistoryLimit", "failedJobsHistoryLimit"].flatMap((limit) => nonNegative(`spec.${limit}`, numberAt(spec, limit))),
      ...(name.length > 52 ? [invalid("metadata.name", name, "must be no more than 52 characters")] : []),
    ];
  },
  warnings: (next, previous) => [
    ...(previous === undefined ? dnsNameWarnings(next) : []),
    ...templateWarnings(next, previous, "spec.jobTemplate.spec.template"),
  ],
  cells: cronJobCells,
};

/** The Jobs it makes are given their selector. */
function validateJobTemplate(job: JsonObject, path: string): Causes {
  const selector = objectAt(job, "selector");
  return [
    ...validateJobSpec(job, path),
    ...(selector === undefined ? [] : [invalid(`${path}.selector`, selector, "`selector` will be auto-generated")]),
    ...(job["manualSelector"] === true ? [notSupported(`${path}.manualSelector`, true, ["nil", "false"])] : []),
  ];
}

function validateSchedule(spec: JsonObject): Causes {
  const schedule = textAt(spec, "schedule");
  if (schedule === "") return [required("spec.schedule")];
  const problem = cronProblem(schedule);
  const zoned = schedule.includes("TZ");
  return [
    ...(problem === undefined ? [] : [invalid("spec.schedule", schedule, problem)]),
    ...(zoned ? [invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")] : []),
  ];
}

const ZONE = /^[A-Za-z0-9_][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+][A-Za-z0-9_+-]*)*$/;

function validateTimeZone(spec: JsonObject): Causes {
  const zone = at(spec, "timeZone");
  if (typeof zone !== "string") return [];
  if (zone === "") return [invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string")];
  if (zone.toLowerCase() === "local")
    return [invalid("spec.timeZone", zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")];
  return ZONE.test(zone) && isKnownZone(zone) ? [] : [invalid("spec.timeZone", zone, `unknown time zone ${zone}`)];
}

/** Zones are files of the machine for Go, and data of the engine here; both come from the same table. */
function isKnownZone(zone: string): boolean {
  return fromThrowing(
    () => new Intl.DateTimeFormat("en", { timeZone: zone }),
    () => undefined,
  ).ok;
}

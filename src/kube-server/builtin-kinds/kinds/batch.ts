/** Job and CronJob. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { cronJobCells, jobCells } from "../cells/workloads.ts";
import { at, childOf, copyOf, isTrueAt, numberAt, objectAt, setField, textAt, type Draft } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { immutable, invalid, nonNegative, notSupported, required, type Causes } from "../rules/causes.ts";
import { cronProblem } from "../rules/cron.ts";
import { dnsLabel } from "../rules/formats.ts";
import { validatePodTemplate } from "../rules/pod/pod-template.ts";
import { ifSetOneOf, oneOf, selects, validateLabelSelector } from "../rules/shared.ts";
import { dnsNameWarnings, templateWarnings } from "../rules/warnings.ts";

const specOf = (object: KubeObject): Json | undefined => at(object, "spec");
const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];
const PREFIX = "batch.kubernetes.io/";

const job: KindRules = {
  generation: specOf,
  onUpdate: "meta-and-spec-first",
  prepareCreate: prepareJob,
  validate: (object) => [...validateGenerated(object), ...validateJobSpecWithSelector(object), ...validateIndexedName(object)],
  validateUpdate: (next, previous) => [...validateJobSpecWithSelector(next), ...validateFrozen(next, previous)],
  deletion: { defaultPropagation: "Orphan" },
  warnings: (next, previous) => [
    ...(previous === undefined ? dnsNameWarnings(next) : []),
    ...templateWarnings(next, previous, "spec.template"),
  ],
  fieldSelectors: { "status.successful": (object) => String(numberAt(object, "status", "succeeded") ?? 0) },
  cells: jobCells,
};

/** A Job selects its Pods by its own uid, unless the client takes care of that. */
function prepareJob(draft: Draft): void {
  const spec = childOf(draft, "spec");
  if (!isTrueAt(spec, "manualSelector")) generateSelector(draft, spec);
  const [labels, meta] = [objectAt(spec, "template", "metadata", "labels"), childOf(draft, "metadata")];
  if (labels !== undefined && Object.keys(objectAt(meta, "labels") ?? {}).length === 0) meta["labels"] = copyOf(labels);
}

function generateSelector(draft: Draft, spec: Draft): void {
  const [uid, name] = [textAt(draft, "metadata", "uid"), textAt(draft, "metadata", "name")];
  const labels = childOf(childOf(childOf(spec, "template"), "metadata"), "labels");
  for (const [key, value] of [
    ["job-name", name],
    [`${PREFIX}job-name`, name],
    ["controller-uid", uid],
    [`${PREFIX}controller-uid`, uid],
  ] as const) {
    if (!Object.hasOwn(labels, key)) setField(labels, key, value);
  }
  const selector = childOf(childOf(spec, "selector"), "matchLabels");
  if (!Object.hasOwn(selector, `${PREFIX}controller-uid`)) selector[`${PREFIX}controller-uid`] = uid;
}

function validateGenerated(object: KubeObject): Causes {
  if (isTrueAt(object, "spec", "manualSelector")) return [];
  const [uid, selector] = [object.metadata.uid ?? "", objectAt(object, "spec", "selector")];
  if (selector === undefined) return [];
  const label = textAt(object, "spec", "template", "metadata", "labels", "controller-uid");
  const wrong =
    label !== uid
      ? [invalid("spec.template.metadata.labels", objectAt(object, "spec", "template", "metadata", "labels"), `must be '${uid}'`)]
      : [];
  const selected = selects(selector, {
    "controller-uid": uid,
    [`${PREFIX}controller-uid`]: uid,
    "job-name": object.metadata.name,
    [`${PREFIX}job-name`]: object.metadata.name,
  });
  return [...wrong, ...(selected ? [] : [invalid("spec.selector", selector, "`selector` not auto-generated")])];
}

function validateJobSpecWithSelector(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  const selector = objectAt(spec, "selector");
  const labels = objectAt(spec, "template", "metadata", "labels");
  const fits = selector !== undefined && selects(selector, labels);
  return [
    ...validateJobSpec(spec, "spec"),
    ...(selector === undefined ? [required("spec.selector")] : validateLabelSelector(selector, "spec.selector")),
    ...(fits ? [] : [invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")]),
  ];
}

export function validateJobSpec(spec: JsonObject, path: string): Causes {
  const indexed = spec["completionMode"] === "Indexed";
  const [perIndex, maxFailed] = [numberAt(spec, "backoffLimitPerIndex"), numberAt(spec, "maxFailedIndexes")];
  return [
    ...COUNTS.flatMap((name) => nonNegative(`${path}.${name}`, numberAt(spec, name))),
    ...(maxFailed !== undefined && perIndex === undefined
      ? [required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified")]
      : []),
    ...ifSetOneOf(`${path}.completionMode`, spec["completionMode"], ["NonIndexed", "Indexed"]),
    ...(indexed && numberAt(spec, "completions") === undefined ? [required(`${path}.completions`, "when completion mode is Indexed")] : []),
    ...(!indexed && perIndex !== undefined ? [invalid(`${path}.backoffLimitPerIndex`, perIndex, "requires indexed completion mode")] : []),
    ...(!indexed && maxFailed !== undefined ? [invalid(`${path}.maxFailedIndexes`, maxFailed, "requires indexed completion mode")] : []),
    ...ifSetOneOf(`${path}.podReplacementPolicy`, spec["podReplacementPolicy"], ["Failed", "TerminatingOrFailed"]),
    ...validatePodTemplate(objectAt(spec, "template") ?? {}, `${path}.template`),
    ...validateRestart(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validateRestart(spec: JsonObject, path: string): Causes {
  const policy = textAt(spec, "template", "spec", "restartPolicy");
  if (policy === "Always" || policy === "") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (!["OnFailure", "Never"].includes(policy)) return [notSupported(path, policy, ["OnFailure", "Never"])];
  const strict = objectAt(spec, "podFailurePolicy") !== undefined && policy !== "Never";
  return strict ? [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')] : [];
}

function validateIndexedName(object: KubeObject): Causes {
  const completions = numberAt(object, "spec", "completions") ?? 0;
  if (textAt(object, "spec", "completionMode") !== "Indexed" || completions <= 0) return [];
  const hostname = `${object.metadata.name}-${completions - 1}`;
  if (dnsLabel(hostname).length === 0) return [];
  return [invalid("metadata.name", object.metadata.name, `will not able to create pod with invalid DNS label: ${hostname}`)];
}

const FROZEN = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

function validateFrozen(next: KubeObject, previous: KubeObject): Causes {
  const changed = (name: string) => !jsonEqual(at(next, "spec", name), at(previous, "spec", name));
  const frozen = (name: string) => (changed(name) ? [immutable(`spec.${name}`, at(next, "spec", name) ?? null)] : []);
  const indexed = textAt(next, "spec", "completionMode") === "Indexed";
  return [
    ...(indexed ? validateCompletions(next, changed("completions")) : frozen("completions")),
    ...frozen("selector"),
    ...frozenTemplate(next, previous),
    ...FROZEN.flatMap(frozen),
  ];
}

function validateCompletions(next: KubeObject, changed: boolean): Causes {
  const [completions, parallelism] = [numberAt(next, "spec", "completions"), numberAt(next, "spec", "parallelism")];
  if (!changed || completions === undefined || completions === parallelism) return [];
  return [invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}

/** A suspended Job that never ran may still be told where to run. */
function frozenTemplate(next: KubeObject, previous: KubeObject): Causes {
  const suspended = isTrueAt(previous, "spec", "suspend") && at(previous, "status", "startTime") === undefined;
  const [now, before] = [next, previous].map((object) => templateToCompare(object, suspended)) as [Json, Json];
  return jsonEqual(now, before) ? [] : [immutable("spec.template", at(next, "spec", "template") ?? null)];
}

function templateToCompare(object: KubeObject, suspended: boolean): Json {
  const template = objectAt(object, "spec", "template") ?? {};
  if (!suspended) return template;
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    affinity: _affinity,
    schedulingGates: _gates,
    ...spec
  } = objectAt(template, "spec") ?? {};
  return { spec };
}

const cronJob: KindRules = {
  generation: specOf,
  validate: (object) => {
    const spec = objectAt(object, "spec") ?? {};
    const name = object.metadata.name;
    return [
      ...validateSchedule(spec),
      ...nonNegative("spec.startingDeadlineSeconds", numberAt(spec, "startingDeadlineSeconds")),
      ...validateTimeZone(spec),
      ...oneOf("spec.concurrencyPolicy", textAt(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]),
      ...validateJobSpec(objectAt(spec, "jobTemplate", "spec") ?? {}, "spec.jobTemplate.spec"),
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

const ZONE = /^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/;

function validateTimeZone(spec: JsonObject): Causes {
  const zone = at(spec, "timeZone");
  if (typeof zone !== "string") return [];
  if (zone === "") return [invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string")];
  return ZONE.test(zone) ? [] : [invalid("spec.timeZone", zone, `unknown time zone ${zone}`)];
}

export const batchKinds: RulesByKind = { Job: job, CronJob: cronJob };

/** Job and CronJob. */
import { type Json, jsonEqual, type KubeObject } from "#kube";
import { jobCells } from "../cells/workloads.ts";
import { at, childOf, copyOf, type Draft, isTrueAt, numberAt, objectAt, objectsAt, setField, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, goMap, goSelector, immutable, invalid, required } from "../rules/causes.ts";
import { dnsLabel } from "../rules/formats.ts";
import { internalPodSpec, internalTemplate } from "../rules/internal-template.ts";
import { unreadableSelector } from "../rules/pod/pod-template.ts";
import { validateJobSpec } from "../rules/job-spec.ts";
import { selects, validateLabelSelector } from "../rules/shared.ts";
import { dnsNameWarnings, templateWarnings } from "../rules/warnings.ts";
import { cronJob } from "./cron-job.ts";
import { validateJobStatus } from "./job-status.ts";

const specOf = (object: KubeObject): Json | undefined => at(object, "spec");

const PREFIX = "batch.kubernetes.io/";

const job: KindRules = {
  generation: specOf,
  onUpdate: "meta-and-spec-first",
  prepareCreate: prepareJob,
  validate: (object) => [...validateGenerated(object), ...validateJobSpecWithSelector(object), ...validateIndexedName(object)],
  validateUpdate: (next, previous) => [...validateJobSpecWithSelector(next), ...validateFrozen(next, previous)],
  validateStatus: validateJobStatus,
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
  const own = at(draft, "metadata", "labels");
  const inherited = own === undefined || own === at(draft, "spec", "template", "metadata", "labels");
  const spec = childOf(draft, "spec");
  if (!isTrueAt(spec, "manualSelector")) generateSelector(draft, spec);
  const labels = objectAt(spec, "template", "metadata", "labels");
  if (inherited && labels !== undefined) childOf(draft, "metadata")["labels"] = copyOf(labels);
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
  const label = textAt(objectAt(object, "spec", "template", "metadata", "labels"), "controller-uid");
  const wrong =
    label !== uid
      ? [invalid("spec.template.metadata.labels", goMap(objectAt(object, "spec", "template", "metadata", "labels")), `must be '${uid}'`)]
      : [];
  const selected = selects(selector, {
    "controller-uid": uid,
    [`${PREFIX}controller-uid`]: uid,
    "job-name": object.metadata.name,
    [`${PREFIX}job-name`]: object.metadata.name,
  });
  return [...wrong, ...(selected ? [] : [invalid("spec.selector", goSelector(selector), "`selector` not auto-generated")])];
}

function validateJobSpecWithSelector(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  const selector = objectAt(spec, "selector");
  const labels = objectAt(spec, "template", "metadata", "labels");
  const fits = selector !== undefined && (unreadableSelector(object).length > 0 || selects(selector, labels));
  return [
    ...validateJobSpec(spec, "spec"),
    ...(selector === undefined ? [required("spec.selector")] : validateLabelSelector(selector, "spec.selector")),
    ...(fits ? [] : [invalid("spec.template.metadata.labels", goMap(labels), "`selector` does not match template `labels`")]),
  ];
}

function validateIndexedName(object: KubeObject): Causes {
  const completions = numberAt(object, "spec", "completions") ?? 0;
  if (textAt(object, "spec", "completionMode") !== "Indexed" || completions <= 0) return [];
  const name = textAt(object, "metadata", "name");
  const hostname = `${name}-${completions - 1}`;
  if (dnsLabel(hostname).length === 0) return [];
  return [invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${hostname}`)];
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

/** A suspended Job that never ran may still change its scheduling fields and resources. */
function frozenTemplate(next: KubeObject, previous: KubeObject): Causes {
  const suspended = isTrueAt(previous, "spec", "suspend") && at(previous, "status", "startTime") === undefined;
  const [now, before] = [next, previous].map((object) => templateToCompare(object, suspended)) as [Json, Json];
  if (jsonEqual(now, before)) return [];
  const template = objectAt(next, "spec", "template") ?? {};
  return suspended
    ? [immutable("spec.template.spec", internalPodSpec(objectAt(template, "spec") ?? {}))]
    : [immutable("spec.template", internalTemplate(template))];
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
  const unmeasured = (list: string) => objectsAt(spec, list).map(({ resources: _resources, ...container }) => container);
  return { ...spec, containers: unmeasured("containers"), initContainers: unmeasured("initContainers") };
}

export const batchKinds: RulesByKind = { Job: job, CronJob: cronJob };

/** The spec of a Job: in a Job, and in a CronJob's template. */
import type { JsonObject } from "#kube";
import { numberAt, objectAt, textAt } from "../draft.ts";
import { type Causes, invalid, nonNegative, notSupported, required } from "./causes.ts";
import { validatePodTemplate } from "./pod/pod-template.ts";
import { ifSetOneOf } from "./shared.ts";

const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];

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

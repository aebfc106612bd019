/** The spec of a Job: in a Job, and in a CronJob's template. */
import type { JsonObject } from "#kube";
import { numberAt, objectAt, textAt } from "../draft.ts";
import { type Causes, invalid, invalidEach, nonNegative, notSupported, required, tooLong } from "./causes.ts";
import { dnsSubdomain, regexMessage } from "./formats.ts";
import { internalStruct } from "./internal-template.ts";
import { validateFailurePolicy, validateSuccessPolicy } from "./job-policies.ts";
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
  const [indexed, plain] = ["Indexed", "NonIndexed"].map((mode) => spec["completionMode"] === mode) as [boolean, boolean];
  const [perIndex, maxFailed] = [numberAt(spec, "backoffLimitPerIndex"), numberAt(spec, "maxFailedIndexes")];
  return [
    ...COUNTS.flatMap((name) => nonNegative(`${path}.${name}`, numberAt(spec, name))),
    ...(maxFailed !== undefined && perIndex === undefined
      ? [required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified")]
      : []),
    ...validateManager(spec, `${path}.managedBy`),
    ...ifSetOneOf(`${path}.completionMode`, spec["completionMode"], ["NonIndexed", "Indexed"]),
    ...(indexed && numberAt(spec, "completions") === undefined ? [required(`${path}.completions`, "when completion mode is Indexed")] : []),
    ...(plain && perIndex !== undefined ? [invalid(`${path}.backoffLimitPerIndex`, perIndex, "requires indexed completion mode")] : []),
    ...(plain && maxFailed !== undefined ? [invalid(`${path}.maxFailedIndexes`, maxFailed, "requires indexed completion mode")] : []),
    ...validatePolicies(spec, path, indexed),
    ...validatePodTemplate(objectAt(spec, "template") ?? {}, `${path}.template`),
    ...validateRestart(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validatePolicies(spec: JsonObject, path: string, indexed: boolean): Causes {
  const [failure, success] = [objectAt(spec, "podFailurePolicy"), objectAt(spec, "successPolicy")];
  const replacement = spec["podReplacementPolicy"];
  const supported = failure === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  return [
    ...(failure === undefined ? [] : validateFailurePolicy(spec, `${path}.podFailurePolicy`)),
    ...(success === undefined
      ? []
      : indexed
        ? validateSuccessPolicy(spec, `${path}.successPolicy`)
        : [invalid(`${path}.successPolicy`, internalStruct(SUCCESS_POLICY, success), "requires indexed completion mode")]),
    ...ifSetOneOf(`${path}.podReplacementPolicy`, replacement, supported),
  ];
}

const SUCCESS_POLICY = "io.k8s.api.batch.v1.SuccessPolicy";
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const MAX_MANAGER = 63;

/** "example.com/controller": a domain, and a path below it. */
function validateManager(spec: JsonObject, path: string): Causes {
  const manager = spec["managedBy"];
  if (typeof manager !== "string") return [];
  const [, host = "", rest = ""] = /^([^/]*)\/(.*)$/s.exec(manager) ?? [];
  const long = manager.length > MAX_MANAGER ? [tooLong(path, MAX_MANAGER)] : [];
  if (manager === "") return [required(path)];
  if (host === "" || rest === "") return [invalid(path, manager, 'must be a domain-prefixed path (such as "acme.io/foo")'), ...long];
  return [
    ...invalidEach(path, host, dnsSubdomain(host)),
    ...(new RegExp(`^${HTTP_PATH}$`).test(rest) ? [] : [invalid(path, rest, regexMessage("Invalid path", HTTP_PATH))]),
    ...long,
  ];
}

function validateRestart(spec: JsonObject, path: string): Causes {
  const policy = textAt(spec, "template", "spec", "restartPolicy");
  if (policy === "Always" || policy === "") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (!["OnFailure", "Never"].includes(policy)) return [notSupported(path, policy, ["OnFailure", "Never"])];
  const strict = objectAt(spec, "podFailurePolicy") !== undefined && policy !== "Never";
  return strict ? [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')] : [];
}

/** Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { controllerRevisionCells, daemonSetCells, deploymentCells, replicaSetCells, statefulSetCells } from "../cells/workloads.ts";
import { at, childOf, numberAt, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, nonNegative, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsLabel } from "../rules/formats.ts";
import { validateAnnotations, validateLabels } from "../rules/object-meta.ts";
import { alwaysRestarts, selectorFitsTemplate, templateOf, validatePodTemplate, validateSelector } from "../rules/pod/pod-template.ts";
import { intOrPercent, notMoreThan100Percent, textIfSet } from "../rules/shared.ts";
import { dnsNameWarnings, templateWarnings } from "../rules/warnings.ts";
import { validateClaimSpec } from "../rules/claim.ts";

const specOf = (object: KubeObject): Json | undefined => at(object, "spec");
const TEMPLATE = "spec.template";

export const sameSelector = (next: KubeObject, previous: KubeObject): Causes => {
  const selector = at(next, "spec", "selector");
  return jsonEqual(selector, at(previous, "spec", "selector")) ? [] : [immutable("spec.selector", selector ?? null)];
};

export function counts(object: KubeObject, part: "spec" | "status", ...names: readonly string[]): Causes {
  return names.flatMap((name) => nonNegative(`${part}.${name}`, numberAt(object, part, name)));
}

/** Whether a count or a percentage is more than nothing. */
function isPositive(value: Json | undefined): boolean {
  return typeof value === "string" ? Number.parseInt(value, 10) > 0 : typeof value === "number" && value !== 0;
}

function replicaSetTemplate(object: KubeObject): Causes {
  return [...selectorFitsTemplate(object), ...validatePodTemplate(templateOf(object), TEMPLATE), ...alwaysRestarts(object, "ReplicaSet")];
}

const namedTemplateWarnings: KindRules["warnings"] = (next, previous) => [
  ...(previous === undefined ? dnsNameWarnings(next) : []),
  ...templateWarnings(next, previous, "spec.template"),
];

const deployment: KindRules = {
  generation: (object) => [at(object, "spec") ?? null, at(object, "metadata", "annotations") ?? null],
  prepareStatus: (draft, previous) => keepLabels(draft, previous),
  validate: (object) => [
    ...counts(object, "spec", "replicas"),
    ...validateSelector(object, "deployment"),
    ...replicaSetTemplate(object),
    ...validateStrategy(objectAt(object, "spec", "strategy") ?? {}),
    ...counts(object, "spec", "minReadySeconds", "revisionHistoryLimit"),
    ...validateDeadline(object),
  ],
  validateUpdate: sameSelector,
  validateStatus: (next) => [
    ...counts(next, "status", "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    ...counts(next, "status", "unavailableReplicas", "terminatingReplicas", "collisionCount"),
    ...atMostReplicas(next, ["updatedReplicas", "readyReplicas", "availableReplicas"]),
    ...availableAtMostReady(next, "cannot be greater than readyReplicas"),
  ],
  warnings: namedTemplateWarnings,
  cells: deploymentCells,
};

function keepLabels(draft: Draft, previous: KubeObject): void {
  const labels = at(previous, "metadata", "labels");
  if (labels === undefined) delete childOf(draft, "metadata")["labels"];
  else childOf(draft, "metadata")["labels"] = labels;
}

function validateDeadline(object: KubeObject): Causes {
  const [deadline, ready] = [numberAt(object, "spec", "progressDeadlineSeconds"), numberAt(object, "spec", "minReadySeconds") ?? 0];
  if (deadline === undefined) return [];
  return [
    ...counts(object, "spec", "progressDeadlineSeconds"),
    ...(deadline <= ready ? [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")] : []),
  ];
}

function validateStrategy(strategy: JsonObject): Causes {
  const path = "spec.strategy";
  const rolling = objectAt(strategy, "rollingUpdate");
  switch (textAt(strategy, "type")) {
    case "Recreate":
      return rolling === undefined ? [] : [forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
    case "RollingUpdate": {
      const [unavailable, surge] = [at(rolling, "maxUnavailable"), at(rolling, "maxSurge")];
      return [
        ...intOrPercent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
        ...intOrPercent(`${path}.rollingUpdate.maxSurge`, surge),
        ...(!isPositive(unavailable) && !isPositive(surge)
          ? [invalid(`${path}.rollingUpdate.maxUnavailable`, unavailable, "may not be 0 when `maxSurge` is 0")]
          : []),
        ...notMoreThan100Percent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
      ];
    }
    default:
      return [notSupported(path, goStrategy(strategy), ["Recreate", "RollingUpdate"])];
  }
}

/** The server shows its internal struct: capital letters, null for what is not set. */
function goStrategy(strategy: JsonObject): JsonObject {
  const rolling = objectAt(strategy, "rollingUpdate");
  const shown =
    rolling === undefined ? null : { MaxUnavailable: at(rolling, "maxUnavailable") ?? 0, MaxSurge: at(rolling, "maxSurge") ?? 0 };
  return { Type: textAt(strategy, "type"), RollingUpdate: shown };
}

function atMostReplicas(object: KubeObject, names: readonly string[]): Causes {
  const replicas = numberAt(object, "status", "replicas") ?? 0;
  return names.flatMap((name) => {
    const value = numberAt(object, "status", name) ?? 0;
    return value > replicas ? [invalid(`status.${name}`, value, "cannot be greater than status.replicas")] : [];
  });
}

function availableAtMostReady(object: KubeObject, message: string): Causes {
  const [available, ready] = [numberAt(object, "status", "availableReplicas") ?? 0, numberAt(object, "status", "readyReplicas") ?? 0];
  return available > ready ? [invalid("status.availableReplicas", available, message)] : [];
}

export const replicaStatus = (next: KubeObject): Causes => [
  ...counts(
    next,
    "status",
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ),
  ...atMostReplicas(next, ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]),
  ...availableAtMostReady(next, "cannot be greater than readyReplicas"),
];

const replicaSet: KindRules = {
  generation: specOf,
  validate: (object) => [
    ...counts(object, "spec", "replicas", "minReadySeconds"),
    ...validateSelector(object, "deployment"),
    ...replicaSetTemplate(object),
  ],
  validateUpdate: sameSelector,
  validateStatus: replicaStatus,
  warnings: namedTemplateWarnings,
  cells: replicaSetCells,
};

const daemonSet: KindRules = {
  generation: specOf,
  onUpdate: "spec-last",
  prepareCreate: (draft) => annotateTemplateGeneration(draft, 1),
  prepareUpdate: (draft, previous) => {
    const sameTemplate = jsonEqual(at(draft, "spec", "template"), at(previous, "spec", "template"));
    const before = Number(textAt(previous, "metadata", "annotations", TEMPLATE_GENERATION) || "1");
    annotateTemplateGeneration(draft, sameTemplate ? before : before + 1);
  },
  validate: (object) => [
    ...validateSelectorIfSet(object),
    ...selectorFitsTemplate(object),
    ...emptySelector(object),
    ...validatePodTemplate(templateOf(object), TEMPLATE),
    ...alwaysRestarts(object, "DaemonSet"),
    ...counts(object, "spec", "minReadySeconds"),
    ...validateDaemonStrategy(objectAt(object, "spec", "updateStrategy") ?? {}),
    ...counts(object, "spec", "revisionHistoryLimit"),
  ],
  validateUpdate: sameSelector,
  validateStatus: (next) =>
    counts(next, "status", "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"),
  warnings: namedTemplateWarnings,
  cells: daemonSetCells,
};

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

function annotateTemplateGeneration(draft: Draft, generation: number): void {
  childOf(childOf(draft, "metadata"), "annotations")[TEMPLATE_GENERATION] = String(generation);
}

function validateSelectorIfSet(object: KubeObject): Causes {
  return objectAt(object, "spec", "selector") === undefined
    ? []
    : validateSelector(object, "daemonset").filter(({ detail }) => !detail.includes("empty selector"));
}

function emptySelector(object: KubeObject): Causes {
  return objectAt(object, "spec", "selector") === undefined
    ? []
    : validateSelector(object, "daemonset").filter(({ detail }) => detail.includes("empty selector"));
}

function validateDaemonStrategy(strategy: JsonObject): Causes {
  const path = "spec.updateStrategy";
  const type = textAt(strategy, "type");
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") return [notSupported(path, goStrategy(strategy), ["RollingUpdate", "OnDelete"])];
  const rolling = objectAt(strategy, "rollingUpdate");
  const [unavailable, surge] = [at(rolling, "maxUnavailable"), at(rolling, "maxSurge")];
  const [gives, takes] = [isPositive(unavailable), isPositive(surge)];
  return [
    ...intOrPercent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
    ...intOrPercent(`${path}.rollingUpdate.maxSurge`, surge),
    ...notMoreThan100Percent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
    ...notMoreThan100Percent(`${path}.rollingUpdate.maxSurge`, surge),
    ...(gives && takes ? [invalid(`${path}.rollingUpdate.maxSurge`, surge, "may not be set when maxUnavailable is non-zero")] : []),
    ...(!gives && !takes ? [required(`${path}.rollingUpdate.maxUnavailable`, "cannot be 0 when maxSurge is 0")] : []),
  ];
}

const CHANGEABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
];
const FIXED_SPEC =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

const statefulSet: KindRules = {
  name: dnsLabel,
  generation: specOf,
  validate: (object, previous) => [
    ...validateManagement(object),
    ...(previous === undefined ? validateClaimTemplates(object) : []),
    ...counts(object, "spec", "replicas", "minReadySeconds"),
    ...(previous === undefined ? textIfSet("spec.serviceName", textAt(object, "spec", "serviceName"), dnsLabel) : []),
    ...validateSelector(object, "statefulset"),
    ...validateStatefulTemplate(object),
    ...alwaysRestarts(object, "StatefulSet"),
  ],
  validateUpdate: (next, previous) => {
    const fixed = (object: KubeObject) =>
      Object.fromEntries(Object.entries(objectAt(object, "spec") ?? {}).filter(([name]) => !CHANGEABLE.includes(name)));
    return jsonEqual(fixed(next), fixed(previous)) ? [] : [forbidden("spec", FIXED_SPEC)];
  },
  validateStatus: (next) => [
    ...counts(
      next,
      "status",
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ),
    ...atMostReplicas(next, ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"]),
    ...availableAtMostReady(next, "cannot be greater than status.readyReplicas"),
  ],
  warnings: (next, previous) => templateWarnings(next, previous, "spec.template"),
  cells: statefulSetCells,
};

function validateManagement(object: KubeObject): Causes {
  const [policy, strategy] = [textAt(object, "spec", "podManagementPolicy"), objectAt(object, "spec", "updateStrategy") ?? {}];
  const type = textAt(strategy, "type");
  return [
    ...(["OrderedReady", "Parallel"].includes(policy)
      ? []
      : [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...(["RollingUpdate", "OnDelete"].includes(type)
      ? []
      : [invalid("spec.updateStrategy", goStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")]),
    ...nonNegative("spec.updateStrategy.rollingUpdate.partition", numberAt(strategy, "rollingUpdate", "partition")),
  ];
}

function validateClaimTemplates(object: KubeObject): Causes {
  return objectsAt(object, "spec", "volumeClaimTemplates").flatMap((claim, index) =>
    validateClaimSpec(objectAt(claim, "spec") ?? {}, `spec.volumeClaimTemplates[${index}].spec`),
  );
}

/** Claim templates become volumes; hostname and subdomain are the StatefulSet's own. */
function validateStatefulTemplate(object: KubeObject): Causes {
  const template = templateOf(object);
  const claims = [...new Set(objectsAt(object, "spec", "volumeClaimTemplates").map((claim) => textAt(claim, "metadata", "name")))];
  const own = objectsAt(template, "spec", "volumes").filter((volume) => !claims.includes(textAt(volume, "name")));
  const mounted = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = objectAt(template, "spec") ?? {};
  const checked: JsonObject = { ...template, spec: { ...spec, volumes: [...mounted, ...own] } };
  return [
    ...selectorFitsTemplate(object),
    ...validatePodTemplate(checked, TEMPLATE),
    ...validateLabels(at(template, "metadata", "labels"), `${TEMPLATE}.labels`),
    ...validateAnnotations(at(template, "metadata", "annotations"), `${TEMPLATE}.annotations`),
  ];
}

const controllerRevision: KindRules = {
  validate: (object) => nonNegative("revision", numberAt(object, "revision")),
  validateUpdate: (next, previous) =>
    jsonEqual(at(next, "data"), at(previous, "data")) ? [] : [immutable("data", at(next, "data") ?? null)],
  cells: controllerRevisionCells,
};

export const appsKinds: RulesByKind = {
  Deployment: deployment,
  ReplicaSet: replicaSet,
  DaemonSet: daemonSet,
  StatefulSet: statefulSet,
  ControllerRevision: controllerRevision,
};

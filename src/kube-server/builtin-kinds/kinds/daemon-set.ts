/** DaemonSet: as a Deployment, but it counts its templates in an annotation. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { daemonSetCells } from "../cells/workloads.ts";
import { at, childOf, type Draft, objectAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, invalid, notSupported, required } from "../rules/causes.ts";
import { alwaysRestarts, selectorFitsTemplate, templateOf, validatePodTemplate, validateSelector } from "../rules/pod/pod-template.ts";
import { intOrPercent, notMoreThan100Percent } from "../rules/shared.ts";
import { templateWarnings } from "../rules/warnings.ts";
import { counts, goStrategy, isPositive, sameSelector, specOf } from "../rules/workloads.ts";

const TEMPLATE = "spec.template";
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

export const daemonSet: KindRules = {
  generation: specOf,
  onUpdate: "spec-last",
  isComplete: (object) => textAt(object, "metadata", "annotations", TEMPLATE_GENERATION) !== "",
  complete: (draft) => annotateTemplateGeneration(draft, 0),
  prepareCreate: (draft) => annotateTemplateGeneration(draft, 1),
  prepareUpdate: (draft, previous) => {
    const sameTemplate = jsonEqual(at(draft, "spec", "template"), at(previous, "spec", "template"));
    const before = Number(textAt(previous, "metadata", "annotations", TEMPLATE_GENERATION) || "1");
    annotateTemplateGeneration(draft, sameTemplate ? before : before + 1);
  },
  prepareStatus: (draft, previous) =>
    annotateTemplateGeneration(draft, Number(textAt(previous, "metadata", "annotations", TEMPLATE_GENERATION) || "0")),
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
    counts(
      next,
      "status",
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ),
  warnings: (next, previous) => templateWarnings(next, previous, TEMPLATE),
  versionAnnotations: [TEMPLATE_GENERATION],
  cells: daemonSetCells,
};

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

/** Deployment, ReplicaSet, ControllerRevision; DaemonSet and StatefulSet have files of their own. */
import { isJsonObject, jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { controllerRevisionCells, deploymentCells, replicaSetCells } from "../cells/workloads.ts";
import { at, childOf, type Draft, numberAt, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, joined, nonNegative, notSupported, required, type Causes } from "../rules/causes.ts";
import {
  alwaysRestarts,
  selectorFitsTemplate,
  templateOf,
  unreadableSelector,
  validatePodTemplate,
  validateSelector,
} from "../rules/pod/pod-template.ts";
import { intOrPercent, notMoreThan100Percent } from "../rules/shared.ts";
import {
  atMostReplicas,
  availableAtMostReady,
  collisionsGrow,
  counts,
  goStrategy,
  isPositive,
  namedTemplateWarnings,
  replicaStatus,
  sameSelector,
  specOf,
} from "../rules/workloads.ts";
import { daemonSet } from "./daemon-set.ts";
import { statefulSet } from "./stateful-set.ts";

const TEMPLATE = "spec.template";

function replicaSetTemplate(object: KubeObject): Causes {
  const unreadable = unreadableSelector(object);
  if (unreadable.length > 0) return unreadable;
  return joined(selectorFitsTemplate(object), validatePodTemplate(templateOf(object), TEMPLATE), alwaysRestarts(object, "ReplicaSet"));
}

const deployment: KindRules = {
  generation: (object) => [at(object, "spec") ?? null, at(object, "metadata", "annotations") ?? null],
  prepareStatus: (draft, previous) => keepLabels(draft, previous),
  validate: (object) =>
    joined(
      counts(object, "spec", "replicas"),
      validateSelector(object, "deployment"),
      replicaSetTemplate(object),
      validateStrategy(objectAt(object, "spec", "strategy") ?? {}),
      counts(object, "spec", "minReadySeconds", "revisionHistoryLimit"),
      validateDeadline(object),
    ),
  validateUpdate: sameSelector,
  validateStatus: (next, previous) =>
    joined(
      counts(next, "status", "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
      counts(next, "status", "unavailableReplicas", "terminatingReplicas", "collisionCount"),
      atMostReplicas(next, ["updatedReplicas", "readyReplicas", "availableReplicas"]),
      availableAtMostReady(next, "cannot be greater than readyReplicas"),
      collisionsGrow(next, previous),
    ),
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
  return joined(
    counts(object, "spec", "progressDeadlineSeconds"),
    deadline <= ready ? [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")] : [],
  );
}

function validateStrategy(strategy: JsonObject): Causes {
  const path = "spec.strategy";
  const rolling = objectAt(strategy, "rollingUpdate");
  switch (textAt(strategy, "type")) {
    case "Recreate":
      return rolling === undefined ? [] : [forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
    case "RollingUpdate": {
      const [unavailable, surge] = [at(rolling, "maxUnavailable"), at(rolling, "maxSurge")];
      return joined(
        intOrPercent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
        intOrPercent(`${path}.rollingUpdate.maxSurge`, surge),
        !isPositive(unavailable) && !isPositive(surge)
          ? [invalid(`${path}.rollingUpdate.maxUnavailable`, unavailable, "may not be 0 when `maxSurge` is 0")]
          : [],
        notMoreThan100Percent(`${path}.rollingUpdate.maxUnavailable`, unavailable),
      );
    }
    default:
      return [notSupported(path, goStrategy(strategy), ["Recreate", "RollingUpdate"])];
  }
}

const replicaSet: KindRules = {
  generation: specOf,
  validate: (object) =>
    joined(counts(object, "spec", "replicas", "minReadySeconds"), validateSelector(object, "deployment"), replicaSetTemplate(object)),
  validateUpdate: sameSelector,
  validateStatus: replicaStatus,
  warnings: namedTemplateWarnings,
  cells: replicaSetCells,
};

const controllerRevision: KindRules = {
  onUpdate: "meta-then-all",
  validate: (object, previous) =>
    joined(nonNegative("revision", numberAt(object, "revision")), previous === undefined ? validateData(object) : []),
  validateUpdate: (next, previous) =>
    jsonEqual(at(next, "data"), at(previous, "data")) ? [] : [immutable("data", at(next, "data") ?? null)],
  cells: controllerRevisionCells,
};

function validateData(object: KubeObject): Causes {
  const data = at(object, "data") ?? null;
  if (data === null) return [required("data", "data is mandatory")];
  return isJsonObject(data) ? [] : [required("data", "data must be a valid JSON object")];
}

export const appsKinds: RulesByKind = {
  Deployment: deployment,
  ReplicaSet: replicaSet,
  DaemonSet: daemonSet,
  StatefulSet: statefulSet,
  ControllerRevision: controllerRevision,
};

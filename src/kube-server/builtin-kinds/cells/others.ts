/** Rows of the remaining kinds that have columns of their own. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { at, isTrueAt, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { ageOf, countAt, nameWithDefault, NONE, orNone, UNKNOWN, UNSET } from "./text.ts";
import type { Cells } from "./workloads.ts";
import { durationText } from "../../protocol/duration-text.ts";

export const autoscalerCells: Cells = (object, now) => [
  object.metadata.name,
  `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`,
  metricsText(objectsAt(object, "spec", "metrics"), objectsAt(object, "status", "currentMetrics")),
  String(numberAt(object, "spec", "minReplicas") ?? UNSET),
  countAt(object, "spec", "maxReplicas"),
  countAt(object, "status", "currentReplicas"),
  ageOf(object, now),
];

function metricsText(metrics: readonly JsonObject[], current: readonly JsonObject[]): string {
  if (metrics.length === 0) return NONE;
  const shown = metrics.map((metric, index) => metricText(metric, current[index]));
  return shown.length > 2 ? `${shown.slice(0, 2).join(", ")} + ${shown.length - 2} more...` : shown.join(", ");
}

const SOURCES = new Map([
  ["External", "external"],
  ["Pods", "pods"],
  ["Object", "object"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
]);

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  const source = SOURCES.get(textAt(metric, "type"));
  if (source === undefined) return "<unknown type>";
  const [target, now] = [objectAt(metric, source, "target"), objectAt(status, source, "current")];
  const average = textAt(target, "averageValue");
  if (source === "resource" || source === "containerResource") {
    const name = textAt(metric, source, "name");
    if (average !== "") return `${name}: ${orNone(textAt(now, "averageValue"), UNKNOWN)}/${average}`;
    return `${name}: ${percentText(now, UNKNOWN)}/${percentText(target, "<auto>")}`;
  }
  if (source === "pods") return `${orNone(textAt(now, "averageValue"), UNKNOWN)}/${average}`;
  if (average !== "") return `${orNone(textAt(now, "averageValue"), UNKNOWN)}/${average} (avg)`;
  return `${orNone(textAt(now, "value"), UNKNOWN)}/${textAt(target, "value")}`;
}

function percentText(value: JsonObject | undefined, none: string): string {
  const percent = numberAt(value, "averageUtilization");
  return percent === undefined ? none : `${percent}%`;
}

const intOrText = (value: Json | undefined) => (typeof value === "number" || typeof value === "string" ? String(value) : "N/A");

export const disruptionBudgetCells: Cells = (object, now) => [
  object.metadata.name,
  intOrText(at(object, "spec", "minAvailable")),
  intOrText(at(object, "spec", "maxUnavailable")),
  countAt(object, "status", "disruptionsAllowed"),
  ageOf(object, now),
];

export const bindingCells: Cells = (object, now) => {
  const subjects = objectsAt(object, "subjects");
  const namesOf = (kind: string) => subjects.filter((subject) => subject["kind"] === kind).map((subject) => textAt(subject, "name"));
  const accounts = subjects
    .filter((subject) => subject["kind"] === "ServiceAccount")
    .map((subject) => `${textAt(subject, "namespace")}/${textAt(subject, "name")}`);
  return [
    object.metadata.name,
    `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`,
    ageOf(object, now),
    namesOf("User").join(", "),
    namesOf("Group").join(", "),
    accounts.join(", "),
  ];
};

export const storageClassCells: Cells = (object, now) => [
  nameWithDefault(object, "storageclass.kubernetes.io/is-default-class"),
  textAt(object, "provisioner"),
  orNone(textAt(object, "reclaimPolicy"), "Delete"),
  orNone(textAt(object, "volumeBindingMode"), "Immediate"),
  isTrueAt(object, "allowVolumeExpansion"),
  ageOf(object, now),
];

export const csiDriverCells: Cells = (object, now) => [
  object.metadata.name,
  at(object, "spec", "attachRequired") !== false,
  isTrueAt(object, "spec", "podInfoOnMount"),
  isTrueAt(object, "spec", "storageCapacity"),
  orNone(
    objectsAt(object, "spec", "tokenRequests")
      .map((request) => textAt(request, "audience"))
      .join(","),
    UNSET,
  ),
  isTrueAt(object, "spec", "requiresRepublish"),
  orNone(textsAt(object, "spec", "volumeLifecycleModes").join(",")),
  ageOf(object, now),
];

export const volumeAttachmentCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "spec", "attacher"),
  textAt(object, "spec", "source", "persistentVolumeName"),
  textAt(object, "spec", "nodeName"),
  isTrueAt(object, "status", "attached"),
  ageOf(object, now),
];

export const priorityClassCells: Cells = (object, now) => [
  object.metadata.name,
  countAt(object, "value"),
  isTrueAt(object, "globalDefault"),
  ageOf(object, now),
  textAt(object, "preemptionPolicy"),
];

export const policyCells =
  (list: string): Cells =>
  (object, now) => {
    const kind = objectAt(object, "spec", "paramKind");
    const params = kind === undefined ? UNSET : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`;
    return [object.metadata.name, listAt(object, "spec", list).length, params, ageOf(object, now)];
  };

export const policyBindingCells: Cells = (object, now) => {
  const ref = objectAt(object, "spec", "paramRef");
  const params = textAt(ref, "name") === "" ? UNSET : `${textAt(ref, "namespace") || "*"}/${textAt(ref, "name")}`;
  return [object.metadata.name, textAt(object, "spec", "policyName"), params, ageOf(object, now)];
};

/** The name, some of the object's own values, the age. */
export const valuesThenAge =
  (...values: readonly ((object: KubeObject) => Json)[]): Cells =>
  (object, now) => [object.metadata.name, ...values.map((value) => value(object)), ageOf(object, now)];

export const signingRequestCells: Cells = (object, now) => {
  const types = objectsAt(object, "status", "conditions").map(({ type }) => type);
  const decision = types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending";
  const issued = textAt(object, "status", "certificate") === "" ? "" : ",Issued";
  const seconds = numberAt(object, "spec", "expirationSeconds");
  return [
    object.metadata.name,
    ageOf(object, now),
    orNone(textAt(object, "spec", "signerName")),
    textAt(object, "spec", "username"),
    seconds === undefined ? NONE : durationText(seconds * 1_000),
    `${decision}${types.includes("Failed") ? ",Failed" : ""}${issued}`,
  ];
};

export const flowSchemaCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "spec", "priorityLevelConfiguration", "name"),
  countAt(object, "spec", "matchingPrecedence"),
  orNone(textAt(object, "spec", "distinguisherMethod", "type")),
  ageOf(object, now),
  textAt(
    objectsAt(object, "status", "conditions").find(({ type }) => type === "Dangling"),
    "status",
  ) || "?",
];

export const priorityLevelCells: Cells = (object, now) => {
  const queuing = objectAt(object, "spec", "limited", "limitResponse", "queuing");
  const show = (name: string): Json => numberAt(queuing, name) ?? NONE;
  return [
    object.metadata.name,
    textAt(object, "spec", "type"),
    numberAt(object, "spec", "limited", "nominalConcurrencyShares") ?? NONE,
    show("queues"),
    show("handSize"),
    show("queueLengthLimit"),
    ageOf(object, now),
  ];
};

export const resourceClaimCells: Cells = (object, now) => {
  const deleted = object.metadata.deletionTimestamp !== undefined;
  const allocated = at(object, "status", "allocation") !== undefined;
  const reserved = allocated && listAt(object, "status", "reservedFor").length > 0;
  const states = [deleted ? "deleted" : "", allocated ? "allocated" : deleted ? "" : "pending", reserved ? "reserved" : ""];
  return [object.metadata.name, states.filter((state) => state !== "").join(","), ageOf(object, now)];
};

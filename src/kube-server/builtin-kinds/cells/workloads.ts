/** Rows of what runs Pods. */
import type { Json, KubeObject } from "#kube";
import { parseMilliseconds } from "../codec/go-time.ts";
import { at, isTrueAt, listAt, numberAt, objectAt, textAt } from "../draft.ts";
import { ageOf, containerCells, countAt, hasCondition, labelsText, NONE, selectorText, sinceText } from "./text.ts";
import { durationText } from "../../protocol/duration-text.ts";

export type Cells = (object: KubeObject, now: number) => readonly Json[];

const templateCells = (object: KubeObject) => containerCells(at(object, "spec", "template", "spec"));
const selectorOf = (object: KubeObject) => selectorText(objectAt(object, "spec", "selector"));

export const deploymentCells: Cells = (object, now) => [
  object.metadata.name,
  `${countAt(object, "status", "readyReplicas")}/${countAt(object, "spec", "replicas")}`,
  countAt(object, "status", "updatedReplicas"),
  countAt(object, "status", "availableReplicas"),
  ageOf(object, now),
  ...templateCells(object),
  selectorOf(object),
];

export const replicaSetCells: Cells = (object, now) => [
  object.metadata.name,
  countAt(object, "spec", "replicas"),
  countAt(object, "status", "replicas"),
  countAt(object, "status", "readyReplicas"),
  ageOf(object, now),
  ...templateCells(object),
  selectorOf(object),
];

export const replicationControllerCells: Cells = (object, now) => [
  ...replicaSetCells(object, now).slice(0, -1),
  labelsText(at(object, "spec", "selector")),
];

export const statefulSetCells: Cells = (object, now) => [
  object.metadata.name,
  `${countAt(object, "status", "readyReplicas")}/${countAt(object, "spec", "replicas")}`,
  ageOf(object, now),
  ...templateCells(object),
];

export const daemonSetCells: Cells = (object, now) => [
  object.metadata.name,
  countAt(object, "status", "desiredNumberScheduled"),
  countAt(object, "status", "currentNumberScheduled"),
  countAt(object, "status", "numberReady"),
  countAt(object, "status", "updatedNumberScheduled"),
  countAt(object, "status", "numberAvailable"),
  labelsText(at(object, "spec", "template", "spec", "nodeSelector")),
  ageOf(object, now),
  ...templateCells(object),
  selectorOf(object),
];

const JOB_STATES = [
  ["Suspended", "Suspended"],
  ["FailureTarget", "FailureTarget"],
  ["SuccessCriteriaMet", "SuccessCriteriaMet"],
] as const;

function jobStatus(job: KubeObject): string {
  if (hasCondition(job, "Complete")) return "Complete";
  if (hasCondition(job, "Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  return JOB_STATES.find(([condition]) => hasCondition(job, condition))?.[1] ?? "Running";
}

function jobCompletions(job: KubeObject): string {
  const done = countAt(job, "status", "succeeded");
  const wanted = numberAt(job, "spec", "completions");
  const parallel = countAt(job, "spec", "parallelism");
  if (wanted !== undefined) return `${done}/${wanted}`;
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function jobDuration(job: KubeObject, now: number): string {
  const start = parseMilliseconds(at(job, "status", "startTime"));
  const end = parseMilliseconds(at(job, "status", "completionTime"));
  return start === undefined ? "" : durationText((end ?? now) - start);
}

export const jobCells: Cells = (object, now) => [
  object.metadata.name,
  jobStatus(object),
  jobCompletions(object),
  jobDuration(object, now),
  ageOf(object, now),
  ...templateCells(object),
  selectorOf(object),
];

export const cronJobCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "spec", "schedule"),
  textAt(object, "spec", "timeZone") || NONE,
  at(object, "spec", "suspend") === undefined ? "<unset>" : isTrueAt(object, "spec", "suspend") ? "True" : "False",
  listAt(object, "status", "active").length,
  at(object, "status", "lastScheduleTime") === undefined ? NONE : sinceText(at(object, "status", "lastScheduleTime"), now),
  ageOf(object, now),
  ...containerCells(at(object, "spec", "jobTemplate", "spec", "template", "spec")),
  selectorText(objectAt(object, "spec", "jobTemplate", "spec", "selector")),
];

export const podTemplateCells: Cells = (object) => [
  object.metadata.name,
  ...containerCells(at(object, "template", "spec")),
  labelsText(at(object, "template", "metadata", "labels")),
];

export const controllerRevisionCells: Cells = (object, now) => [
  object.metadata.name,
  controllerName(object),
  countAt(object, "revision"),
  ageOf(object, now),
];

/** "statefulset.apps/web" */
function controllerName(object: KubeObject): string {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.slice(0, owner.apiVersion.indexOf("/"))}` : "";
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

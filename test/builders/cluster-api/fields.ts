/** What of an object of Cluster API is compared. */
import { fieldAt, isJsonObject, type Json } from "#kube";
import { isMessageRace } from "./races.ts";
import type { StoryObject } from "./recorder.ts";

type Fields = readonly (readonly [name: string, value: string])[];
type Reported = { readonly type: string; readonly status: string; readonly reason: string; readonly message?: string };

export const conditionsOf = (object: StoryObject): readonly Reported[] =>
  (fieldAt(object, "status", "conditions") ?? []) as unknown as readonly Reported[];

/** Sequences. */
export function stateFields(object: StoryObject): Fields {
  const phase = fieldAt(object, "status", "phase");
  const deleting = object.metadata.deletionTimestamp === undefined ? [] : [["deletionTimestamp", "set"] as const];
  return [
    ...(typeof phase === "string" ? [["phase", phase] as const] : []),
    ...deleting,
    ...conditionsOf(object).map(({ type, status, reason, message = "" }) => {
      const text = message === "" || isMessageRace(object.kind, type) ? "" : ` ${JSON.stringify(message)}`;
      return [type, `${status} ${reason}${text}`] as const;
    }),
  ];
}

const COUNTS = [
  "replicas",
  "readyReplicas",
  "availableReplicas",
  "upToDateReplicas",
  "expectedMachines",
  "currentHealthy",
  "remediationsAllowed",
];

/** `hasSurge`: a rollout raises it for as long as a machine takes to start. */
export type NumberField = { readonly field: string; readonly count: number; readonly hasSurge: boolean };

export function replicaFields(object: StoryObject): readonly NumberField[] {
  const grouped = ["controlPlane", "workers"].flatMap((group) =>
    ["desiredReplicas", ...COUNTS.slice(0, 4)].map((name) => `status.${group}.${name}`),
  );
  return ["spec.replicas", ...COUNTS.map((name) => `status.${name}`), ...grouped].flatMap((field) => {
    const count = fieldAt(object, ...field.split("."));
    return typeof count === "number" ? [{ field, count, hasSurge: field.endsWith(".replicas") }] : [];
  });
}

/** Shown elsewhere, or different on every run: sequences, numbers, times, and the conditions of the contract before v1beta2. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  "spec.replicas",
  "status.phase",
  "status.conditions",
  "status.observedGeneration",
  "status.lastUpdated",
  "status.deprecated",
  "status.controlPlane",
  "status.workers",
  "status.targets",
  "status.deletion",
  ...COUNTS.map((name) => `status.${name}`),
]);

/** Fields as they are at the end of a chapter: metadata, spec and status by their first level, and messages of conditions. */
export function finalFields(object: StoryObject): Fields {
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = object.metadata;
  const owners = ownerReferences.map(({ kind, name, controller }) => `${kind} ${name}${controller === true ? " (controller)" : ""}`);
  return [
    ...Object.entries(labels).map(([key, value]) => [`label ${key}`, value] as const),
    ...Object.entries(annotations).map(([key, value]) => [`annotation ${key}`, value] as const),
    ...(finalizers.length === 0 ? [] : [["finalizers", [...finalizers].toSorted().join(", ")] as const]),
    ...(owners.length === 0 ? [] : [["owners", owners.toSorted().join(", ")] as const]),
    ...firstLevel(object, "spec"),
    ...firstLevel(object, "status"),
    ...conditionsOf(object)
      .filter(({ type, message = "" }) => message !== "" && isMessageRace(object.kind, type))
      .map(({ type, message }) => [`${type} message`, JSON.stringify(message)] as const),
  ];
}

function firstLevel(object: StoryObject, part: "spec" | "status"): Fields {
  const found = object[part];
  const entries = isJsonObject(found) ? Object.entries(found) : [];
  return entries.flatMap(([key, value]) => {
    const field = `${part}.${key}`;
    return value === undefined || NOT_COMPARED.has(field) ? [] : [[field, textOf(value)] as const];
  });
}

function textOf(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value).slice(1, -1);
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, one]) => `${key}: ${textOf(one ?? null)}`).join(", ")}}`;
}

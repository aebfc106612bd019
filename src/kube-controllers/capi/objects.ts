/** Reads fields of Cluster API objects. The reduced kinds leave much unchecked, so every field may be absent or of another type. */
import {
  fieldAt,
  isBeingDeleted,
  isJsonObject,
  jsonEqual,
  type Condition,
  type Json,
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
} from "#kube";
import { CLUSTER_LABEL, CONTROL_PLANE_LABEL, PAUSED_ANNOTATION } from "./names.ts";

export type CapiObject = KubeObject & { readonly spec?: Json; readonly status?: Json };
/** A reference of the v1beta2 contract; its namespace is that of the object that has it. */
export type CapiRef = { readonly apiGroup: string; readonly kind: string; readonly name: string };

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function flagAt(value: unknown, ...path: readonly string[]): boolean {
  return fieldAt(value, ...path) === true;
}

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = fieldAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === "string");
}

/** The entries of a map whose values are texts: labels, annotations. */
export function textMap(map: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

export function refAt(value: unknown, ...path: readonly string[]): CapiRef | undefined {
  const [apiGroup, kind, name] = ["apiGroup", "kind", "name"].map((key) => textAt(value, ...path, key));
  return apiGroup === undefined || kind === undefined || name === undefined ? undefined : { apiGroup, kind, name };
}

export const statusOf = (object: KubeObject): JsonObject => objectAt(object, "status");
export const replicasOf = (object: KubeObject): number => numberAt(object, "spec", "replicas") ?? 1;
export const versionOf = (machine: KubeObject): string => textAt(machine, "spec", "version") ?? "";
export const providerIdOf = (object: KubeObject): string | undefined => textAt(object, "spec", "providerID");
export const nodeNameOf = (machine: KubeObject): string | undefined => textAt(machine, "status", "nodeRef", "name");
export const isControlPlane = (machine: KubeObject): boolean => Object.hasOwn(machine.metadata.labels ?? {}, CONTROL_PLANE_LABEL);
export const isInitialized = (cluster: KubeObject): boolean => flagAt(cluster, "status", "initialization", "controlPlaneInitialized");
export const hasInfrastructure = (cluster: KubeObject): boolean => flagAt(cluster, "status", "initialization", "infrastructureProvisioned");

export function conditionsOf(object: KubeObject): readonly Condition[] {
  return listAt(object, "status", "conditions").filter(isCondition);
}

function isCondition(value: unknown): value is Condition {
  return textAt(value, "type") !== undefined && textAt(value, "status") !== undefined;
}

export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

export const isTrue = (object: KubeObject, type: string): boolean => conditionOf(object, type)?.status === "True";
export const isFalse = (object: KubeObject, type: string): boolean => conditionOf(object, type)?.status === "False";

/** Since when a condition is True, in milliseconds since 1970. */
export function trueSince(object: KubeObject, type: string): number | undefined {
  const found = conditionOf(object, type);
  return found?.status === "True" ? Date.parse(found.lastTransitionTime) : undefined;
}

/** The cluster of an object: its field, else its label. */
export function clusterKeyOf(object: KubeObject): ObjectKey | undefined {
  const name =
    object.kind === "Cluster" ? object.metadata.name : (textAt(object, "spec", "clusterName") ?? object.metadata.labels?.[CLUSTER_LABEL]);
  return name === undefined ? undefined : { namespace: object.metadata.namespace, name };
}

export function isPaused(cluster: KubeObject | undefined, object: KubeObject): boolean {
  return flagAt(cluster, "spec", "paused") || Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION);
}

export function hasOwner(object: KubeObject, owner: KubeObject): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
}

export function ownerReference(owner: KubeObject): OwnerReference {
  const { name, uid = "" } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid };
}

export const controllerRef = (owner: KubeObject): OwnerReference => ({
  ...ownerReference(owner),
  controller: true,
  blockOwnerDeletion: true,
});

export const isLive = (object: KubeObject): boolean => !isBeingDeleted(object);

/** The oldest first; names break ties, so that the order is the same after a restart. */
export function byAge(left: KubeObject, right: KubeObject): number {
  const [one, other] = [left, right].map(({ metadata }) => `${metadata.creationTimestamp ?? ""}/${metadata.name}`);
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

/** `status.versions`: the versions of machines with their numbers, the oldest version first. */
export function versionsOf(machines: readonly KubeObject[]): readonly Json[] {
  const counts = new Map<string, number>();
  for (const version of machines.map(versionOf).filter(Boolean)) counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts].toSorted(([left], [right]) => compareVersions(left, right)).map(([version, replicas]) => ({ version, replicas }));
}

/** Compares "v1.36.3" by its numbers; other texts are equal. */
export function compareVersions(left: string, right: string): number {
  const [one, other] = [left, right].map((text) => text.replace(/^v/, "").split(/[.+-]/).slice(0, 3).map(Number));
  for (const at of [0, 1, 2]) {
    const difference = (one?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
}

/** Whether a field differs between two versions of an object. */
export function fieldChanges(before: KubeObject, after: KubeObject, ...path: readonly string[]): boolean {
  return !jsonEqual(fieldAt(before, ...path) ?? {}, fieldAt(after, ...path) ?? {});
}

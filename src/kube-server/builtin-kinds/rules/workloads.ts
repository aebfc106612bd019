/** What Deployments, ReplicaSets, StatefulSets and DaemonSets have in common: selectors that stay, counts, rolling updates. */
import { type Json, jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { at, numberAt, objectAt, textAt } from "../draft.ts";
import { immutable, invalid, joined, nonNegative, type Causes } from "./causes.ts";
import { dnsNameWarnings, templateWarnings } from "./warnings.ts";

export const specOf = (object: KubeObject): Json | undefined => at(object, "spec");

export const sameSelector = (next: KubeObject, previous: KubeObject): Causes => {
  const selector = at(next, "spec", "selector");
  return jsonEqual(selector, at(previous, "spec", "selector")) ? [] : [immutable("spec.selector", selector ?? null)];
};

export function counts(object: KubeObject, part: "spec" | "status", ...names: readonly string[]): Causes {
  return names.flatMap((name) => nonNegative(`${part}.${name}`, numberAt(object, part, name)));
}

/** Whether a count or a percentage is more than nothing. */
export function isPositive(value: Json | undefined): boolean {
  return typeof value === "string" ? Number.parseInt(value, 10) > 0 : typeof value === "number" && value !== 0;
}

export const namedTemplateWarnings = (next: KubeObject, previous: KubeObject | undefined): readonly string[] =>
  joined(previous === undefined ? dnsNameWarnings(next) : [], templateWarnings(next, previous, "spec.template"));

/** The server shows its internal struct: capital letters, null for what is not set. */
export function goStrategy(strategy: JsonObject): JsonObject {
  const rolling = objectAt(strategy, "rollingUpdate");
  const shown =
    rolling === undefined ? null : { MaxUnavailable: at(rolling, "maxUnavailable") ?? 0, MaxSurge: at(rolling, "maxSurge") ?? 0 };
  return { Type: textAt(strategy, "type"), RollingUpdate: shown };
}

export function atMostReplicas(object: KubeObject, names: readonly string[]): Causes {
  const replicas = numberAt(object, "status", "replicas") ?? 0;
  return names.flatMap((name) => {
    const value = numberAt(object, "status", name) ?? 0;
    return value > replicas ? [invalid(`status.${name}`, value, "cannot be greater than status.replicas")] : [];
  });
}

export function availableAtMostReady(object: KubeObject, message: string): Causes {
  const [available, ready] = [numberAt(object, "status", "availableReplicas") ?? 0, numberAt(object, "status", "readyReplicas") ?? 0];
  return available > ready ? [invalid("status.availableReplicas", available, message)] : [];
}

/** How often names collided only grows. */
export function collisionsGrow(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [numberAt(next, "status", "collisionCount"), numberAt(previous, "status", "collisionCount")];
  const shrunk = before !== undefined && (now === undefined || now < before);
  return shrunk ? [invalid("status.collisionCount", now ?? 0, "cannot be decremented")] : [];
}

export const replicaStatus = (next: KubeObject): Causes =>
  joined(
    counts(
      next,
      "status",
      "replicas",
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas",
      "observedGeneration",
      "terminatingReplicas",
    ),
    atMostReplicas(next, ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]),
    availableAtMostReady(next, "cannot be greater than readyReplicas"),
  );

/** Surge, unavailability and deadlines of a Deployment. Pure numbers. */
import type { Deployment, ReplicaSet } from "#kube";
import { scaledValue } from "../pods/int-or-percent.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";

const NO_LIMIT = 2_147_483_647;

export function isRolling({ spec }: Deployment): boolean {
  return spec.strategy?.type !== "Recreate";
}

export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const desired = replicasOf(deployment);
  return isRolling(deployment) && desired > 0 ? Math.min(fenceposts(deployment).unavailable, desired) : 0;
}

/** Both 0 would block the rollout. Then one Pod may be unavailable. */
function fenceposts(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { rollingUpdate } = deployment.spec.strategy ?? {};
  const desired = replicasOf(deployment);
  const surge = scaledValue(rollingUpdate?.maxSurge, desired, "up");
  const unavailable = scaledValue(rollingUpdate?.maxUnavailable, desired, "down");
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** The size that the new ReplicaSet may have now. */
export function newSetSize(deployment: Deployment, sets: readonly ReplicaSet[], newSet: number): number {
  const desired = replicasOf(deployment);
  if (!isRolling(deployment)) return desired;
  const limit = desired + scaledValue(deployment.spec.strategy?.rollingUpdate?.maxSurge, desired, "up");
  const current = totalReplicas(sets);
  return current >= limit ? newSet : newSet + Math.min(limit - current, desired - newSet);
}

export function progressDeadlineMs({ spec }: Deployment): number | undefined {
  const seconds = spec.progressDeadlineSeconds;
  return seconds === undefined || seconds === NO_LIMIT ? undefined : seconds * 1_000;
}

export function historyLimit({ spec }: Deployment): number | undefined {
  return spec.revisionHistoryLimit === NO_LIMIT ? undefined : spec.revisionHistoryLimit;
}

export function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

export function totalAvailable(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
}

export function activeSets(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

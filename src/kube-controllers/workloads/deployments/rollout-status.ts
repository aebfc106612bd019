/**
 * The status of a Deployment from its ReplicaSets, and whether it makes progress. Pure.
 *
 * "Progress" is relative to the last status: more new Pods, fewer old ones, more of them ready. Without any of these
 * for the deadline it has timed out.
 */
import type { Deployment, DeploymentStatus, ReplicaSet } from "#kube";
import { timeOf } from "../pods/pod-state.ts";
import { omitEmpty } from "../pods/status-update.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { conditionOf, REASONS, withCondition, withFreshCondition, withoutCondition, type DeploymentConditions } from "./conditions.ts";
import { maxUnavailable, progressDeadlineMs, totalAvailable, totalReplicas } from "./limits.ts";

export type Rollout = { readonly deployment: Deployment; readonly newSet: ReplicaSet | undefined; readonly oldSets: readonly ReplicaSet[] };

export type RolloutTime = { readonly now: number; readonly nowText: string };

export function allSets({ newSet, oldSets }: Rollout): readonly ReplicaSet[] {
  return newSet === undefined ? oldSets : [...oldSets, newSet];
}

/** Counters and availability; paused Deployments and those being scaled get only these. */
export function deploymentStatus(rollout: Rollout, { nowText }: RolloutTime): DeploymentStatus {
  const { deployment, newSet } = rollout;
  const sets = allSets(rollout);
  const available = totalAvailable(sets);
  const enough = available >= replicasOf(deployment) - maxUnavailable(deployment);
  const conditions = withCondition(deployment.status?.conditions ?? [], availability(enough), nowText);
  const { collisionCount } = deployment.status ?? {};
  return {
    ...omitEmpty({
      observedGeneration: deployment.metadata.generation,
      replicas: sum(sets, ({ status }) => status?.replicas),
      updatedReplicas: newSet?.status?.replicas,
      readyReplicas: sum(sets, ({ status }) => status?.readyReplicas),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, totalReplicas(sets) - available),
    }),
    terminatingReplicas: sum(sets, ({ status }) => status?.terminatingReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions,
  };
}

function availability(enough: boolean) {
  return enough
    ? ({ type: "Available", status: "True", reason: REASONS.available, message: "Deployment has minimum availability." } as const)
    : ({
        type: "Available",
        status: "False",
        reason: REASONS.unavailable,
        message: "Deployment does not have minimum availability.",
      } as const);
}

/** The same, with the conditions about progress and about Pods that cannot be created. */
export function rolloutStatus(rollout: Rollout, time: RolloutTime): DeploymentStatus {
  const status = deploymentStatus(rollout, time);
  const conditions = withReplicaFailure(rollout, progressConditions(rollout, status, time));
  return { ...status, conditions };
}

function progressConditions(rollout: Rollout, status: DeploymentStatus, { now, nowText }: RolloutTime): DeploymentConditions {
  const { deployment, newSet } = rollout;
  const conditions = status.conditions ?? [];
  if (progressDeadlineMs(deployment) === undefined) return withoutCondition(conditions, "Progressing");
  const known = conditionOf(deployment.status?.conditions, "Progressing");
  const wasComplete = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && known?.reason === REASONS.newSetAvailable;
  if (wasComplete) return conditions;
  const subject = newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    return withCondition(conditions, { type: "Progressing", status: "True", reason: REASONS.newSetAvailable, message }, nowText);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const message = `${subject} is progressing.`;
    return withFreshCondition(conditions, { type: "Progressing", status: "True", reason: REASONS.setUpdated, message }, nowText);
  }
  if (!hasTimedOut(deployment, conditions, now)) return conditions;
  const message = `${subject} has timed out progressing.`;
  return withCondition(conditions, { type: "Progressing", status: "False", reason: REASONS.timedOut, message }, nowText);
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: Deployment, conditions: DeploymentConditions, now: number): boolean {
  const known = conditionOf(conditions, "Progressing");
  const deadline = progressDeadlineMs(deployment);
  if (known === undefined || deadline === undefined || known.reason === REASONS.newSetAvailable) return false;
  return known.reason === REASONS.timedOut || timeOf(known.lastUpdateTime) + deadline < now;
}

/** When to recheck without an event: at the deadline. Undefined when there is none. */
export function deadlineWaitMs({ deployment }: Rollout, status: DeploymentStatus, now: number): number | undefined {
  const known = conditionOf(deployment.status?.conditions, "Progressing");
  const deadline = progressDeadlineMs(deployment);
  if (known === undefined || deadline === undefined || isComplete(deployment, status) || known.reason === REASONS.timedOut)
    return undefined;
  return Math.max(0, timeOf(known.lastUpdateTime) + deadline - now) + 1_000;
}

/** A ReplicaSet that cannot create Pods has a condition; the Deployment copies it, the newest first. */
function withReplicaFailure(rollout: Rollout, conditions: DeploymentConditions): DeploymentConditions {
  const candidates = rollout.newSet === undefined ? rollout.oldSets : [rollout.newSet, ...rollout.oldSets];
  const failure = candidates.flatMap(({ status }) => conditionOf(status?.conditions, "ReplicaFailure") ?? [])[0];
  if (failure === undefined) return withoutCondition(conditions, "ReplicaFailure");
  const known = conditionOf(conditions, "ReplicaFailure");
  if (known?.status === failure.status && known.reason === failure.reason) return conditions;
  const { type, status, reason = "", message = "", lastTransitionTime = "" } = failure;
  const draft = { type, status, lastUpdateTime: lastTransitionTime, lastTransitionTime, reason, message };
  return [...withoutCondition(conditions, "ReplicaFailure"), draft];
}

function sum(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (count(set) ?? 0), 0);
}

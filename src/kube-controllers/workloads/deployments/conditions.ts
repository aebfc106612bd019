import type { TruthStatus, WorkloadCondition } from "#kube";
/** Conditions of Deployments. They have two times, and a condition whose status and reason are the same is not touched at all. */

export const REASONS = {
  newSetCreated: "NewReplicaSetCreated",
  newSetFound: "FoundNewReplicaSet",
  setUpdated: "ReplicaSetUpdated",
  newSetAvailable: "NewReplicaSetAvailable",
  createFailed: "ReplicaSetCreateError",
  timedOut: "ProgressDeadlineExceeded",
  paused: "DeploymentPaused",
  resumed: "DeploymentResumed",
  available: "MinimumReplicasAvailable",
  unavailable: "MinimumReplicasUnavailable",
} as const;

export type Conditions = readonly WorkloadCondition[];

export type Said = { readonly type: string; readonly status: TruthStatus; readonly reason: string; readonly message: string };

export function conditionOf(conditions: Conditions | undefined, type: string): WorkloadCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function withCondition(conditions: Conditions, said: Said, now: string): Conditions {
  const known = conditionOf(conditions, said.type);
  if (known?.status === said.status && known.reason === said.reason) return conditions;
  return put(conditions, said, now);
}

/** Also when status and reason are the same: progress is told by the time of its last update. */
export function withFreshCondition(conditions: Conditions, said: Said, now: string): Conditions {
  return put(conditions, said, now);
}

export function withoutCondition(conditions: Conditions, type: string): Conditions {
  return conditions.some((condition) => condition.type === type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}

function put(conditions: Conditions, { type, status, reason, message }: Said, now: string): Conditions {
  const known = conditionOf(conditions, type);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  return [...withoutCondition(conditions, type), { type, status, lastUpdateTime: now, lastTransitionTime, reason, message }];
}

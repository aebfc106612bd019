import type { TruthStatus, WorkloadCondition } from "#kube";
/** Conditions of Deployments. They have two timestamps, and a condition with the same status and reason is not changed at all. */

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

export type DeploymentConditions = readonly WorkloadCondition[];

export type DeploymentConditionDraft = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly reason: string;
  readonly message: string;
};

export function conditionOf(conditions: DeploymentConditions | undefined, type: string): WorkloadCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function withCondition(conditions: DeploymentConditions, draft: DeploymentConditionDraft, now: string): DeploymentConditions {
  const known = conditionOf(conditions, draft.type);
  if (known?.status === draft.status && known.reason === draft.reason) return conditions;
  return put(conditions, draft, now);
}

/** Also when status and reason are the same: the progress deadline counts from lastUpdateTime. */
export function withFreshCondition(conditions: DeploymentConditions, draft: DeploymentConditionDraft, now: string): DeploymentConditions {
  return put(conditions, draft, now);
}

export function withoutCondition(conditions: DeploymentConditions, type: string): DeploymentConditions {
  return conditions.some((condition) => condition.type === type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}

function put(
  conditions: DeploymentConditions,
  { type, status, reason, message }: DeploymentConditionDraft,
  now: string,
): DeploymentConditions {
  const known = conditionOf(conditions, type);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  return [...withoutCondition(conditions, type), { type, status, lastUpdateTime: now, lastTransitionTime, reason, message }];
}

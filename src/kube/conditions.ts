/** Status conditions, as `metav1.Condition`: one per type; lastTransitionTime changes only with the status. */
export type ConditionStatus = "True" | "False" | "Unknown";

export type Condition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
};

export type NewCondition = Omit<Condition, "lastTransitionTime">;

/** The conditions with `next` added or replaced in its position; lastTransitionTime stays if the status is the same. */
export function setCondition(conditions: readonly Condition[], next: NewCondition, now: string): readonly Condition[] {
  const index = conditions.findIndex((condition) => condition.type === next.type);
  const previous = conditions[index];
  if (previous === undefined) return [...conditions, { ...next, lastTransitionTime: now }];
  const lastTransitionTime = previous.status === next.status ? previous.lastTransitionTime : now;
  return conditions.with(index, { ...next, lastTransitionTime });
}

export function setConditions(conditions: readonly Condition[], next: readonly NewCondition[], now: string): readonly Condition[] {
  return next.reduce((all, condition) => setCondition(all, condition, now), conditions);
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/** How many Pods of a budget may be disrupted now. Pure. */
import { err, map, ok, type Result } from "#base";
import { findCondition, jsonEqual, setCondition, type BudgetStatus, type LabelSelector, type Pod, type PodDisruptionBudget } from "#kube";
import { isPodReady } from "../pods/pod-status.ts";

/** An evicted Pod that is not being deleted after this time will stay. */
const DELETION_TIMEOUT_MS = 120_000;
/** The largest value of a counter in the status. */
export const MAX_INT32 = 2_147_483_647;
const ALLOWED = "DisruptionAllowed";

export type Expected = { readonly expectedPods: number; readonly desiredHealthy: number };

/** Whether the budget is relative to the scale of the Pods' controllers; an absolute minAvailable counts existing Pods. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

/** `scale`: the total scale of their controllers, or the number of Pods if `needsScale` is false. */
export function expectedOf({ spec }: PodDisruptionBudget, scale: number): Result<Expected, string> {
  if (spec?.maxUnavailable !== undefined) {
    return map(share(spec.maxUnavailable, scale), (down) => ({ expectedPods: scale, desiredHealthy: Math.max(0, scale - down) }));
  }
  if (spec?.minAvailable === undefined) return ok({ expectedPods: 0, desiredHealthy: 0 });
  return map(share(spec.minAvailable, scale), (up) => ({ expectedPods: scale, desiredHealthy: up }));
}

/** A number, or a percentage of the total, rounded up. */
function share(value: number | string, whole: number): Result<number, string> {
  if (typeof value === "number") return ok(value);
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return err("invalid value for IntOrString: invalid type: string is not a percentage");
  return ok(Math.min(Math.ceil((Number(percent) * whole) / 100), MAX_INT32));
}

export type Disrupted = {
  readonly pods: Readonly<Record<string, string>>;
  /** When to recheck, in milliseconds since 1970. */
  readonly recheckAt: number | undefined;
  /** Evicted Pods that were not deleted in time. */
  readonly stayed: readonly Pod[];
};

export function disruptedOf({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number): Disrupted {
  const known = new Map(Object.entries(status?.disruptedPods ?? {}));
  const waiting: [string, string][] = [];
  const stayed: Pod[] = [];
  let recheckAt: number | undefined;
  for (const pod of pods) {
    const since = known.get(pod.metadata.name);
    if (since === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const expectedBy = Date.parse(since) + DELETION_TIMEOUT_MS;
    if (expectedBy < now) stayed.push(pod);
    else {
      waiting.push([pod.metadata.name, since]);
      recheckAt = Math.min(recheckAt ?? expectedBy, expectedBy);
    }
  }
  return { pods: Object.fromEntries(waiting), recheckAt, stayed };
}

export function healthyPods(pods: readonly Pod[], disrupted: Disrupted["pods"], now: number): number {
  const leaves = (name: string) => {
    const since = Object.hasOwn(disrupted, name) ? disrupted[name] : undefined;
    return since !== undefined && Date.parse(since) + DELETION_TIMEOUT_MS > now;
  };
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !leaves(pod.metadata.name) && isPodReady(pod)).length;
}

/** The status to write, or undefined when the current one is equal. */
export function statusOf(
  budget: PodDisruptionBudget,
  { expected, healthy, disrupted }: { expected: Expected; healthy: number; disrupted: Disrupted["pods"] },
  now: string,
): BudgetStatus | undefined {
  const { generation: observedGeneration = 0 } = budget.metadata;
  const { expectedPods, desiredHealthy } = expected;
  // a budget that selects no Pods allows no disruption: its first Pods may not be in the cache yet
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, healthy - desiredHealthy);
  const [status, reason] = disruptionsAllowed > 0 ? (["True", "SufficientPods"] as const) : (["False", "InsufficientPods"] as const);
  const conditions = setCondition(budget.status?.conditions ?? [], { type: ALLOWED, status, reason, message: "", observedGeneration }, now);
  const counts = { observedGeneration, disruptionsAllowed, currentHealthy: healthy, desiredHealthy, expectedPods };
  const next: BudgetStatus = { ...counts, ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }), conditions };
  return jsonEqual(budget.status, next) ? undefined : next;
}

/** Without a count no disruption is allowed. */
export function failSafeStatus({ status }: PodDisruptionBudget, message: string, now: string): BudgetStatus | undefined {
  const none = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const { observedGeneration = 0 } = status ?? {};
  const known = findCondition(status?.conditions, ALLOWED);
  if (status?.disruptionsAllowed === 0 && known?.reason === "SyncFailed" && known.message === message) return undefined;
  const failure = { type: ALLOWED, status: "False", reason: "SyncFailed", message, observedGeneration } as const;
  return { ...none, ...status, disruptionsAllowed: 0, conditions: setCondition(status?.conditions ?? [], failure, now) };
}

/** Formatted like in Go, because the event of kube-controller-manager is. */
export function goSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  const text = `MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}}`;
  return `&LabelSelector{${text},}`;
}

/** `policy/v1` PodDisruptionBudget and `scheduling.k8s.io/v1` PriorityClass. */
import type { Condition } from "../conditions.ts";
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { LabelSelector } from "../selectors.ts";

export type PodDisruptionBudget = KubeObject & {
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
  readonly status?: BudgetStatus;
};

export type BudgetStatus = {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  /** Pods whose eviction was allowed but whose deletion is not observed yet, with the time of the eviction. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
};

export const podDisruptionBudgets = defineResource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
});

export const priorityClasses = defineResource<KubeObject>({
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
});

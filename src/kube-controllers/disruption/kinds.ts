/** What the disruption controller reads: budgets, and whoever says how many Pods there should be. */
import { defineResource, type Condition, type KubeObject, type LabelSelector } from "#kube";

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
  /** Pods whose eviction was let through and that are not seen to go yet, with the time of that. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
};

export const podDisruptionBudgetKind = defineResource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
});

export type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };

const apps = (kind: string, plural: string) => defineResource<Scaled>({ group: "apps", version: "v1", kind, plural, namespaced: true });
export const replicaSets = apps("ReplicaSet", "replicasets");
export const deployments = apps("Deployment", "deployments");
export const statefulSets = apps("StatefulSet", "statefulsets");
export const replicationControllers = defineResource<Scaled>({
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  namespaced: true,
});

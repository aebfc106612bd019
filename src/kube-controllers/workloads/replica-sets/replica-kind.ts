/** The differences between ReplicaSet and ReplicationController; everything else is shared. */
import {
  replicaSets,
  replicationControllers,
  requirementsOf,
  type KubeObject,
  type PodTemplate,
  type ReplicaSet,
  type ReplicaSetStatus,
  type ReplicationController,
  type Requirement,
  type Resource,
} from "#kube";

/** The common fields, so that one function handles both. */
export type Replicated = KubeObject & {
  readonly spec: { readonly replicas?: number; readonly minReadySeconds?: number };
  readonly status?: ReplicaSetStatus;
};

export type ReplicaKind<T extends Replicated> = {
  /** The controller's name in kube-controller-manager. */
  readonly controller: string;
  /** The reporting controller of its events. */
  readonly reportsAs: string;
  readonly resource: Resource<T>;
  readonly selectorOf: (object: T) => readonly Requirement[];
  readonly templateOf: (object: T) => PodTemplate;
  /** `status.terminatingReplicas` is a new field that ReplicationControllers do not have. */
  readonly countsTerminating: boolean;
};

export const replicaSetKind: ReplicaKind<ReplicaSet> = {
  controller: "replicaset-controller",
  reportsAs: "replicaset-controller",
  resource: replicaSets,
  selectorOf: ({ spec }) => requirementsOf(spec.selector),
  templateOf: ({ spec }) => spec.template,
  countsTerminating: true,
};

export const replicationControllerKind: ReplicaKind<ReplicationController> = {
  controller: "replicationcontroller-controller",
  reportsAs: "replication-controller",
  resource: replicationControllers,
  selectorOf: ({ spec }) => requirementsOf({ matchLabels: spec.selector ?? {} }),
  templateOf: ({ spec }) => spec.template ?? { spec: { containers: [] } },
  countsTerminating: false,
};

export function replicasOf({ spec }: { readonly spec: { readonly replicas?: number } }): number {
  return spec.replicas ?? 1;
}

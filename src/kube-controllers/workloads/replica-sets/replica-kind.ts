/** ReplicaSet and ReplicationController do the same; this is all in which they differ. */
import { requirementsOf, type KubeObject, type Requirement, type Resource } from "#kube";
import {
  replicaSetResource,
  replicationControllerResource,
  type ReplicaSet,
  type ReplicaSetStatus,
  type ReplicationController,
} from "../kinds/apps.ts";
import type { PodTemplate } from "../kinds/pod.ts";

/** What both have, so that one function serves both. */
export type Replicated = KubeObject & {
  readonly spec: { readonly replicas?: number; readonly minReadySeconds?: number };
  readonly status?: ReplicaSetStatus;
};

export type ReplicaKind<T extends Replicated> = {
  /** As kube-controller-manager calls the controller. */
  readonly controller: string;
  /** How it signs its events. */
  readonly reportsAs: string;
  readonly resource: Resource<T>;
  readonly selectorOf: (object: T) => readonly Requirement[];
  readonly templateOf: (object: T) => PodTemplate;
  /** `status.terminatingReplicas` is new, and ReplicationControllers get nothing new. */
  readonly countsTerminating: boolean;
};

export const replicaSets: ReplicaKind<ReplicaSet> = {
  controller: "replicaset-controller",
  reportsAs: "replicaset-controller",
  resource: replicaSetResource,
  selectorOf: ({ spec }) => requirementsOf(spec.selector),
  templateOf: ({ spec }) => spec.template,
  countsTerminating: true,
};

export const replicationControllers: ReplicaKind<ReplicationController> = {
  controller: "replicationcontroller-controller",
  reportsAs: "replication-controller",
  resource: replicationControllerResource,
  selectorOf: ({ spec }) => requirementsOf({ matchLabels: spec.selector ?? {} }),
  templateOf: ({ spec }) => spec.template ?? { spec: { containers: [] } },
  countsTerminating: false,
};

export function replicasOf({ spec }: { readonly spec: { readonly replicas?: number } }): number {
  return spec.replicas ?? 1;
}

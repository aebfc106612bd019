/** The kinds of `apps/v1`, and the core kind ReplicationController, the predecessor of ReplicaSet. */
import type { Json } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { LabelSelector } from "../selectors.ts";
import type { IntOrPercent, PodTemplate, TruthStatus } from "./pod.ts";

/** Conditions of workloads: without `observedGeneration`, with two times. */
export type WorkloadCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type DeploymentStatus = {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly WorkloadCondition[];
  readonly collisionCount?: number;
};

export type Deployment = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
    };
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
  };
  readonly status?: DeploymentStatus;
};

export type ReplicaSetStatus = {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly WorkloadCondition[];
};

export type ReplicaSet = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
};

export type ReplicationController = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector?: Readonly<Record<string, string>>;
    readonly template?: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
};

export type ClaimTemplate = {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Json;
};

export type RetentionPolicy = { readonly whenDeleted?: string; readonly whenScaled?: string };

export type StatefulSetStatus = {
  readonly observedGeneration?: number;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly WorkloadCondition[];
};

export type StatefulSet = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly ClaimTemplate[];
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
    readonly revisionHistoryLimit?: number;
    readonly minReadySeconds?: number;
    readonly persistentVolumeClaimRetentionPolicy?: RetentionPolicy;
    readonly ordinals?: { readonly start?: number };
  };
  readonly status?: StatefulSetStatus;
};

export type DaemonSetStatus = {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
};

export type DaemonSet = KubeObject & {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
    };
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: DaemonSetStatus;
};

export type ControllerRevision = KubeObject & { readonly data?: Json; readonly revision: number };

const apps = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: "apps", version: "v1", kind, plural, namespaced: true });

export const deployments = apps<Deployment>("Deployment", "deployments");
export const replicaSets = apps<ReplicaSet>("ReplicaSet", "replicasets");
export const statefulSets = apps<StatefulSet>("StatefulSet", "statefulsets");
export const daemonSets = apps<DaemonSet>("DaemonSet", "daemonsets");
export const controllerRevisions = apps<ControllerRevision>("ControllerRevision", "controllerrevisions");
export const replicationControllers = defineResource<ReplicationController>({
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  namespaced: true,
});

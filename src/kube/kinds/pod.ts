/**
 * Pod, with the fields that this program reads or writes.
 *
 * An object from the server has more fields than its type. Copies are made by spreading, so that fields without a type are kept.
 */
import type { Json } from "../json.ts";
import type { KubeObject, ObjectMeta } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { LabelSelector } from "../selectors.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
export type TruthStatus = "True" | "False" | "Unknown";

export type PodCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly observedGeneration?: number;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type ContainerState = {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
};

export type ContainerStatus = {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
};

export type Probe = {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
};

export type ResourceList = Readonly<Record<string, string | number>>;

export type ContainerPort = {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
};

export type Container = {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly [field: string]: Json | undefined }[];
  readonly ports?: readonly ContainerPort[];
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  /** "Always" on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
};

export type Toleration = {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
};

export type NodeSelectorRequirement = { readonly key: string; readonly operator: string; readonly values?: readonly string[] };
export type NodeSelectorTerm = {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
};
export type PodAffinityTerm = {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
};

export type Affinity = {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
  };
  readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };
};

export type Volume = {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
};

export type PodSpec = {
  readonly nodeName?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  /** Containers of `kubectl debug`: added to a running Pod, never restarted. */
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly restartPolicy?: string;
  readonly hostNetwork?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly overhead?: ResourceList;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
};

export type PodStatus = {
  readonly observedGeneration?: number;
  readonly phase?: PodPhase;
  readonly conditions?: readonly PodCondition[];
  readonly reason?: string;
  readonly message?: string;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
};

export type Pod = KubeObject & {
  readonly metadata: ObjectMeta & { readonly deletionGracePeriodSeconds?: number };
  readonly spec: PodSpec;
  readonly status?: PodStatus;
};

export type TemplateMeta = Partial<Pick<ObjectMeta, "labels" | "annotations" | "finalizers">>;
export type PodTemplate = { readonly metadata?: TemplateMeta; readonly spec: PodSpec };

export const pods = defineResource<Pod>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });

/** A count, or a percentage: `2`, `"25%"`. */
export type IntOrPercent = number | string;

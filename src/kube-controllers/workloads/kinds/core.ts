/** Nodes, claims, volumes and Services, as far as somebody here reads or writes them. */
import { defineResource, type Json, type KubeObject } from "#kube";
import type { ResourceList, TruthStatus } from "./pod.ts";

export type Taint = { readonly key: string; readonly value?: string; readonly effect: string; readonly timeAdded?: string };

export type NodeCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type Node = KubeObject & {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[]; readonly podCIDR?: string };
  readonly status?: {
    readonly capacity?: ResourceList;
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly NodeCondition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, Json | undefined>>;
  };
};

export type VolumeClaim = KubeObject & {
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly volumeAttributesClassName?: string;
    readonly resources?: { readonly requests?: ResourceList };
  };
  readonly status?: { readonly phase?: string; readonly accessModes?: readonly string[]; readonly capacity?: ResourceList };
};

export type PersistentVolume = KubeObject & {
  readonly spec: { readonly [field: string]: Json | undefined };
  readonly status?: { readonly phase?: string };
};

export type StorageClass = KubeObject & {
  readonly provisioner: string;
  readonly volumeBindingMode?: string;
  readonly reclaimPolicy?: string;
};

export type Service = KubeObject & {
  readonly spec: { readonly type?: string; readonly loadBalancerIP?: string; readonly loadBalancerClass?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[] } };
};

const core = <T extends KubeObject>(kind: string, plural: string, namespaced: boolean) =>
  defineResource<T>({ group: "", version: "v1", kind, plural, namespaced });

export const nodeResource = core<Node>("Node", "nodes", false);
export const claimResource = core<VolumeClaim>("PersistentVolumeClaim", "persistentvolumeclaims", true);
export const volumeResource = core<PersistentVolume>("PersistentVolume", "persistentvolumes", false);
export const serviceResource = core<Service>("Service", "services", true);
export const attributesClassResource = defineResource<KubeObject>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  namespaced: false,
});
export const storageClassResource = defineResource<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
});

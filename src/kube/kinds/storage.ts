/** Volumes and their claims, and the kinds of `storage.k8s.io/v1`. */
import type { Json } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { ResourceList } from "./pod.ts";

export type PersistentVolumeClaim = KubeObject & {
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

export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
});
export const persistentVolumes = defineResource<PersistentVolume>({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
});

const storage = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: "storage.k8s.io", version: "v1", kind, plural, namespaced: false });

export const storageClasses = storage<StorageClass>("StorageClass", "storageclasses");
export const volumeAttachments = storage<KubeObject>("VolumeAttachment", "volumeattachments");
export const volumeAttributesClasses = storage<KubeObject>("VolumeAttributesClass", "volumeattributesclasses");

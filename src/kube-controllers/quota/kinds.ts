/** The kinds whose changes, not only their end, can set free what a quota counts. */
import { defineResource, type KubeObject } from "#kube";

export type ResourceQuotaObject = KubeObject & {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: { readonly hard?: Readonly<Record<string, string>>; readonly used?: Readonly<Record<string, string>> };
};

export const resourceQuotaKind = defineResource<ResourceQuotaObject>({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
});

export const serviceKind = defineResource({ group: "", version: "v1", kind: "Service", plural: "services", namespaced: true });

export const volumeClaimKind = defineResource({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
});

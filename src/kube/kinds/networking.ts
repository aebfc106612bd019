/** The kinds of `networking.k8s.io/v1`. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";

const networking = (kind: string, plural: string) =>
  defineResource<KubeObject>({ group: "networking.k8s.io", version: "v1", kind, plural, namespaced: true });

export const serviceCidrs = defineResource<KubeObject>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  namespaced: false,
});
export const ingresses = networking("Ingress", "ingresses");
export const networkPolicies = networking("NetworkPolicy", "networkpolicies");

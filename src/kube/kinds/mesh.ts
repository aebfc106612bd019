/** Kinds of Cilium, Istio, Gateway API, Flagger and External Secrets. They are optional in a cluster. */
import type { KubeObject } from "../object.ts";
import { defineResource, type Resource } from "../resource.ts";

const cilium = (kind: string, plural: string, namespaced: boolean) =>
  defineResource<KubeObject>({ group: "cilium.io", version: "v2", kind, plural, namespaced });
const istio = (group: "security.istio.io" | "networking.istio.io", kind: string, plural: string) =>
  defineResource<KubeObject>({ group, version: "v1", kind, plural, namespaced: true });
const gatewayApi = (kind: string, plural: string) =>
  defineResource<KubeObject>({ group: "gateway.networking.k8s.io", version: "v1", kind, plural, namespaced: true });

export const ciliumNetworkPolicies = cilium("CiliumNetworkPolicy", "ciliumnetworkpolicies", true);
export const ciliumClusterwideNetworkPolicies = cilium("CiliumClusterwideNetworkPolicy", "ciliumclusterwidenetworkpolicies", false);
/** Addresses for Services of type LoadBalancer, and their announcement by the nodes. */
export const ciliumLoadBalancerIpPools = cilium("CiliumLoadBalancerIPPool", "ciliumloadbalancerippools", false);
export const ciliumL2AnnouncementPolicies = defineResource<KubeObject>({
  group: "cilium.io",
  version: "v2alpha1",
  kind: "CiliumL2AnnouncementPolicy",
  plural: "ciliuml2announcementpolicies",
  namespaced: false,
});
export const authorizationPolicies = istio("security.istio.io", "AuthorizationPolicy", "authorizationpolicies");
export const peerAuthentications = istio("security.istio.io", "PeerAuthentication", "peerauthentications");
export const serviceEntries = istio("networking.istio.io", "ServiceEntry", "serviceentries");
export const gateways = gatewayApi("Gateway", "gateways");
export const httpRoutes = gatewayApi("HTTPRoute", "httproutes");
export const canaries = defineResource<KubeObject>({
  group: "flagger.app",
  version: "v1beta1",
  kind: "Canary",
  plural: "canaries",
  namespaced: true,
});
export const externalSecrets = defineResource<KubeObject>({
  group: "external-secrets.io",
  version: "v1",
  kind: "ExternalSecret",
  plural: "externalsecrets",
  namespaced: true,
});

/** The kinds of this file that Lattice writes. */
export const meshKinds: readonly Resource[] = [
  ciliumNetworkPolicies,
  authorizationPolicies,
  peerAuthentications,
  serviceEntries,
  gateways,
  httpRoutes,
  canaries,
  externalSecrets,
];

/** The mesh kind of an object; undefined for a kind that every cluster has. */
export function meshKindOf({ apiVersion, kind }: KubeObject): Resource | undefined {
  return meshKinds.find((resource) => resource.kind === kind && apiVersion.startsWith(`${resource.group}/`));
}

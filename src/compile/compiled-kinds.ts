/** The kinds that services are compiled into, as an API server knows them; in the order in which they are applied. */
import { defineResource, type KubeObject, type Resource } from "#kube";

const kind = (group: string, version: string, name: string, plural: string): Resource =>
  defineResource<KubeObject>({ group, version, kind: name, plural, namespaced: name !== "Namespace" });

/**
 * Resources of every kind that a compilation can give.
 *
 * @example const lists = await Promise.all(compiledKinds.map((kind) => client.list(kind, { labelSelector: "app.kubernetes.io/managed-by=lattice" })));
 */
export const compiledKinds: readonly Resource[] = [
  kind("", "v1", "Namespace", "namespaces"),
  kind("", "v1", "ConfigMap", "configmaps"),
  kind("", "v1", "Secret", "secrets"),
  kind("external-secrets.io", "v1", "ExternalSecret", "externalsecrets"),
  kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  kind("", "v1", "ServiceAccount", "serviceaccounts"),
  kind("apps", "v1", "Deployment", "deployments"),
  kind("", "v1", "Service", "services"),
  kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
  kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  kind("flagger.app", "v1beta1", "Canary", "canaries"),
  kind("gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"),
  kind("gateway.networking.k8s.io", "v1", "Gateway", "gateways"),
  kind("security.istio.io", "v1", "PeerAuthentication", "peerauthentications"),
  kind("security.istio.io", "v1", "AuthorizationPolicy", "authorizationpolicies"),
  kind("cilium.io", "v2", "CiliumNetworkPolicy", "ciliumnetworkpolicies"),
  kind("networking.istio.io", "v1", "ServiceEntry", "serviceentries"),
];

/**
 * Kinds that decide who reaches whom: what to read, whoever made it, to know what a cluster lets through.
 *
 * @example const objects = (await Promise.all(policyKinds.map((kind) => listAll(client, kind)))).flat();
 */
export const policyKinds: readonly Resource[] = [
  ...compiledKinds.filter(({ kind: name }) =>
    ["Namespace", "Deployment", "Service", "Gateway", "AuthorizationPolicy", "CiliumNetworkPolicy"].includes(name),
  ),
  defineResource<KubeObject>({
    group: "cilium.io",
    version: "v2",
    kind: "CiliumClusterwideNetworkPolicy",
    plural: "ciliumclusterwidenetworkpolicies",
    namespaced: false,
  }),
];

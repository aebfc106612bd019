/** Kinds of other people that controllers read or make. Those of the mesh may be absent: a cluster need not have Cilium, Istio or Flagger. */
import { defineResource, metadataOf, type KubeObject, type LabelSelector, type Resource } from "#kube";

function core(kind: string, plural: string): Resource {
  return defineResource({ group: "", version: "v1", kind, plural, namespaced: true });
}

/** Of a built-in kind. */
type StatusCondition = { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string };

type PodTemplate = { readonly spec?: unknown };

export type DeploymentObject = KubeObject & {
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly template?: PodTemplate };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly StatusCondition[];
  };
};

export type ReplicaSetObject = KubeObject & {
  readonly spec?: { readonly replicas?: number; readonly template?: PodTemplate };
  readonly status?: { readonly replicas?: number };
};

type ContainerState = {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number };
};

export type ContainerStatus = {
  readonly name: string;
  readonly image?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
};

export type PodObject = KubeObject & {
  readonly status?: {
    readonly conditions?: readonly StatusCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
};

export const namespaces = defineResource<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
export const configMaps = core("ConfigMap", "configmaps");
export const secrets = core("Secret", "secrets");
/** Secrets are watched without their values; those that are needed are read one by one. */
export const secretsByMetadata = metadataOf(secrets);
export const persistentVolumeClaims = core("PersistentVolumeClaim", "persistentvolumeclaims");
export const serviceAccounts = core("ServiceAccount", "serviceaccounts");
export const pods = defineResource<PodObject>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
export const services = core("Service", "services");
export const resourceQuotas = core("ResourceQuota", "resourcequotas");
export const limitRanges = core("LimitRange", "limitranges");
export const deployments = defineResource<DeploymentObject>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});
export const replicaSets = defineResource<ReplicaSetObject>({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
});
export const horizontalPodAutoscalers = defineResource({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
});
export const podDisruptionBudgets = defineResource({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
});

export const ciliumNetworkPolicies = defineResource({
  group: "cilium.io",
  version: "v2",
  kind: "CiliumNetworkPolicy",
  plural: "ciliumnetworkpolicies",
  namespaced: true,
});
export const authorizationPolicies = defineResource({
  group: "security.istio.io",
  version: "v1",
  kind: "AuthorizationPolicy",
  plural: "authorizationpolicies",
  namespaced: true,
});
export const peerAuthentications = defineResource({
  group: "security.istio.io",
  version: "v1",
  kind: "PeerAuthentication",
  plural: "peerauthentications",
  namespaced: true,
});
export const serviceEntries = defineResource({
  group: "networking.istio.io",
  version: "v1",
  kind: "ServiceEntry",
  plural: "serviceentries",
  namespaced: true,
});
export const gateways = defineResource({
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "Gateway",
  plural: "gateways",
  namespaced: true,
});
export const httpRoutes = defineResource({
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
  namespaced: true,
});
export const canaries = defineResource({
  group: "flagger.app",
  version: "v1beta1",
  kind: "Canary",
  plural: "canaries",
  namespaced: true,
});
export const externalSecrets = defineResource({
  group: "external-secrets.io",
  version: "v1",
  kind: "ExternalSecret",
  plural: "externalsecrets",
  namespaced: true,
});

/** What a cluster may lack. */
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

/** The kind of an object that may be absent; undefined: every cluster has it. */
export function meshKindOf({ apiVersion, kind }: KubeObject): Resource | undefined {
  return meshKinds.find((resource) => resource.kind === kind && apiVersion.startsWith(`${resource.group}/`));
}

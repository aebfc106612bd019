/** The built-in kinds that these controllers read and write, with the fields that they care about. */
import { defineResource, type Condition, type KubeObject, type LabelSelector } from "#kube";

export type Namespace = KubeObject & {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Omit<Condition, "observedGeneration">[] };
};

export const namespaceKind = defineResource<Namespace>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

export type PodCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
};

export type ContainerPort = { readonly name?: string; readonly containerPort: number; readonly protocol?: string };

export type Container = { readonly name: string; readonly restartPolicy?: string; readonly ports?: readonly ContainerPort[] };

export type Pod = KubeObject & {
  readonly spec?: {
    readonly nodeName?: string;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly restartPolicy?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly PodCondition[];
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
  };
};

export const podKind = defineResource<Pod>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });

export type Node = KubeObject & {
  readonly spec?: { readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect?: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

export const nodeKind = defineResource<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export const configMapKind = defineResource<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export const serviceAccountKind = defineResource({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
});

export type PolicyRule = {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};

export type ClusterRole = KubeObject & {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
};

export const clusterRoleKind = defineResource<ClusterRole>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
});

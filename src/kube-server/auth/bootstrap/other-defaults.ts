/** Defaults that are not about access: the priorities of system pods, and the Service behind which pods find the API server. */
import type { DefaultObject } from "./rbac-defaults.ts";

type OtherDefault = DefaultObject & {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly generation?: number;
};

export const OTHER_DEFAULTS: readonly OtherDefault[] = [
  priorityClass("system-node-critical", 2_000_001_000, "Used for system critical pods that must not be moved from their current node."),
  priorityClass(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  kubernetesService(),
];

function priorityClass(name: string, value: number, description: string): OtherDefault {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    group: "scheduling.k8s.io",
    version: "v1",
    plural: "priorityclasses",
    generation: 1,
    collection: "scheduling.k8s.io/priorityclasses",
    key: name,
    kind: "PriorityClass",
    name,
    namespace: undefined,
    labels: {},
    annotations: {},
    content: { value, description, preemptionPolicy: "PreemptLowerPriority" },
    owned: { "f:description": {}, "f:preemptionPolicy": {}, "f:value": {} },
  };
}

/** Its address is the first of the range; nothing of ours listens there. */
function kubernetesService(): OtherDefault {
  const port = { ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} };
  return {
    apiVersion: "v1",
    group: "",
    version: "v1",
    plural: "services",
    collection: "/services",
    key: "default/kubernetes",
    kind: "Service",
    name: "kubernetes",
    namespace: "default",
    labels: { component: "apiserver", provider: "kubernetes" },
    annotations: {},
    content: {
      spec: {
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: 6443 }],
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1"],
        type: "ClusterIP",
        sessionAffinity: "None",
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        internalTrafficPolicy: "Cluster",
      },
      status: { loadBalancer: {} },
    },
    owned: {
      "f:metadata": { "f:labels": { ".": {}, "f:component": {}, "f:provider": {} } },
      "f:spec": {
        "f:clusterIP": {},
        "f:internalTrafficPolicy": {},
        "f:ipFamilyPolicy": {},
        "f:ports": { ".": {}, 'k:{"port":443,"protocol":"TCP"}': port },
        "f:sessionAffinity": {},
        "f:type": {},
      },
    },
  };
}

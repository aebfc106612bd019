/** Initial objects that are not part of RBAC: priorities, the Service of the API server, APIServices, flow control. */
import { once } from "#base";
import { priorityClasses, serviceCidrs, services } from "#kube";
import { apiServices } from "./api-services.ts";
import { flowControl } from "./flow-control.ts";
import { defaultOf, NOW, type OtherDefault } from "./other-default.ts";

/** Created once, because tests start many servers. */
export const otherDefaults = once((): readonly OtherDefault[] => [
  priorityClass("system-node-critical", 2_000_001_000, "Used for system critical pods that must not be moved from their current node."),
  priorityClass(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  kubernetesService(),
  serviceRange(),
  ...apiServices(),
  ...flowControl(),
]);

function priorityClass(name: string, value: number, description: string): OtherDefault {
  return defaultOf({
    kind: priorityClasses,
    name,
    generation: 1,
    content: { value, description, preemptionPolicy: "PreemptLowerPriority" },
    owned: { "f:description": {}, "f:preemptionPolicy": {}, "f:value": {} },
  });
}

/** The range of Service addresses; see `kinds.ts`. */
function serviceRange(): OtherDefault {
  const message = "Kubernetes default Service CIDR is ready";
  const ready = { type: "Ready", status: "True", lastTransitionTime: NOW, reason: "", message };
  return defaultOf({
    kind: serviceCidrs,
    name: "kubernetes",
    content: { spec: { cidrs: ["10.0.0.0/24"] }, status: { conditions: [ready] } },
    owned: { "f:spec": { "f:cidrs": {} } },
    status: { manager: "kubernetes-service-cidr-controller", type: "Ready", fields: ["type", "status", "lastTransitionTime", "message"] },
  });
}

/** Its address is the first of the range; this server does not listen there. */
function kubernetesService(): OtherDefault {
  const port = { ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} };
  const { group, version, kind, plural } = services;
  return {
    apiVersion: "v1",
    group,
    version,
    plural,
    collection: "/services",
    key: "default/kubernetes",
    kind,
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

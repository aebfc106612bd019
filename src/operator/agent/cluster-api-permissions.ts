/**
 * What Cluster API on the parent does in a child, through the agent and with the operator's credential: it reads and drains nodes, keeps the kubeadm
 * configuration, upgrades kube-proxy and CoreDNS, and looks at etcd by port-forward.
 */
import type { Need } from "#controller-runtime";
import { clusterRoleBindings, clusterRoles, configMaps, daemonSets, deployments, nodes, pods, roleBindings, roles, secrets } from "#kube";

const ALL = ["get", "list", "watch", "create", "update", "patch", "delete"];

export const CLUSTER_API_PERMISSIONS: readonly Need[] = [
  { resource: nodes, verbs: ["get", "list", "watch", "update", "patch", "delete"] },
  { resource: pods, verbs: ["get", "list", "watch", "delete"] },
  { resource: pods, subresource: "eviction", verbs: ["create"] },
  { resource: pods, subresource: "portforward", verbs: ["create", "get"] },
  { resource: configMaps, verbs: ALL },
  { resource: secrets, verbs: ["get", "create", "update", "patch", "delete"] },
  { resource: daemonSets, verbs: ["get", "list", "watch", "update", "patch"] },
  { resource: deployments, verbs: ["get", "list", "watch", "update", "patch"] },
  ...[roles, roleBindings, clusterRoles, clusterRoleBindings].map((resource) => ({ resource, verbs: ["get"] })),
];

/**
 * What Cluster API on the parent does in a child, through the agent and with the operator's credential: it reads and drains nodes, waits for their
 * volumes, keeps the kubeadm configuration, upgrades kube-proxy and CoreDNS, and looks at etcd by port-forward.
 */
import type { Need } from "#controller-runtime";
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  daemonSets,
  deployments,
  namespaces,
  nodes,
  persistentVolumes,
  pods,
  roleBindings,
  roles,
  secrets,
  volumeAttachments,
} from "#kube";

/** Without an answer from there Cluster API does not connect; `system:discovery` does not include it. */
export const CLUSTER_API_PROBE = "/";

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
  ...[namespaces, persistentVolumes, volumeAttachments].map((resource) => ({ resource, verbs: ["get", "list", "watch"] })),
  ...[roles, roleBindings, clusterRoles].map((resource) => ({ resource, verbs: ["get"] })),
  // the control-plane provider reads them from a cache
  { resource: clusterRoleBindings, verbs: ["get", "list", "watch"] },
];

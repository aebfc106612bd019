/**
 * What Cluster API 1.14 on the parent requests in a child, through the agent and with the operator's credential: it follows and drains nodes, waits for
 * their volumes, issues join tokens, keeps the kubeadm configuration, upgrades kube-proxy and CoreDNS, and looks at etcd by port-forward. Taken from its
 * sources; a story sends each of these requests.
 */
import type { Need } from "#controller-runtime";
import {
  clusterRoleBindings,
  configMaps,
  daemonSets,
  deployments,
  namespaces,
  nodes,
  persistentVolumes,
  pods,
  secrets,
  volumeAttachments,
} from "#kube";

const READ = ["get", "list", "watch"];

/** Its health probe, which no role of Kubernetes' own allows. */
export const CLUSTER_API_PATHS: readonly string[] = ["/"];

export const CLUSTER_API_PERMISSIONS: readonly Need[] = [
  { resource: nodes, verbs: [...READ, "patch", "delete"] },
  { resource: namespaces, verbs: ["list", "watch"] },
  { resource: pods, verbs: READ },
  { resource: pods, subresource: "eviction", verbs: ["create"] },
  { resource: pods, subresource: "portforward", verbs: ["create", "get"] },
  { resource: configMaps, verbs: ["get", "update"] },
  { resource: secrets, verbs: ["get", "create", "update"] },
  { resource: daemonSets, verbs: ["get", "patch"] },
  { resource: deployments, verbs: ["get", "patch"] },
  // no create: with it the parent could make itself an administrator of the child
  { resource: clusterRoleBindings, verbs: READ },
  { resource: persistentVolumes, verbs: ["list"] },
  { resource: volumeAttachments, verbs: ["list"] },
];

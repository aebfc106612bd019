/**
 * The resources that tests use most, for use with a client. Below their metadata, objects are untyped JSON; for your own types write
 * `defineResource<MyPod>({ … })`.
 */
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  cronJobs,
  customResourceDefinitions,
  daemonSets,
  deployments,
  endpoints,
  endpointSlices,
  events,
  horizontalPodAutoscalers,
  ingresses,
  jobs,
  leases,
  mutatingWebhookConfigurations,
  namespaces,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  storageClasses,
  validatingWebhookConfigurations,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";

/**
 * An object whose spec and status are read without types.
 *
 * @example const pod: AnyObject = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [] } };
 */
export type AnyObject = KubeObject & {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly data?: JsonObject;
};

function untyped({ type: _type, ...resource }: Resource): Resource<AnyObject> {
  return resource;
}

/**
 * Built-in resources by the name that RBAC gives them.
 *
 * @example await cluster.client.get(resources.deployments, { namespace: "shop", name: "web" });
 */
export const resources = {
  configmaps: untyped(configMaps),
  endpoints: untyped(endpoints),
  namespaces: untyped(namespaces),
  nodes: untyped(nodes),
  persistentvolumeclaims: untyped(persistentVolumeClaims),
  persistentvolumes: untyped(persistentVolumes),
  pods: untyped(pods),
  secrets: untyped(secrets),
  serviceaccounts: untyped(serviceAccounts),
  services: untyped(services),
  daemonsets: untyped(daemonSets),
  deployments: untyped(deployments),
  replicasets: untyped(replicaSets),
  statefulsets: untyped(statefulSets),
  cronjobs: untyped(cronJobs),
  jobs: untyped(jobs),
  horizontalpodautoscalers: untyped(horizontalPodAutoscalers),
  ingresses: untyped(ingresses),
  networkpolicies: untyped(networkPolicies),
  endpointslices: untyped(endpointSlices),
  events: untyped(events),
  leases: untyped(leases),
  poddisruptionbudgets: untyped(podDisruptionBudgets),
  clusterroles: untyped(clusterRoles),
  clusterrolebindings: untyped(clusterRoleBindings),
  roles: untyped(roles),
  rolebindings: untyped(roleBindings),
  storageclasses: untyped(storageClasses),
  customresourcedefinitions: untyped(customResourceDefinitions),
  mutatingwebhookconfigurations: untyped(mutatingWebhookConfigurations),
  validatingwebhookconfigurations: untyped(validatingWebhookConfigurations),
} as const;

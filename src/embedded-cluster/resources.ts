/**
 * The resources that tests touch most, ready to be handed to a client. Objects are as open as JSON below their metadata: whoever has types of
 * their own writes `defineResource<MyPod>({ … })`.
 */
import { defineResource, type JsonObject, type KubeObject, type Resource } from "#kube";

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

const core = (kind: string, plural: string, namespaced = true) => of("", "v1", kind, plural, namespaced);

function of(group: string, version: string, kind: string, plural: string, namespaced = true): Resource<AnyObject> {
  return defineResource<AnyObject>({ group, version, kind, plural, namespaced });
}

/**
 * Built-in resources by the name that RBAC gives them.
 *
 * @example await cluster.client.get(resources.deployments, { namespace: "shop", name: "web" });
 */
export const resources = {
  configmaps: core("ConfigMap", "configmaps"),
  endpoints: core("Endpoints", "endpoints"),
  namespaces: core("Namespace", "namespaces", false),
  nodes: core("Node", "nodes", false),
  persistentvolumeclaims: core("PersistentVolumeClaim", "persistentvolumeclaims"),
  persistentvolumes: core("PersistentVolume", "persistentvolumes", false),
  pods: core("Pod", "pods"),
  secrets: core("Secret", "secrets"),
  serviceaccounts: core("ServiceAccount", "serviceaccounts"),
  services: core("Service", "services"),
  daemonsets: of("apps", "v1", "DaemonSet", "daemonsets"),
  deployments: of("apps", "v1", "Deployment", "deployments"),
  replicasets: of("apps", "v1", "ReplicaSet", "replicasets"),
  statefulsets: of("apps", "v1", "StatefulSet", "statefulsets"),
  cronjobs: of("batch", "v1", "CronJob", "cronjobs"),
  jobs: of("batch", "v1", "Job", "jobs"),
  horizontalpodautoscalers: of("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
  ingresses: of("networking.k8s.io", "v1", "Ingress", "ingresses"),
  networkpolicies: of("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
  endpointslices: of("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
  events: of("events.k8s.io", "v1", "Event", "events"),
  leases: of("coordination.k8s.io", "v1", "Lease", "leases"),
  poddisruptionbudgets: of("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  clusterroles: of("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
  clusterrolebindings: of("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false),
  roles: of("rbac.authorization.k8s.io", "v1", "Role", "roles"),
  rolebindings: of("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
  storageclasses: of("storage.k8s.io", "v1", "StorageClass", "storageclasses", false),
  customresourcedefinitions: of("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false),
  mutatingwebhookconfigurations: of(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    false,
  ),
  validatingwebhookconfigurations: of(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    false,
  ),
} as const;

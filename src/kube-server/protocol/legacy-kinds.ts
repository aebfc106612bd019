/** Versions of kinds that a real server no longer serves but still decodes: the error for such a body is about its version, not its kind. */
const LEGACY: ReadonlyMap<string, readonly string[]> = new Map([
  ["extensions/v1beta1", ["DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet"]],
  ["apps/v1beta1", ["ControllerRevision", "Deployment", "StatefulSet"]],
  ["apps/v1beta2", ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]],
  ["batch/v1beta1", ["CronJob"]],
  ["autoscaling/v2beta1", ["HorizontalPodAutoscaler"]],
  ["autoscaling/v2beta2", ["HorizontalPodAutoscaler"]],
  ["policy/v1beta1", ["PodDisruptionBudget"]],
  ["networking.k8s.io/v1beta1", ["Ingress", "IngressClass"]],
  ["rbac.authorization.k8s.io/v1beta1", ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]],
  ["rbac.authorization.k8s.io/v1alpha1", ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]],
  ["scheduling.k8s.io/v1beta1", ["PriorityClass"]],
  ["storage.k8s.io/v1beta1", ["CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"]],
  ["coordination.k8s.io/v1beta1", ["Lease"]],
  ["authentication.k8s.io/v1beta1", ["SelfSubjectReview", "TokenReview"]],
  ["authentication.k8s.io/v1alpha1", ["SelfSubjectReview"]],
  [
    "authorization.k8s.io/v1beta1",
    ["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"],
  ],
  ["discovery.k8s.io/v1beta1", ["EndpointSlice"]],
  ["apiextensions.k8s.io/v1beta1", ["CustomResourceDefinition"]],
  ["admissionregistration.k8s.io/v1beta1", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]],
]);

/** Bodies of subresources whose older version is still accepted. */
const SAME: ReadonlySet<string> = new Set(["policy/v1beta1 Eviction"]);

export function isSameAsNow(apiVersion: string, kind: string): boolean {
  return SAME.has(`${apiVersion} ${kind}`);
}

/** The name of the scheme in a real server's error messages. */
export const SCHEME = "pkg/runtime/scheme.go:111";

export function isLegacyKind(apiVersion: string, kind: string): boolean {
  return LEGACY.get(apiVersion)?.includes(kind) === true;
}

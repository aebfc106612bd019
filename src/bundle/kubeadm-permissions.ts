/**
 * ClusterRoleBindings that Cluster API's control-plane provider wants in a cluster before it upgrades it: those that newer versions of kubeadm create. It creates
 * missing ones itself, but the parent of a cluster may not create bindings there. So every new cluster has them from the start; kubeadm's own are equal, and
 * Cluster API does not change existing ones. (EnsureKubeadmPermissions, Cluster API 1.14.)
 */
import type { KubeObject } from "#kube";

const RBAC = "rbac.authorization.k8s.io";

export const kubeadmPermissions: readonly KubeObject[] = [
  // since kubeadm 1.29
  binding("kubeadm:cluster-admins", { role: "cluster-admin", subject: { kind: "Group", name: "kubeadm:cluster-admins" } }),
  // since kubeadm 1.37: what the API server may request of kubelets
  binding("kubeadm:apiserver-kubelet-client", {
    role: "system:kubelet-api-admin",
    subject: { kind: "User", name: "kube-apiserver-kubelet-client" },
  }),
];

type Bound = { readonly role: string; readonly subject: { readonly kind: "Group" | "User"; readonly name: string } };

function binding(name: string, { role, subject }: Bound): KubeObject {
  return Object.assign(
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name } },
    { roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role }, subjects: [{ apiGroup: RBAC, ...subject }] },
  );
}

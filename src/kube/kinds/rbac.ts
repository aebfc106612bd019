/** The kinds of `rbac.authorization.k8s.io/v1`. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { LabelSelector } from "../selectors.ts";

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

const rbac = <T extends KubeObject>(kind: string, plural: string, namespaced: boolean) =>
  defineResource<T>({ group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced });

export const clusterRoles = rbac<ClusterRole>("ClusterRole", "clusterroles", false);
export const clusterRoleBindings = rbac<KubeObject>("ClusterRoleBinding", "clusterrolebindings", false);
export const roles = rbac<KubeObject>("Role", "roles", true);
export const roleBindings = rbac<KubeObject>("RoleBinding", "rolebindings", true);

/**
 * What Cluster API 1.14's control-plane provider creates or changes in a child during an upgrade of its control plane. Each object is either allowed to the parent
 * (the agent's permissions), or part of every child's manifests, so that the provider finds it.
 */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { bootstrapManifests, localClusterBundle, providerInventory, reducedCapiCrds } from "#bundle";
import { field, parseYaml, type Json } from "#kube";
import { operatorRbac } from "../controllers.ts";
import { operatorDeployment } from "../deployment.ts";

const bundle = localClusterBundle({ crds: reducedCapiCrds("local"), inventory: providerInventory("local") });
const manifests = bootstrapManifests({
  cluster: "east",
  operator: { rbac: operatorRbac(), deployment: operatorDeployment({ version: "1.0.0" }) },
  bundle,
});
const objects = expectOk(parseYaml(expectOk(manifests)));

const rules = field(
  operatorRbac().find(({ kind }) => kind === "ClusterRole"),
  "rules",
);
const includes = (rule: Json, name: string, value: string) => {
  const list = field(rule, name);
  return Array.isArray(list) && list.includes(value);
};
const permits = (group: string, resource: string, verb: string) =>
  Array.isArray(rules) &&
  rules.some((rule) => includes(rule, "apiGroups", group) && includes(rule, "resources", resource) && includes(rule, "verbs", verb));
const inManifests = (kind: string, name: string) =>
  objects.some((object) => field(object, "kind") === kind && field(field(object, "metadata"), "name") === name);

const RBAC = "rbac.authorization.k8s.io";

test.each([
  { by: "EnsureKubeadmPermissions", group: RBAC, resource: "clusterrolebindings", name: "kubeadm:cluster-admins", want: "in manifests" },
  {
    by: "EnsureKubeadmPermissions",
    group: RBAC,
    resource: "clusterrolebindings",
    name: "kubeadm:apiserver-kubelet-client",
    want: "in manifests",
  },
  { by: "UpdateClusterConfiguration", group: "", resource: "configmaps", name: "kubeadm-config", verb: "update", want: "allowed" },
  { by: "UpdateKubeProxyImageInfo", group: "apps", resource: "daemonsets", name: "kube-proxy", verb: "patch", want: "allowed" },
  { by: "updateCoreDNSCorefile", group: "", resource: "configmaps", name: "coredns", verb: "update", want: "allowed" },
  { by: "updateCoreDNSDeployment", group: "apps", resource: "deployments", name: "coredns", verb: "patch", want: "allowed" },
  { by: "createToken (a machine joins)", group: "", resource: "secrets", name: "bootstrap-token-*", verb: "create", want: "allowed" },
  { by: "refreshBootstrapTokenIfNeeded", group: "", resource: "secrets", name: "bootstrap-token-*", verb: "update", want: "allowed" },
  { by: "patchNode, CordonNode", group: "", resource: "nodes", name: "*", verb: "patch", want: "allowed" },
  { by: "deleteNode", group: "", resource: "nodes", name: "*", verb: "delete", want: "allowed" },
  { by: "evictPod", group: "", resource: "pods/eviction", name: "*", verb: "create", want: "allowed" },
  { by: "RemoveEtcdMember, ForwardEtcdLeadership", group: "", resource: "pods/portforward", name: "*", verb: "create", want: "allowed" },
])("an upgrade finds or may write $resource $name ($by)", ({ group, resource, name, verb = "create", want }) => {
  const found = permits(group, resource, verb) ? "allowed" : inManifests("ClusterRoleBinding", name) ? "in manifests" : "refused";
  expect(found).toBe(want);
});

import { expect, test } from "vitest";
import { field, isJsonObject, type Json } from "#kube";
import { operatorRbac } from "../controllers.ts";

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

test("the probe with which Cluster API connects to a child is permitted", () => {
  const paths = Array.isArray(rules) ? rules.filter((rule) => isJsonObject(rule) && Object.hasOwn(rule, "nonResourceURLs")) : [];
  expect(paths).toEqual([{ nonResourceURLs: ["/"], verbs: ["get"] }]);
});

test.each([
  { name: "a drain reads namespaces", group: "", resource: "namespaces", verb: "list" },
  { name: "a drain evicts Pods", group: "", resource: "pods/eviction", verb: "create" },
  { name: "a deletion waits for volumes", group: "", resource: "persistentvolumes", verb: "list" },
  { name: "a deletion waits for attachments", group: "storage.k8s.io", resource: "volumeattachments", verb: "list" },
  { name: "an upgrade reads bindings from a cache", group: "rbac.authorization.k8s.io", resource: "clusterrolebindings", verb: "watch" },
  { name: "the control plane's etcd is reached", group: "", resource: "pods/portforward", verb: "create" },
])("in a child, $name", ({ group, resource, verb }) => {
  expect(permits(group, resource, verb)).toBe(true);
});

test("in a child, Cluster API cannot create bindings", () => {
  expect(permits("rbac.authorization.k8s.io", "clusterrolebindings", "create")).toBe(false);
});

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
  { name: "a drain reads namespaces", given: ["", "namespaces", "list"] as const },
  { name: "a drain evicts Pods", given: ["", "pods/eviction", "create"] as const },
  { name: "a deletion waits for volumes", given: ["", "persistentvolumes", "list"] as const },
  { name: "a deletion waits for attachments", given: ["storage.k8s.io", "volumeattachments", "list"] as const },
  { name: "an upgrade reads bindings from a cache", given: ["rbac.authorization.k8s.io", "clusterrolebindings", "watch"] as const },
  { name: "the control plane's etcd is reached", given: ["", "pods/portforward", "create"] as const },
])("in a child, $name", ({ given }) => {
  expect(permits(...given)).toBe(true);
});

test("in a child, Cluster API cannot create bindings", () => {
  expect(permits("rbac.authorization.k8s.io", "clusterrolebindings", "create")).toBe(false);
});

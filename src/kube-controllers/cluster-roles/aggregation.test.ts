/** Aggregated ClusterRoles. */
import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { clusterRoles, type ClusterRole, type PolicyRule } from "#kube";
import { controlledCluster, type ControlledCluster } from "../../../test/builders/controlled-cluster.ts";
import { aggregated, clusterRoleAggregation } from "./aggregation.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

const rule = (resource: string): PolicyRule => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });

function role(name: string, labels: Record<string, string>, more: Partial<ClusterRole> = {}): ClusterRole {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, labels }, ...more };
}

const aggregating = (name: string, label: string, labels: Record<string, string> = {}) =>
  role(name, labels, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "yes" } }] } });

test("rules are aggregated, also from aggregated roles, and follow every change", async () => {
  const cluster = await controlledCluster({ controllers: [clusterRoleAggregation] });
  clusters.push(cluster);
  const { client, running, writes } = cluster;
  const rules = async (name: string) => expectOk(await client.get(clusterRoles, { name })).rules ?? [];
  for (const made of [
    aggregating("looks", "to-view", { "to-edit": "yes" }),
    aggregating("changes", "to-edit"),
    role("b", { "to-view": "yes" }, { rules: [rule("pods")] }),
    role("a", { "to-view": "yes", "to-edit": "yes" }, { rules: [rule("secrets"), rule("pods")] }),
  ]) {
    expectOk(await client.create(clusterRoles, made));
  }
  await running.idle();
  expect(await rules("looks")).toEqual([rule("secrets"), rule("pods")]);
  expect(await rules("changes")).toEqual([rule("secrets"), rule("pods")]);
  await client.delete(clusterRoles, { name: "a" });
  await running.idle();
  expect([await rules("looks"), await rules("changes")]).toEqual([[rule("pods")], [rule("pods")]]);
  const before = writes.length;
  await client.patch(clusterRoles, { name: "b" }, { type: "merge", patch: { metadata: { annotations: { note: "x" } } } });
  await running.idle();
  expect(writes).toHaveLength(before);
  await client.patch(clusterRoles, { name: "looks" }, { type: "merge", patch: { rules: [rule("nodes")] } });
  await running.idle();
  expect(await rules("looks")).toEqual([rule("pods")]);
});

test("roles that aggregate each other reach a stable state", async () => {
  const cluster = await controlledCluster({ controllers: [clusterRoleAggregation] });
  clusters.push(cluster);
  const { client, running } = cluster;
  for (const name of ["a", "b", "c"]) {
    expectOk(await client.create(clusterRoles, { ...aggregating(name, "all", { all: "yes" }), rules: [rule(name)] }));
  }
  await running.idle();
  const rules = async (name: string) => expectOk(await client.get(clusterRoles, { name })).rules ?? [];
  expect(await rules("a")).toEqual(await rules("b"));
  expect(await rules("b")).toEqual(await rules("c"));
});

test("each rule appears once, in the order of selectors and names, and never from the role itself", () => {
  const both = role(
    "x",
    { one: "yes" },
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { two: "yes" } }, { matchLabels: { one: "yes" } }] }, rules: [rule("own")] },
  );
  const others = [
    role("b", { one: "yes" }, { rules: [rule("b"), rule("c")] }),
    role("a", { one: "yes" }),
    role("c", { two: "yes" }, { rules: [rule("c")] }),
  ];
  expect(aggregated(both, [both, ...others])).toEqual([rule("c"), rule("b")]);
});

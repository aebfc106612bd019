import { describe, expect, test } from "vitest";
import { sha256Hex } from "#base";
import { canonicalJson, type KubeObject, type Node } from "#kube";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { nodeReport, type OwnReport } from "./node-report.ts";

const node = (name: string, ready: boolean, labels: Readonly<Record<string, string>> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
});
const control = node("cp", true, { "node-role.kubernetes.io/control-plane": "" });
const capi = (type: string, status: string): KubeObject => {
  const condition = { type, status, reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "a" },
    status: { conditions: [condition] },
  } as KubeObject;
};
const ON_PARENT: OwnReport = { ownership: { state: "never-moved" } };
const OWNER: OwnReport = { ownership: { state: "owner", epoch: 3 } };

describe("the report of an agent", () => {
  test("has nodes by pool", () => {
    const nodes = [control, node("a", true), node("b", false, { "lattice.dev/pool": "batch" })];
    expect(nodeReport(nodes, "v1.36.3", ON_PARENT).health).toEqual({
      readyNodes: 2,
      totalNodes: 3,
      conditions: [],
      kubernetesVersion: "v1.36.3",
      pools: new Map([
        ["default", { desired: 1, ready: 1 }],
        ["batch", { desired: 1, ready: 0 }],
      ]),
    });
  });

  test("has the epoch of a cluster that owns itself, and the digest of its own spec", () => {
    const cluster = childCluster();
    const { health } = nodeReport([control], "", { ...OWNER, cluster });
    expect(health).toMatchObject({ ownershipEpoch: 3, specDigest: sha256Hex(canonicalJson(cluster.spec)) });
    const moving: OwnReport = { ownership: { state: "moving" }, cluster };
    expect(nodeReport([control], "", moving).health).not.toHaveProperty("ownershipEpoch");
  });

  const rows: { name: string; nodes: readonly Node[]; own: OwnReport; want: string }[] = [
    { name: "no node is ready", nodes: [], own: ON_PARENT, want: "Provisioning" },
    { name: "all nodes are ready", nodes: [control], own: ON_PARENT, want: "Ready" },
    { name: "a node is not ready", nodes: [control, node("a", false)], own: ON_PARENT, want: "Degraded" },
    { name: "its objects are moved", nodes: [control], own: { ownership: { state: "moving" } }, want: "Pivoting" },
    { name: "its objects are moved and no node is ready", nodes: [], own: { ownership: { state: "moving" } }, want: "Pivoting" },
    { name: "it owns itself", nodes: [control], own: OWNER, want: "Ready" },
    { name: "it owns itself and no node is ready", nodes: [], own: OWNER, want: "Degraded" },
    {
      name: "Cluster API misses control-plane machines",
      nodes: [control],
      own: { ...OWNER, capi: capi("ControlPlaneAvailable", "False") },
      want: "Degraded",
    },
    { name: "Cluster API misses workers", nodes: [control], own: { ...OWNER, capi: capi("WorkersAvailable", "False") }, want: "Degraded" },
    {
      name: "Cluster API has not reported yet",
      nodes: [control],
      own: { ...OWNER, capi: capi("WorkersAvailable", "Unknown") },
      want: "Ready",
    },
  ];
  test.each(rows)("is $want when $name", ({ nodes, own, want }) => {
    expect(nodeReport(nodes, "", own).state).toBe(want);
  });
});

import { afterEach, describe, expect, it, test } from "vitest";
import { expectOk } from "#base";
import { deployments, leases, nodes, persistentVolumeClaims, persistentVolumes, pods, services, storageClasses } from "#kube";
import {
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../test/builders/simulated-cluster.ts";
import { taintsFor } from "./lifecycle/node-lifecycle.ts";
import { tolerationMs } from "./lifecycle/taint-eviction.ts";
import { createSimulation } from "./simulation.ts";
import { DeclaredUsage } from "./usage.ts";

let cluster: SimulatedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

async function begin(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  cluster = await simulatedCluster(options);
  return cluster;
}
const taints = async (world: SimulatedCluster, name: string) =>
  ((await world.read(nodes, name)).spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
const readiness = async (world: SimulatedCluster, name: string) =>
  (await world.read(nodes, name)).status?.conditions?.find(({ type }) => type === "Ready");

test("nodes are registered with their labels, taints and capacity, and send heartbeats", async () => {
  const world = await begin({
    simulation: { nodes: [{ name: "a", labels: { zone: "x" }, taints: [{ key: "t", effect: "NoSchedule" }], capacity: { cpu: "3" } }] },
  });
  await world.live(100);
  const node = await world.read(nodes, "a");
  expect(node.metadata.labels).toMatchObject({ zone: "x", "kubernetes.io/hostname": "a" });
  expect(node.status).toMatchObject({
    allocatable: { cpu: "3", pods: "5k" },
    addresses: [
      { type: "InternalIP", address: "172.18.0.2" },
      { type: "Hostname", address: "a" },
    ],
  });
  expect(await readiness(world, "a")).toMatchObject({ status: "True", reason: "KubeletReady" });
  const lease = async () => (expectOk(await world.client.get(leases, { namespace: "kube-node-lease", name: "a" })).spec ?? {}).renewTime;
  const before = await lease();
  await world.live(11_000, 1_000);
  expect((await lease()) === before).toBe(false);
  expect(createSimulation({ nodes: 3 }).nodes.names).toEqual(["lattice-node-1", "lattice-node-2", "lattice-node-3"]);
});

test("a stopped node is detected, its Pods are evicted in time and run elsewhere; started again, it has no taints", async () => {
  const world = await begin({ simulation: { nodes: 2 } });
  await world.create(deployments, "web", { spec: { replicas: 2, selector: SELECTOR, template: podTemplate("web:1") } });
  await world.live(300);
  expect([
    world.simulation.nodes.stop("lattice-node-1"),
    world.simulation.nodes.stop("none"),
    world.simulation.nodes.start("none"),
  ]).toEqual([true, false, false]);
  await world.live(40_000, 2_000);
  expect(await taints(world, "lattice-node-1")).toEqual([]);
  await world.live(20_000, 1_000);
  expect(await readiness(world, "lattice-node-1")).toMatchObject({
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
  });
  expect(await taints(world, "lattice-node-1")).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  expect((await world.read(deployments, "web")).status?.availableReplicas).toBe(1);
  expect(await world.eventsOn("Node")).toContain("Normal NodeNotReady: Node lattice-node-1 status is now: NodeNotReady");
  await world.live(320_000, 5_000);
  await world.live(500);
  const leaving = (await world.all(pods)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect(leaving.map(({ spec, status }) => [spec.nodeName, status?.conditions?.some(({ type }) => type === "DisruptionTarget")])).toEqual([
    ["lattice-node-1", true],
  ]);
  expect((await world.read(deployments, "web")).status?.availableReplicas).toBe(2);
  world.simulation.nodes.start("lattice-node-1");
  await world.live(2_000, 200);
  expect([await taints(world, "lattice-node-1"), (await world.all(pods)).length]).toEqual([[], 2]);
});

describe("taints", () => {
  const node = (ready: "True" | "False" | "Unknown" | undefined, unschedulable = false) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a" },
    spec: {
      unschedulable,
      taints: [
        { key: "own", effect: "NoSchedule" },
        { key: "node.kubernetes.io/not-ready", effect: "NoExecute", timeAdded: "then" },
      ],
    },
    status: { conditions: ready === undefined ? [] : [{ type: "Ready", status: ready }] },
  });
  it.each([
    { ready: "True", want: ["own"] },
    { ready: "False", want: ["own", "node.kubernetes.io/not-ready then", "node.kubernetes.io/not-ready"] },
    { ready: "Unknown", want: ["own", "node.kubernetes.io/unreachable", "node.kubernetes.io/unreachable now"] },
    { ready: undefined, want: ["own", "node.kubernetes.io/not-ready then", "node.kubernetes.io/not-ready"] },
  ] as const)("follow readiness $ready", ({ ready, want }) => {
    expect(taintsFor(node(ready), "now").map(({ key, timeAdded }) => (timeAdded === undefined ? key : `${key} ${timeAdded}`))).toEqual(
      want,
    );
  });
  it("follow a cordon", () =>
    expect(taintsFor(node("True", true), "now").map(({ key }) => key)).toEqual(["own", "node.kubernetes.io/unschedulable"]));

  const taint = { key: "x", effect: "NoExecute" };
  const other = { key: "y", effect: "NoExecute" };
  const tolerated = (tolerationSeconds?: number, key = "x") => ({
    key,
    operator: "Exists",
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  });
  it.each([
    { name: "no taint", taints: [], tolerations: [], want: undefined },
    { name: "not tolerated", taints: [taint], tolerations: [], want: 0 },
    { name: "one of two not tolerated", taints: [taint, other], tolerations: [tolerated(60)], want: 0 },
    { name: "tolerated for ever", taints: [taint], tolerations: [tolerated()], want: undefined },
    { name: "the shortest time", taints: [taint], tolerations: [tolerated(5), { operator: "Exists", tolerationSeconds: 60 }], want: 5_000 },
    { name: "a time below zero", taints: [taint], tolerations: [tolerated(-5)], want: 0 },
  ])("are tolerated: $name", ({ taints: given, tolerations, want }) => expect(tolerationMs(given, tolerations)).toBe(want));
});

test("a Service of type LoadBalancer gets a unique address, and releases it", async () => {
  const world = await begin();
  const ports = [{ port: 80 }];
  for (const name of ["a", "b"]) await world.create(services, name, { spec: { type: "LoadBalancer", ports } });
  await world.create(services, "fixed", { spec: { type: "LoadBalancer", loadBalancerIP: "192.0.2.77", ports } });
  await world.create(services, "foreign", { spec: { type: "LoadBalancer", loadBalancerClass: "test/other", ports } });
  await world.live(100);
  const addresses = async () =>
    Object.fromEntries((await world.all(services)).map(({ metadata, status }) => [metadata.name, status?.loadBalancer?.ingress?.[0]?.ip]));
  expect(await addresses()).toMatchObject({ fixed: "192.0.2.77", foreign: undefined });
  const { a, b } = await addresses();
  expect(new Set([a, b])).toEqual(new Set(["192.0.2.1", "192.0.2.2"]));
  await world.patch(services, "a", { spec: { type: "ClusterIP" } });
  await world.live(100);
  expect((await addresses())["a"]).toBeUndefined();
  expect(await world.eventsOn("Service")).toContain("Normal EnsuredLoadBalancer: Ensured load balancer");
});

test("a claim on the default class is bound to a volume that is deleted with it; others wait", async () => {
  const world = await begin();
  await world.live(40);
  expect((await world.read(storageClasses, "standard")).metadata.annotations).toEqual({
    "storageclass.kubernetes.io/is-default-class": "true",
  });
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } };
  await world.create(persistentVolumeClaims, "data", { spec });
  await world.create(persistentVolumeClaims, "other", { spec: { ...spec, storageClassName: "gold" } });
  await world.live(100);
  expect((await world.read(persistentVolumeClaims, "data")).status).toMatchObject({ phase: "Bound", capacity: { storage: "2Gi" } });
  expect((await world.read(persistentVolumeClaims, "other")).status?.phase).toBe("Pending");
  expect((await world.all(persistentVolumes)).map(({ status }) => status?.phase)).toEqual(["Bound"]);
  expectOk(await world.client.delete(persistentVolumeClaims, { namespace: "default", name: "data" }));
  await world.live(200);
  expect(await world.all(persistentVolumes)).toEqual([]);
});

test("a claim in use by a Pod stays until the Pod is deleted", async () => {
  const world = await begin();
  await world.live(40);
  await world.create(persistentVolumeClaims, "data", {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await world.create(pods, "p", {
    spec: { containers: [{ name: "web", image: "w" }], volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] },
  });
  await world.live(300);
  expectOk(await world.client.delete(persistentVolumeClaims, { namespace: "default", name: "data" }));
  await world.live(200);
  expect((await world.all(persistentVolumeClaims)).length).toBe(1);
  expectOk(await world.client.delete(pods, { namespace: "default", name: "p" }));
  await world.live(300);
  expect([(await world.all(persistentVolumeClaims)).length, (await world.all(persistentVolumes)).length]).toEqual([0, 0]);
});

test("load balancers and volumes can be disabled", async () => {
  const world = await begin({ simulation: { loadBalancers: false, volumes: false } });
  await world.create(services, "a", { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  await world.live(100);
  expect([(await world.read(services, "a")).status?.loadBalancer?.ingress, await world.all(storageClasses)]).toEqual([undefined, []]);
});

test("usage is declared by annotation or by selector, per Pod or per container", () => {
  const usage = new DeclaredUsage();
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      namespace: "shop",
      labels: { app: "web" },
      annotations: { "simulation.lattice.dev/usage-cpu": "100m", "simulation.lattice.dev/usage-memory.a": "1Mi" },
    },
    spec: { containers: [{ name: "a" }, { name: "b" }] },
  };
  expect([
    usage.milliUsage(pod, "cpu"),
    usage.milliUsage(pod, "cpu", "a"),
    usage.milliUsage(pod, "memory"),
    usage.milliUsage(pod, "disk"),
  ]).toEqual([100, 50, 1_048_576_000, undefined]);
  expect(usage.set({ selector: "((" }, { cpu: "1" })).toBe(false);
  expect(usage.set({ namespace: "shop", selector: "app=web" }, { cpu: "1" })).toBe(true);
  expect([usage.milliUsage(pod, "cpu"), usage.milliUsage(pod, "cpu", "b")]).toEqual([1_000, 500]);
  expect(usage.set({ namespace: "bank" }, { cpu: "7" })).toBe(true);
  expect(usage.milliUsage(pod, "cpu")).toBe(1_000);
  expect(
    new DeclaredUsage().milliUsage({ ...pod, metadata: { name: "q", annotations: { "simulation.lattice.dev/usage-cpu": "much" } } }, "cpu"),
  ).toBe(undefined);
});

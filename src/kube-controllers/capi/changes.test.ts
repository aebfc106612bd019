import { expect, test } from "vitest";
import { expectOk } from "#base";
import { nodes } from "#kube";
import { conditionOf, isControlPlane, isTrue, textAt, versionOf } from "./objects.ts";
import { isProvisioned, provisioned } from "./capi-steps.test-support.ts";
import type { CapiWorld } from "./capi-world.test-support.ts";

const names = async (world: CapiWorld) => (await world.all("Machine")).map(({ metadata }) => metadata.name).toSorted();
const deleted = (world: CapiWorld, plural: string) => world.writes.filter((write) => write.startsWith(`DELETE ${plural}/`));

/** The most and the fewest machines of a kind during the steps. */
async function watchCounts(world: CapiWorld, until: () => Promise<boolean>): Promise<{ most: number; fewestReady: number }> {
  let [most, fewestReady] = [0, Number.POSITIVE_INFINITY];
  await world.until(async () => {
    const machines = await world.all("Machine");
    most = Math.max(most, machines.length);
    fewestReady = Math.min(fewestReady, machines.filter((machine) => isTrue(machine, "Ready")).length);
    return until();
  }, 300_000);
  return { most, fewestReady };
}

test("a settled cluster causes no writes", async () => {
  await using world = await provisioned();
  await world.live(5_000, 1_000);
  const before = world.writes.length;
  await world.live(300_000, 10_000);
  expect(world.writes.slice(before)).toEqual([]);
});

test("stopped controllers leave no timers and no connections to children", async () => {
  await using world = await provisioned({ workers: 0 });
  await world.stop();
  await world.settle();
  const left = world.clock.pending;
  await world.begin();
  await world.live(5_000, 1_000);
  await world.stop();
  await world.settle();
  expect(world.clock.pending).toBe(left);
  expect(left).toBeLessThanOrEqual(1);
});

test("workers scale up and down", async () => {
  await using world = await provisioned({ workers: 1 });
  const first = await names(world);
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 3 } });
  await world.until(() => isProvisioned(world, 4));
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 1 } });
  await world.until(async () => (await world.nodeNames()).length === 2 && (await isProvisioned(world, 2)));
  expect(deleted(world, "machines")).toHaveLength(2);
  expect(await world.nodeNames()).toEqual(await names(world));
  expect(await names(world)).toContain(first.find((name) => name.startsWith("c1-cp")));
  expect(await world.read("MachineDeployment", "c1-md")).toMatchObject({ status: { replicas: 1, readyReplicas: 1, phase: "Running" } });
});

test("a control plane scales from one to three and back, one machine at a time", async () => {
  await using world = await provisioned({ workers: 0 });
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { replicas: 3 } });
  let creating = 0;
  await world.until(async () => {
    const machines = await world.all("Machine");
    creating = Math.max(creating, machines.filter((machine) => textAt(machine, "status", "phase") !== "Running").length);
    return isProvisioned(world, 3);
  });
  expect(creating).toBe(1);
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { replicas: 1 } });
  await world.until(() => isProvisioned(world, 1));
  expect(await world.nodeNames()).toEqual(await names(world));
  expect(deleted(world, "machines")).toHaveLength(2);
});

test("a new version replaces every machine: control plane first, a new machine before an old one goes, workers within maxSurge", async () => {
  await using world = await provisioned({ controlPlanes: 3, workers: 2 });
  const before = await names(world);
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { version: "v1.37.0" } });
  const controlPlanes = async () => (await world.all("Machine")).filter(isControlPlane);
  const counts = await watchCounts(
    world,
    async () => (await controlPlanes()).every((machine) => versionOf(machine) === "v1.37.0") && isProvisioned(world, 5),
  );
  expect(counts).toEqual({ most: 6, fewestReady: 5 });
  expect(await world.read("KubeadmControlPlane", "c1-cp")).toMatchObject({
    status: { version: "v1.37.0", versions: [{ version: "v1.37.0", replicas: 3 }], upToDateReplicas: 3 },
  });
  await world.patch("MachineDeployment", "c1-md", { spec: { template: { spec: { version: "v1.37.0" } } } });
  const workers = await watchCounts(world, async () => {
    const isNew = (await world.all("Machine")).every((machine) => versionOf(machine) === "v1.37.0");
    return isNew && (await world.all("MachineSet")).length === 1 && isProvisioned(world, 5);
  });
  expect(workers).toEqual({ most: 6, fewestReady: 5 });
  expect((await names(world)).filter((name) => before.includes(name))).toEqual([]);
  expect((await world.read("MachineDeployment", "c1-md")).metadata.annotations).toMatchObject({
    "machinedeployment.clusters.x-k8s.io/revision": "2",
  });
});

test("workers are not created while the control plane is being upgraded", async () => {
  await using world = await provisioned({ workers: 1 });
  world.host.silent = /c1-cp/;
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { version: "v1.37.0" } });
  await world.live(5_000, 1_000);
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 2 } });
  await world.live(20_000, 2_000);
  const [set] = await world.all("MachineSet");
  expect(conditionOf(set ?? (await world.read("Cluster", "c1")), "ScalingUp")?.message).toBe(
    'Scaling up from 1 to 2 replicas is blocked because:\n* KubeadmControlPlane c1/c1-cp is upgrading ("ControlPlaneIsStable" preflight check failed)',
  );
});

test.each([
  {
    name: "the field of the Cluster",
    kind: "Cluster",
    object: "c1",
    patch: { spec: { paused: true } },
    resume: { spec: { paused: null } },
  },
  {
    name: "the annotation of a MachineDeployment",
    kind: "MachineDeployment",
    object: "c1-md",
    patch: { metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } },
    resume: { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } },
  },
])("$name pauses changes, until it is removed", async ({ kind, object, patch, resume }) => {
  await using world = await provisioned({ workers: 1 });
  await world.patch(kind, object, patch);
  await world.live(2_000, 1_000);
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 2 } });
  await world.live(20_000, 2_000);
  expect(await names(world)).toHaveLength(2);
  expect(conditionOf(await world.read("MachineDeployment", "c1-md"), "Paused")).toMatchObject({ status: "True", reason: "Paused" });
  await world.patch(kind, object, resume);
  await world.until(() => isProvisioned(world, 3));
  expect(conditionOf(await world.read("MachineDeployment", "c1-md"), "Paused")).toMatchObject({ status: "False", reason: "NotPaused" });
});

test("a paused Cluster is not deleted", async () => {
  await using world = await provisioned({ workers: 1 });
  await world.patch("Cluster", "c1", { spec: { paused: true } });
  await world.live(2_000, 1_000);
  await world.delete("Cluster", "c1");
  await world.live(20_000, 2_000);
  expect(await names(world)).toHaveLength(2);
  expect(deleted(world, "machines")).toEqual([]);
});

test("a Node that is deleted or unhealthy for too long has its machine replaced by a health check", async () => {
  await using world = await provisioned({ controlPlanes: 3, workers: 2 });
  const check = (name: string, selector: object) => ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineHealthCheck",
    metadata: { name, namespace: "c1" },
    spec: {
      clusterName: "c1",
      selector,
      checks: { nodeStartupTimeoutSeconds: 60, unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 30 }] },
    },
  });
  await world.parent.add(check("workers", { matchLabels: { "cluster.x-k8s.io/deployment-name": "c1-md" } }));
  await world.parent.add(check("control-plane", { matchLabels: { "cluster.x-k8s.io/control-plane": "" } }));
  await world.live(2_000, 1_000);
  expect(await world.read("MachineHealthCheck", "workers")).toMatchObject({ status: { expectedMachines: 2, currentHealthy: 2 } });
  const before = await names(world);
  const [controlPlane = "", worker = ""] = [
    before.find((name) => name.startsWith("c1-cp")),
    before.find((name) => name.startsWith("c1-md")),
  ];
  expectOk(await world.child.client.delete(nodes, { name: worker }));
  await world.until(async () => !(await names(world)).includes(worker) && (await isProvisioned(world, 5)));
  const node = expectOk(await world.child.client.get(nodes, { name: controlPlane }));
  const conditions = (node.status?.conditions ?? []).map((one) =>
    one.type === "Ready" ? { ...one, status: "False" as const, lastTransitionTime: new Date(world.clock.now()).toISOString() } : one,
  );
  expectOk(await world.child.client.update(nodes, { ...node, status: { ...node.status, conditions } }, { subresource: "status" }));
  await world.live(20_000, 2_000);
  expect(await names(world)).toContain(controlPlane);
  await world.until(async () => !(await names(world)).includes(controlPlane) && (await isProvisioned(world, 5)));
  expect(await world.nodeNames()).toEqual(await names(world));
});

test("a machine without a Node is replaced after the startup time, unless too many are unhealthy", async () => {
  await using world = await provisioned({ workers: 2 });
  await world.parent.add({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineHealthCheck",
    metadata: { name: "workers", namespace: "c1" },
    spec: {
      clusterName: "c1",
      selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "c1-md" } },
      checks: { nodeStartupTimeoutSeconds: 60 },
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%" } },
    },
  });
  world.host.silent = /c1-md/;
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 4 } });
  await world.live(100_000, 5_000);
  expect(conditionOf(await world.read("MachineHealthCheck", "workers"), "RemediationAllowed")).toMatchObject({
    status: "False",
    reason: "TooManyUnhealthy",
  });
  expect(deleted(world, "machines")).toEqual([]);
  world.host.silent = undefined;
  await world.patch("MachineHealthCheck", "workers", { spec: { remediation: null } });
  await world.until(() => isProvisioned(world, 5), 300_000);
  expect(deleted(world, "machines").length).toBeGreaterThanOrEqual(2);
});

test("nothing is deleted while the child cannot be reached, and all recovers", async () => {
  await using world = await provisioned({ controlPlanes: 3, workers: 2 });
  await world.parent.add({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineHealthCheck",
    metadata: { name: "all", namespace: "c1" },
    spec: {
      clusterName: "c1",
      selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": "c1" } },
      checks: { nodeStartupTimeoutSeconds: 30 },
    },
  });
  await world.live(2_000, 1_000);
  const before = await names(world);
  world.childUp(false);
  await world.live(7 * 60_000, 5_000);
  expect(await names(world)).toEqual(before);
  expect(world.writes.filter((write) => write.startsWith("DELETE"))).toEqual([]);
  const [machine] = await world.all("Machine");
  expect(conditionOf(machine ?? (await world.read("Cluster", "c1")), "NodeHealthy")).toMatchObject({
    status: "Unknown",
    reason: "ConnectionDown",
  });
  expect(conditionOf(await world.read("Cluster", "c1"), "RemoteConnectionProbe")).toMatchObject({ status: "False", reason: "ProbeFailed" });
  world.childUp(true);
  await world.until(() => isProvisioned(world, 5));
  expect(await names(world)).toEqual(before);
});

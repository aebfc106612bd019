/** Simulated nodes that are created, changed and deleted through the API. */
import { afterEach, describe, expect, it, test } from "vitest";
import { expectOk } from "#base";
import { daemonSets, leases, nodes, pods, type Node } from "#kube";
import {
  defined,
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";
import { machineOf } from "./machine.ts";
import { Machines } from "./machines.ts";

let cluster: SimulatedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

async function begin(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  cluster = await simulatedCluster({ simulation: { nodes: 0 }, ...options });
  return cluster;
}

const P = "simulation.lattice.dev/";
const SIMULATED = { [`${P}node`]: "true" };
const addNode = (world: SimulatedCluster, name: string, metadata: object = {}, rest: object = {}) =>
  world.create(nodes, name, { metadata: { labels: SIMULATED, ...metadata }, ...rest });
const addPod = (world: SimulatedCluster, name: string, spec: object = {}) =>
  world.create(pods, name, { spec: { containers: [{ name: "web", image: "web:1" }], ...spec } });
const ready = ({ status }: Node) => status?.conditions?.find(({ type }) => type === "Ready")?.status;
const addressOf = ({ status }: Node) => status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
const leaseOf = async (world: SimulatedCluster, name: string) => {
  const found = await world.client.get(leases, { namespace: "kube-node-lease", name });
  return found.ok ? found.value : undefined;
};

test("a Node that a client creates with the label becomes Ready and runs Pods", async () => {
  const world = await begin();
  const created = await addNode(world, "own");
  await addPod(world, "p");
  await world.live(200);
  const node = await world.read(nodes, "own");
  expect(node.metadata.labels).toEqual({
    ...SIMULATED,
    "kubernetes.io/hostname": "own",
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
  });
  expect(node.status).toMatchObject({
    capacity: { cpu: "64" },
    allocatable: { cpu: "64" },
    addresses: [
      { type: "InternalIP", address: "172.18.0.2" },
      { type: "Hostname", address: "own" },
    ],
    nodeInfo: { kubeletVersion: "v1.36.3", operatingSystem: "linux" },
  });
  expect([ready(node), node.spec?.taints]).toEqual(["True", undefined]);
  expect((await leaseOf(world, "own"))?.metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "own", uid: created.metadata.uid }]);
  const pod = await world.read(pods, "p");
  expect([pod.spec.nodeName, pod.status?.phase, pod.status?.hostIP]).toEqual(["own", "Running", "172.18.0.2"]);
  expect(world.simulation.nodes.names).toEqual(["own"]);
  expect(await world.eventsOn("Node")).toContain("Normal Starting: Starting kubelet.");
});

test("version, capacity and taints come from the object, also when they change", async () => {
  const world = await begin();
  const annotations = { [`${P}version`]: "v1.35.1", [`${P}capacity-cpu`]: "1500m", [`${P}capacity-pods`]: "1" };
  const taints = [{ key: "t", effect: "NoSchedule" }];
  await addNode(world, "own", { annotations }, { spec: { taints }, status: { capacity: { memory: "8Gi", "example.com/gpu": "2" } } });
  await world.live(100);
  const node = await world.read(nodes, "own");
  expect([node.status?.nodeInfo?.["kubeletVersion"], node.spec?.taints]).toEqual(["v1.35.1", taints]);
  expect(node.status?.allocatable).toEqual({
    cpu: "1500m",
    memory: "8Gi",
    pods: "1",
    "ephemeral-storage": "1Ti",
    "example.com/gpu": "2",
  });
  await world.patch(nodes, "own", {
    spec: { taints: null },
    metadata: { annotations: { [`${P}version`]: "v1.36.0", [`${P}capacity-cpu`]: "3000m" } },
  });
  await world.live(100);
  await addPod(world, "a", { containers: [{ name: "web", image: "w", resources: { requests: { cpu: "2" } } }] });
  await addPod(world, "b");
  await world.live(200);
  expect((await world.read(nodes, "own")).status).toMatchObject({
    nodeInfo: { kubeletVersion: "v1.36.0" },
    capacity: { cpu: "3" },
    allocatable: { cpu: "3" },
  });
  expect((await world.all(pods)).map(({ spec }) => spec.nodeName)).toEqual(["own", undefined]);
  const before = world.writes.length;
  await world.live(30_000, 1_000);
  expect(new Set(world.writes.slice(before))).toEqual(new Set(["PATCH leases/kube-node-lease/own"]));
});

test("settings that cannot be read are reported as events, and the defaults are used", async () => {
  const world = await begin();
  await addNode(world, "own", { annotations: { [`${P}version`]: "latest", [`${P}capacity-cpu`]: "many", [`${P}capacity-pods`]: "1.5" } });
  await world.live(100);
  const { status } = await world.read(nodes, "own");
  expect([status?.nodeInfo?.["kubeletVersion"], status?.capacity]).toMatchObject(["v1.36.3", { cpu: "64", pods: "5k" }]);
  const problems = [
    'Warning InvalidSimulationSetting: simulation.lattice.dev/version: "latest" is not a version such as v1.36.3; v1.36.3 is used',
    'Warning InvalidSimulationSetting: simulation.lattice.dev/capacity-cpu: "many" is not a quantity such as 4 or 8Gi; 64 is used',
    'Warning InvalidSimulationSetting: simulation.lattice.dev/capacity-pods: "1.5" is not a whole number such as 110; 5000 is used',
  ];
  expect(await world.eventsOn("Node")).toEqual(expect.arrayContaining(problems));
  await world.patch(nodes, "own", { metadata: { annotations: { [`${P}capacity-cpu`]: "2", [`${P}capacity-pods`]: "7" } } });
  await world.live(100);
  expect((await world.read(nodes, "own")).status?.capacity).toMatchObject({ cpu: "2", pods: "7" });
});

describe.each(["labels", "annotations"])("%s stop a node", (place) => {
  it("and start it when they are removed", async () => {
    const world = await begin();
    await addNode(world, "own");
    await world.live(100);
    await world.patch(nodes, "own", { metadata: { [place]: { [`${P}stopped`]: "true" } } });
    await addPod(world, "p", { nodeName: "own" });
    await world.live(40_000, 1_000);
    expect([ready(await world.read(nodes, "own")), (await world.read(pods, "p")).status?.phase]).toEqual(["True", "Pending"]);
    await world.live(15_000, 1_000);
    const silent = await world.read(nodes, "own");
    expect([ready(silent), silent.spec?.taints?.map(({ key }) => key)]).toEqual([
      "Unknown",
      ["node.kubernetes.io/unreachable", "node.kubernetes.io/unreachable"],
    ]);
    expect(world.simulation.nodes.start("own")).toBe(true); // the object counts
    await world.live(1_000, 100);
    expect(ready(await world.read(nodes, "own"))).toBe("Unknown");
    await world.patch(nodes, "own", { metadata: { [place]: { [`${P}stopped`]: null } } });
    await world.live(1_000, 100);
    const back = await world.read(nodes, "own");
    expect([ready(back), back.spec?.taints, (await world.read(pods, "p")).status?.phase]).toEqual(["True", undefined, "Running"]);
  });
});

test("a Node without the label is not changed by the simulation", async () => {
  const world = await begin();
  await world.create(nodes, "foreign", { metadata: { annotations: { [`${P}capacity-cpu`]: "many" } } });
  await addPod(world, "p", { nodeName: "foreign" });
  await world.live(30_000, 1_000);
  const node = await world.read(nodes, "foreign");
  expect([node.status?.addresses, await leaseOf(world, "foreign"), (await world.read(pods, "p")).status?.phase]).toEqual([
    undefined,
    undefined,
    "Pending",
  ]);
  expect([world.simulation.nodes.names, world.simulation.nodes.stop("foreign")]).toEqual([[], false]);
  await world.live(40_000, 1_000);
  expect((await world.read(nodes, "foreign")).status?.conditions?.map(({ reason }) => reason)).toContain("NodeStatusNeverUpdated");
  await world.patch(nodes, "foreign", { metadata: { labels: SIMULATED } });
  await world.live(1_000, 100);
  expect(ready(await world.read(nodes, "foreign"))).toBe("True");
});

test("addresses are unique, those in a status are kept, and one is free again after its Node was deleted", async () => {
  const world = await begin({ simulation: { nodes: 2 } });
  const status = { addresses: [{ type: "InternalIP", address: "172.18.0.3" }] };
  await world.create(nodes, "foreign", { status: { addresses: [{ type: "InternalIP", address: "172.18.0.4" }] } });
  await addNode(world, "same", {}, { status });
  await addNode(world, "far", {}, { status: { addresses: [{ type: "InternalIP", address: "10.9.8.7" }] } });
  await world.live(100);
  const all = async () => Object.fromEntries((await world.all(nodes)).map((node) => [node.metadata.name, addressOf(node)]));
  expect(await all()).toEqual({
    "lattice-node-1": "172.18.0.2",
    "lattice-node-2": "172.18.0.3",
    foreign: "172.18.0.4",
    same: "172.18.0.5",
    far: "10.9.8.7",
  });
  expectOk(await world.client.delete(nodes, { name: "lattice-node-2" }));
  await world.live(100);
  await addNode(world, "reuse", {}, { status });
  await world.live(100);
  expect((await all())["reuse"]).toBe("172.18.0.3");
});

test("a deleted Node loses its Lease, and its Pods are collected after 40 seconds", async () => {
  const world = await begin({ simulation: { nodes: 2 } });
  await addPod(world, "p", { nodeName: "lattice-node-1" });
  await world.live(200);
  expectOk(await world.client.delete(nodes, { name: "lattice-node-1" }));
  await addPod(world, "q", { nodeName: "lattice-node-1" });
  await world.live(39_000, 1_000);
  expect([await leaseOf(world, "lattice-node-1"), (await world.all(nodes)).map(({ metadata }) => metadata.name)]).toEqual([
    undefined,
    ["lattice-node-2"],
  ]);
  expect((await world.all(pods)).map(({ status }) => status?.phase)).toEqual(["Running", "Pending"]);
  await world.live(42_000, 1_000);
  expect(await world.all(pods)).toEqual([]);
  expect(world.simulation.nodes.names).toEqual(["lattice-node-2"]);
});

test("a DaemonSet does not count a deleted Node, and runs on one that is created", async () => {
  const world = await begin({ simulation: { nodes: 2 } });
  await world.create(daemonSets, "agent", { spec: { selector: SELECTOR, template: podTemplate("agent:1") } });
  await world.live(300);
  expectOk(await world.client.delete(nodes, { name: "lattice-node-1" }));
  await world.live(100_000, 1_000);
  const served = async () => (await world.all(pods)).map(({ spec }) => spec.nodeName ?? "").toSorted();
  expect([await served(), (await world.read(daemonSets, "agent")).status?.desiredNumberScheduled]).toEqual([["lattice-node-2"], 1]);
  await addNode(world, "own");
  await world.live(500);
  expect([await served(), (await world.read(daemonSets, "agent")).status?.numberReady]).toEqual([["lattice-node-2", "own"], 2]);
});

test("conditions of other clients stay when the kubelet reports", async () => {
  const world = await begin();
  const network = { type: "NetworkUnavailable", status: "False", reason: "RouteCreated" };
  await addNode(world, "own", {}, { status: { conditions: [network], addresses: [{ type: "ExternalIP", address: "192.0.2.9" }] } });
  await world.live(100);
  const { status } = await world.read(nodes, "own");
  expect([status?.conditions?.map(({ type }) => type), status?.addresses?.map(({ type }) => type)]).toEqual([
    ["NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure", "Ready"],
    ["InternalIP", "Hostname", "ExternalIP"],
  ]);
});

test("a Node that loses the label is left alone, and its Lease stays", async () => {
  const world = await begin();
  await addNode(world, "own");
  await world.live(100);
  await world.patch(nodes, "own", { metadata: { labels: { [`${P}node`]: null } } });
  await world.live(55_000, 1_000);
  expect([ready(await world.read(nodes, "own")), (await leaseOf(world, "own")) === undefined]).toEqual(["Unknown", false]);
});

test("without any controller the Lease of a deleted Node is deleted", async () => {
  const world = await begin({ simulation: { nodes: 1 }, controllers: [] });
  await world.live(100);
  expect(await leaseOf(world, "lattice-node-1")).toBeDefined();
  expectOk(await world.client.delete(nodes, { name: "lattice-node-1" }));
  await world.live(100);
  expect(await leaseOf(world, "lattice-node-1")).toBeUndefined();
});

test("a Node that is created again under its name is another machine: containers start over there", async () => {
  const world = await begin();
  await addNode(world, "own");
  const once = { name: "init", image: "i" };
  await addPod(world, "server", { initContainers: [once] });
  await addPod(world, "work", { restartPolicy: "Never", containers: [{ name: "work", image: "w" }] });
  await world.patch(pods, "work", { metadata: { annotations: { [`${P}exit-code`]: "0", [`${P}exit-after`]: "1h" } } });
  await world.live(300);
  expect(world.simulation.nodes.stop("own")).toBe(true);
  expectOk(await world.client.delete(nodes, { name: "own" }));
  await world.live(5_000, 500);
  const { metadata } = await addNode(world, "own");
  await world.live(1_000, 50);
  const node = await world.read(nodes, "own");
  expect([node.metadata.uid === metadata.uid, ready(node)]).toEqual([true, "True"]);
  expect((await leaseOf(world, "own"))?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid]);
  expect((await world.read(pods, "server")).status).toMatchObject({
    phase: "Running",
    initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    containerStatuses: [{ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } } }],
  });
  expect((await world.read(pods, "work")).status).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } } }],
  });
});

test("Nodes of earlier versions get the label, and an existing Node of the options is used", async () => {
  const world = await begin({
    simulation: { nodes: 1 },
    before: async (client) => {
      const make = (name: string, annotations: Readonly<Record<string, string>>) =>
        client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, annotations } });
      expectOk(await make("earlier", { [`${P}node`]: "true" }));
      expectOk(await make("lattice-node-1", {}));
    },
  });
  await world.live(200);
  const all = await world.all(nodes);
  expect(all.map((node) => [node.metadata.name, node.metadata.labels?.[`${P}node`], node.metadata.annotations, ready(node)])).toEqual([
    ["earlier", "true", undefined, "True"],
    ["lattice-node-1", "true", undefined, "True"],
  ]);
});

test("nodes are created and removed although the first requests fail", async () => {
  let failures = 0;
  const world = await begin({
    simulation: { nodes: 2 },
    between: (client) => {
      const failOnce = new Set(["create nodes", "patch nodes", "patch namespaces", "create leases", "delete leases"]);
      const fails = (verb: string, plural: string) => failOnce.delete(`${verb} ${plural}`) && (failures += 1) > 0;
      const failed = { ok: false, error: { kind: "unavailable", message: "down" } } as const;
      return {
        ...client,
        create: (kind, object, call) => (fails("create", kind.plural) ? Promise.resolve(failed) : client.create(kind, object, call)),
        patch: (kind, key, body, call) => (fails("patch", kind.plural) ? Promise.resolve(failed) : client.patch(kind, key, body, call)),
        delete: (kind, key, call) => (fails("delete", kind.plural) ? Promise.resolve(failed) : client.delete(kind, key, call)),
      };
    },
  });
  await world.live(1_000, 50);
  expect((await world.all(nodes)).map(ready)).toEqual(["True", "True"]);
  expectOk(await world.client.delete(nodes, { name: "lattice-node-1" }));
  await world.live(1_000, 50);
  expect([await leaseOf(world, "lattice-node-1"), (await world.all(nodes)).length, failures]).toEqual([undefined, 1, 5]);
});

describe("a machine", () => {
  const node = (metadata: object, status: object = {}): Node => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", ...metadata },
    status,
  });
  it.each([
    { name: "unknown resources", given: { [`${P}capacity-gpu`]: "1" }, want: "is not a known resource; use one of cpu, memory" },
    { name: "negative amounts", given: { [`${P}capacity-cpu`]: "-1" }, want: '"-1" is not a quantity' },
    { name: "amounts that the server would cap", given: { [`${P}capacity-memory`]: "1e99" }, want: '"1e99" is not a quantity' },
    { name: "empty amounts", given: { [`${P}capacity-cpu`]: "" }, want: '"" is not a quantity' },
    { name: "long texts", given: { [`${P}version`]: "x".repeat(5_000) }, want: "x…" },
  ])("reports $name", ({ given, want }) => {
    const [problem] = machineOf(node({ annotations: given })).problems;
    expect(defined(problem)).toContain(want);
    expect(defined(problem).length).toBeLessThan(300);
  });
  it("accepts settings as labels and as annotations", () => {
    expect(machineOf(node({ labels: { [`${P}version`]: "v1.34.0" }, annotations: { [`${P}capacity-cpu`]: "2" } }))).toMatchObject({
      version: "v1.34.0",
      capacity: { cpu: "2" },
      stopped: false,
      problems: [],
    });
  });
  it("of an unknown name has no address of a node", () => expect(new Machines().addressOf("none")).toBe("172.18.0.1"));
});

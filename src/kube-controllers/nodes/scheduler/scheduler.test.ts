import { afterEach, describe, expect, it, test } from "vitest";
import { expectOk } from "#base";
import { nodes as nodeResource, persistentVolumeClaims, pods, type Node, type Pod } from "#kube";
import { simulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from "../../../../test/builders/simulated-cluster.ts";
import { fitCheck } from "./fit.ts";
import { Ledger } from "./ledger.ts";
import { blockedMessage, unschedulableMessage } from "./message.ts";

const node = (name: string, more: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { zone: name } },
  status: { allocatable: { cpu: "2", memory: "4Gi", pods: "3" } },
  ...more,
});
const pod = (name: string, spec: Partial<Pod["spec"]> = {}, labels: Readonly<Record<string, string>> = { app: "web" }): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, uid: name, namespace: "shop", labels },
  spec: { containers: [{ name: "web" }], ...spec },
});
const asks = (cpu: string): Partial<Pod["spec"]> => ({ containers: [{ name: "web", resources: { requests: { cpu } } }] });
const near = (kind: "podAffinity" | "podAntiAffinity", app: string, namespaces?: string[]): Partial<Pod["spec"]> => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app } }, topologyKey: "zone", ...(namespaces === undefined ? {} : { namespaces }) },
      ],
    },
  },
});

describe("a Pod does not fit", () => {
  type Row = { name: string; given: Pod; on?: Node; there?: readonly Pod[]; want: string | undefined; movable?: boolean };
  it.each<Row>([
    { name: "it does", given: pod("p"), want: undefined },
    { name: "cordoned", given: pod("p"), on: node("a", { spec: { unschedulable: true } }), want: "node(s) were unschedulable" },
    {
      name: "tainted",
      given: pod("p"),
      on: node("a", { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } }),
      want: "node(s) had untolerated taint(s)",
    },
    { name: "not selected", given: pod("p", { nodeSelector: { zone: "b" } }), want: "node(s) didn't match Pod's node affinity/selector" },
    { name: "too much", given: pod("p", asks("3")), want: "Insufficient cpu" },
    {
      name: "too much beside others",
      given: pod("p", asks("1")),
      there: [pod("q", asks("1500m"))],
      want: "Insufficient cpu",
      movable: true,
    },
    { name: "too many", given: pod("p"), there: [pod("a"), pod("b"), pod("c")], want: "Too many pods", movable: true },
    {
      name: "something that no node has",
      given: pod("p", { containers: [{ name: "c", resources: { requests: { "test/gpu": "1" } } }] }),
      want: "Insufficient test/gpu",
    },
    {
      name: "a port that is taken",
      given: pod("p", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] }),
      there: [pod("q", { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP" }] }] })],
      want: "node(s) didn't have free ports for the requested pod ports",
      movable: true,
    },
    { name: "no friend near", given: pod("p", near("podAffinity", "db")), want: "node(s) didn't match pod affinity rules" },
    { name: "a friend near", given: pod("p", near("podAffinity", "db")), there: [pod("q", {}, { app: "db" })], want: undefined },
    {
      name: "a friend in another namespace",
      given: pod("p", near("podAffinity", "db", ["bank"])),
      there: [pod("q", {}, { app: "db" })],
      want: "node(s) didn't match pod affinity rules",
    },
    { name: "the first of its own kind", given: pod("p", near("podAffinity", "web")), want: undefined },
    {
      name: "an enemy near",
      given: pod("p", near("podAntiAffinity", "web")),
      there: [pod("q")],
      want: "node(s) didn't match pod anti-affinity rules",
      movable: true,
    },
    {
      name: "a Pod that another Pod's anti-affinity excludes",
      given: pod("p"),
      there: [pod("q", near("podAntiAffinity", "web"), { app: "db" })],
      want: "node(s) didn't satisfy existing pods anti-affinity rules",
      movable: true,
    },
  ])("$name", ({ given, on = node("a"), there = [], want, movable = false }) => {
    const ledger = new Ledger();
    for (const one of there) ledger.see({ ...one, spec: { ...one.spec, nodeName: "a" } });
    const refusal = fitCheck(given, { ledger, nodes: [on] })(on);
    expect(refusal).toEqual(want === undefined ? undefined : { reasons: [want], movable });
  });

  it("and the message is kube-scheduler's", () => {
    const refusals = [
      { reasons: ["Insufficient cpu"], movable: true },
      { reasons: ["Insufficient cpu", "Too many pods"], movable: true },
      { reasons: ["node(s) had untolerated taint(s)"], movable: false },
    ];
    expect(unschedulableMessage(refusals)).toBe(
      "0/3 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.",
    );
    expect(unschedulableMessage([])).toBe("no nodes available to schedule pods");
    expect(blockedMessage(1, "x")).toBe(
      "0/1 nodes are available: x. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
  });
});

it("the ledger forgets finished and moved Pods", () => {
  const ledger = new Ledger();
  const on = (name: string, phase?: "Running" | "Succeeded"): Pod => ({
    ...pod("p", { ...asks("1"), nodeName: name }),
    ...(phase === undefined ? {} : { status: { phase } }),
  });
  ledger.see(on("a"));
  ledger.see(on("b"));
  expect([ledger.count("a"), ledger.count("b"), ledger.used("b").get("cpu")]).toEqual([0, 1, 1_000_000_000n]);
  ledger.see(on("b", "Succeeded"));
  expect([ledger.count("b"), ledger.used("b").get("cpu"), ledger.podsOn("c")]).toEqual([0, 0n, []]);
});

let cluster: SimulatedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

async function begin(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  cluster = await simulatedCluster(options);
  return cluster;
}
const create = (world: SimulatedCluster, name: string, spec: object = {}) =>
  world.create(pods, name, { spec: { containers: [{ name: "web", image: "w" }], ...spec } });
const scheduled = async (world: SimulatedCluster, name: string) =>
  (await world.read(pods, name)).status?.conditions?.find(({ type }) => type === "PodScheduled");

test("Pods are spread over the nodes, and one that fits nowhere waits with a condition until there is room", async () => {
  const small = { capacity: { cpu: "1" } };
  const world = await begin({
    simulation: {
      nodes: [
        { name: "a", ...small },
        { name: "b", ...small },
      ],
    },
  });
  const spec = { containers: [{ name: "web", image: "w", resources: { requests: { cpu: "800m" } } }] };
  for (const name of ["p", "q", "r"]) await create(world, name, spec);
  await world.live(200);
  const placed = (await world.all(pods)).map(({ spec: { nodeName } }) => nodeName ?? "none").toSorted();
  expect(placed).toEqual(["a", "b", "none"]);
  const [waiting] = (await world.all(pods)).filter(({ spec: { nodeName } }) => nodeName === undefined);
  const message =
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.";
  expect(await scheduled(world, waiting?.metadata.name ?? "")).toMatchObject({ status: "False", reason: "Unschedulable", message });
  expect(await world.eventsOn("Pod")).toContain(`Warning FailedScheduling: ${message}`);
  const gone = (await world.all(pods)).find(({ spec: { nodeName } }) => nodeName === "a");
  expectOk(await world.client.delete(pods, { namespace: "default", name: gone?.metadata.name ?? "" }));
  await world.live(500);
  expect((await world.all(pods)).map(({ spec: { nodeName } }) => nodeName ?? "none").toSorted()).toEqual(["a", "b"]);
});

test("a Pod waits for its claim, and for its gate", async () => {
  const world = await begin();
  await create(world, "p", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
  await create(world, "gated", { schedulingGates: [{ name: "test/wait" }] });
  await create(world, "foreign", { schedulerName: "another" });
  await world.live(100);
  expect((await scheduled(world, "p"))?.message).toMatch(/^0\/1 nodes are available: persistentvolumeclaim "data" not found\./);
  expect((await scheduled(world, "gated"))?.reason).toBe("SchedulingGated");
  await world.create(persistentVolumeClaims, "data", {
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "other", resources: { requests: { storage: "1Gi" } } },
  });
  await world.live(100);
  expect((await scheduled(world, "p"))?.message).toMatch(/pod has unbound immediate PersistentVolumeClaims/);
  const key = { namespace: "default", name: "data" };
  expectOk(
    await world.client.patch(
      persistentVolumeClaims,
      key,
      { type: "merge", patch: { status: { phase: "Bound" } } },
      { subresource: "status" },
    ),
  );
  await world.patch(pods, "gated", { spec: { schedulingGates: null } });
  await world.live(200);
  const placed = (await world.all(pods)).map(({ metadata, spec: { nodeName } }) => [metadata.name, nodeName]);
  expect(placed).toEqual(
    expect.arrayContaining([
      ["p", "lattice-node-1"],
      ["gated", "lattice-node-1"],
      ["foreign", undefined],
    ]),
  );
});

test("a Pod that must run near another waits until that one has a node", async () => {
  const world = await begin({ simulation: { nodes: 2 } });
  const [labels, topologyKey] = [{ app: "db" }, "kubernetes.io/hostname"];
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: labels }, topologyKey }] };
  await create(world, "near", { affinity: { podAffinity } });
  await world.live(100);
  expect((await scheduled(world, "near"))?.message).toContain("2 node(s) didn't match pod affinity rules");
  await create(world, "other");
  await world.create(pods, "db", { spec: { containers: [{ name: "db", image: "d" }], nodeName: "lattice-node-2" } });
  await world.live(100);
  expect((await scheduled(world, "near"))?.status).toBe("False");
  await world.patch(pods, "db", { metadata: { labels } });
  await world.live(100);
  expect((await world.read(pods, "near")).spec.nodeName).toBe("lattice-node-2");
});

test("an uncordoned node gets waiting Pods", async () => {
  const world = await begin();
  await world.live(100);
  await world.patch(nodeResource, "lattice-node-1", { spec: { unschedulable: true } });
  await world.live(100);
  await create(world, "p");
  await world.live(100);
  expect((await scheduled(world, "p"))?.reason).toBe("Unschedulable");
  await world.patch(nodeResource, "lattice-node-1", { spec: { unschedulable: null } });
  await world.live(200);
  expect((await scheduled(world, "p"))?.status).toBe("True");
});

test("a binding that the server rejects is retried, and the binding of another scheduler is kept", async () => {
  let kind: "unavailable" | "conflict" | undefined = "unavailable";
  const world = await begin({
    between: (client) => ({
      ...client,
      create: (resource, object, call) =>
        kind !== undefined && resource.kind === "Binding"
          ? Promise.resolve({ ok: false, error: { kind, message: "no" } })
          : client.create(resource, object, call),
    }),
  });
  await create(world, "p");
  await world.live(40);
  kind = "conflict";
  await world.live(1_000, 100);
  kind = undefined;
  await world.patch(pods, "p", { metadata: { labels: { touch: "1" } } });
  await world.live(200);
  expect((await scheduled(world, "p"))?.status).toBe("True");
});

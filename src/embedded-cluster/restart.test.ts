/** A cluster with a dataDir that is stopped for a while and started again, as `npm start` is on a laptop. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { failWith, resources, startEmbeddedCluster, type AnyObject, type EmbeddedCluster } from "#embedded-cluster";

const { deployments, nodes, pods } = resources;
const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];
const replicas = 2;
const web: AnyObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
};

let dataDir: string;
let clock: FakeClock;
let cluster: EmbeddedCluster;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lattice-restart-"));
  clock = new FakeClock(Date.UTC(2026, 10, 16));
  await start([web]);
});
afterEach(async () => {
  await cluster.close();
  await rm(dataDir, { recursive: true });
});

async function start(objects: readonly AnyObject[] = []): Promise<void> {
  cluster = await startEmbeddedCluster({ dataDir, clock, objects, controllers: { simulation: { nodes: 1 } } });
  await live(2 * SECOND);
}

async function live(ms: number): Promise<void> {
  const step = Math.max(200, ms / 100);
  for (let left = ms; left > 0; left -= step) {
    await cluster.settled();
    await clock.advance(Math.min(step, left));
  }
  await cluster.settled();
}

type Condition = { readonly type: string; readonly status: string };
const conditionOf = (object: AnyObject, name: string): string | undefined =>
  ((object.status?.["conditions"] ?? []) as readonly Condition[]).find(({ type }) => type === name)?.status;

async function podsNow(): Promise<readonly AnyObject[]> {
  return expectOk(await cluster.client.list(pods, { namespace: "default" })).items;
}

async function podReadiness(): Promise<readonly (string | undefined)[]> {
  return (await podsNow()).map((pod) => conditionOf(pod, "Ready"));
}

async function nodeState(): Promise<unknown> {
  const node = expectOk(await cluster.client.get(nodes, { name: "lattice-node-1" }));
  return [conditionOf(node, "Ready"), node.spec?.["taints"] ?? []];
}

test.each([
  { name: "90 seconds", stoppedMs: 90 * SECOND },
  { name: "10 minutes", stoppedMs: 10 * MINUTE },
  { name: "3 days", stoppedMs: 3 * DAY },
])("a cluster that was stopped for $name comes back with the same Pods, Ready", async ({ stoppedMs }) => {
  expect(await podReadiness()).toEqual(["True", "True"]);
  const before = (await podsNow()).map(({ metadata }) => metadata.uid);
  await cluster.close();
  await clock.advance(stoppedMs);
  await start();
  await live(2 * MINUTE);
  expect(await nodeState()).toEqual(["True", []]);
  expect(await podReadiness()).toEqual(["True", "True"]);
  expect((await podsNow()).map(({ metadata }) => metadata.uid)).toEqual(before);
  const deployment = expectOk(await cluster.client.get(deployments, { namespace: "default", name: "web" }));
  expect(deployment.status).toMatchObject({ readyReplicas: replicas, availableReplicas: replicas });
});

test("heartbeats from before a stop do not make a node Unknown", async () => {
  await cluster.close();
  await clock.advance(10 * MINUTE);
  await start();
  const { items } = expectOk(await cluster.client.list(resources.events, { namespace: "default" }));
  expect(items.map((event) => ("reason" in event ? event.reason : undefined))).not.toContain("NodeNotReady");
});

test("Pods whose deletion had begun when the cluster was stopped are removed and replaced", async () => {
  cluster.simulation.nodes.stop("lattice-node-1");
  await live(7 * MINUTE);
  const evicted = await podsNow();
  expect(evicted.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length).toBe(replicas);
  await cluster.close();
  await clock.advance(10 * MINUTE);
  await start();
  await live(10 * SECOND);
  expect(await nodeState()).toEqual(["True", []]);
  expect(await podReadiness()).toEqual(["True", "True"]);
  const gone = new Set(evicted.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.uid));
  expect((await podsNow()).some(({ metadata }) => gone.has(metadata.uid))).toBe(false);
});

test("Pods on a node that was unreachable for a minute become Ready again when it returns", async () => {
  cluster.simulation.nodes.stop("lattice-node-1");
  await live(70 * SECOND);
  expect(await podReadiness()).toEqual(["False", "False"]);
  cluster.simulation.nodes.start("lattice-node-1");
  await live(10 * SECOND);
  expect(await nodeState()).toEqual(["True", []]);
  expect(await podReadiness()).toEqual(["True", "True"]);
});

test("Pods of an unreachable node are marked not Ready even when the first attempt fails", async () => {
  const match = { user: "system:kube-controller-manager", verb: "patch", resource: "pods/status", times: 1 } as const;
  const failing = cluster.intercept(match, failWith("server-error"));
  cluster.simulation.nodes.stop("lattice-node-1");
  await live(70 * SECOND);
  expect(failing.calls).toBe(1);
  expect(await podReadiness()).toEqual(["False", "False"]);
});

async function nodeNames(): Promise<readonly string[]> {
  return expectOk(await cluster.client.list(nodes)).items.map(({ metadata }) => metadata.name);
}

async function addNode(name: string): Promise<AnyObject> {
  const labels = { "simulation.lattice.dev/node": "true" };
  return expectOk(await cluster.client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels } }));
}

async function restart(stoppedMs = MINUTE): Promise<void> {
  await cluster.close();
  await clock.advance(stoppedMs);
  await start();
}

test("a deleted Node is not created again by a restart, and one that was added stays with its address", async () => {
  const { metadata } = await addNode("added");
  await live(2 * SECOND);
  const added = expectOk(await cluster.client.get(nodes, { name: "added" }));
  expectOk(await cluster.client.delete(nodes, { name: "lattice-node-1" }));
  await restart();
  expect(await nodeNames()).toEqual(["added"]);
  expect(cluster.simulation.nodes.names).toEqual(["added"]);
  const after = expectOk(await cluster.client.get(nodes, { name: "added" }));
  expect([after.metadata.uid, after.status?.["addresses"]]).toEqual([metadata.uid, added.status?.["addresses"]]);
  await live(2 * MINUTE);
  expect((await podsNow()).map(({ spec }) => spec?.["nodeName"])).toEqual(["added", "added"]);
  expect(await podReadiness()).toEqual(["True", "True"]);
  expectOk(await cluster.client.delete(nodes, { name: "added" }));
  await restart();
  expect(await nodeNames()).toEqual([]);
});

test("a Node that its object stops stays stopped after a restart, and only it loses its Pods", async () => {
  await addNode("added");
  await live(2 * SECOND);
  const annotations = (stopped: string | null) =>
    cluster.client.patch(
      nodes,
      { name: "lattice-node-1" },
      { type: "merge", patch: { metadata: { annotations: { "simulation.lattice.dev/stopped": stopped } } } },
    );
  expectOk(await annotations("true"));
  await live(2 * SECOND);
  await restart(10 * MINUTE);
  expect(await nodeState()).toEqual(["True", []]);
  await live(40 * SECOND);
  expect(await nodeState()).toEqual(["True", []]);
  await live(15 * SECOND);
  expect(await nodeState()).toMatchObject(["Unknown", [{ key: "node.kubernetes.io/unreachable" }, { effect: "NoExecute" }]]);
  await restart(10 * MINUTE);
  await live(20 * SECOND);
  const leaving = async () => (await podsNow()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  expect([await nodeState(), await leaving()]).toMatchObject([["Unknown", [{}, {}]], 0]);
  await live(5 * MINUTE);
  expect(await leaving()).toBe(replicas);
  expect((await podsNow()).filter((pod) => conditionOf(pod, "Ready") === "True").map(({ spec }) => spec?.["nodeName"])).toEqual([
    "added",
    "added",
  ]);
  expectOk(await annotations(null));
  await live(10 * SECOND);
  expect([await nodeState(), (await podsNow()).length]).toEqual([["True", []], replicas]);
});

test("a settled Pod gets no further status writes", async () => {
  const match = { user: "system:kube-controller-manager", verb: "patch", resource: "pods/status" } as const;
  const writes = cluster.intercept(match, (_action, next) => next());
  await live(2 * MINUTE);
  expect(writes.calls).toBe(0);
  await cluster.client.patch(
    deployments,
    { namespace: "default", name: "web" },
    { type: "merge", patch: { spec: { replicas: replicas + 1 } } },
  );
  await live(2 * SECOND);
  expect(await podReadiness()).toEqual(["True", "True", "True"]);
  expect(writes.calls).toBe(2); // Pending, Running
});

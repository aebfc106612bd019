import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { createLogger, expectOk, seededRandom } from "#base";
import { deployments, nodes, pods, type Pod } from "#kube";
import { FakePodProcesses, PROCESS_LABELS } from "../../../../test/builders/fake-pod-processes.ts";
import { simulatedCluster, type SimulatedCluster } from "../../../../test/builders/simulated-cluster.ts";
import { startKubeControllers } from "../../start.ts";
import { createSimulation } from "../simulation.ts";

const NODE = "lattice-node-1";
const START = "2026-01-01T00:00:";

let cluster: SimulatedCluster;
let processes: FakePodProcesses;
beforeEach(async () => {
  processes = new FakePodProcesses(() => cluster.clock.now());
  cluster = await simulatedCluster({ simulation: { podProcesses: processes } });
});
afterEach(async () => {
  expect(await cluster.end()).toBe(0);
  expect(processes.listeners).toBe(0);
});

const labelled = (spec: object = {}) => ({
  metadata: { labels: { ...PROCESS_LABELS, app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }], ...spec },
});
const read = (name = "p") => cluster.read(pods, name);
const container = async () => (await read()).status?.containerStatuses?.[0];
const conditions = ({ status }: Pod) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: truth, reason }) => [type, reason === undefined ? truth : `${truth} ${reason}`]),
  );
const remove = async (gracePeriodSeconds?: number) => {
  const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  expectOk(await cluster.client.delete(pods, { namespace: "default", name: "p" }, options));
  await cluster.live(100);
};

/** A Pod whose container runs. */
async function running(spec: object = {}): Promise<string> {
  await cluster.create(pods, "p", labelled(spec));
  await cluster.live(100);
  const uid = processes.uidOf("p");
  processes.run(uid, "web");
  await cluster.live(100);
  return uid;
}

test("a Pod is Pending until its process runs, and Ready when the port reports it", async () => {
  await cluster.create(pods, "p", labelled());
  await cluster.live(100);
  expect(processes.calls).toEqual(["retain", "ensure p"]);
  const created = await read();
  expect(created.status).toMatchObject({
    phase: "Pending",
    startTime: `${START}00Z`,
    hostIP: "172.18.0.2",
    podIP: "10.244.0.2",
    podIPs: [{ ip: "10.244.0.2" }],
    containerStatuses: [{ name: "web", state: { waiting: { reason: "ContainerCreating" } }, ready: false, started: false, imageID: "" }],
  });
  expect(created.status?.containerStatuses?.[0]).not.toHaveProperty("containerID");
  const uid = processes.uidOf("p");
  processes.set(uid, "web", { state: { kind: "running", startedAt: Date.UTC(2026, 0, 1, 0, 0, 7) } });
  await cluster.live(100);
  expect(await container()).toMatchObject({
    state: { running: { startedAt: `${START}07Z` } },
    ready: false,
    started: true,
    restartCount: 0,
  });
  expect(conditions(await read())).toMatchObject({ ContainersReady: "False ContainersNotReady", Ready: "False ContainersNotReady" });
  processes.set(uid, "web", { ready: true });
  await cluster.live(100);
  expect((await read()).status?.phase).toBe("Running");
  expect(await container()).toMatchObject({
    ready: true,
    image: "web:1",
    imageID: expect.stringMatching(/^web:1@sha256:/) as string,
    containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/) as string,
    lastState: {},
  });
  expect(conditions(await read())).toEqual({
    PodScheduled: "True",
    PodReadyToStartContainers: "True",
    Initialized: "True",
    ContainersReady: "True",
    Ready: "True",
  });
  expect(await cluster.eventsOn("Pod")).toEqual([
    `Normal Scheduled: Successfully assigned default/p to ${NODE}`,
    'Normal Pulled: Container image "web:1" already present on machine',
    "Normal Created: Container created",
    "Normal Started: Container started",
  ]);
});

test("other Pods are simulated as before", async () => {
  await cluster.create(pods, "q", { spec: { containers: [{ name: "web", image: "w" }] } });
  await cluster.live(200);
  expect((await read("q")).status?.phase).toBe("Running");
  expect(processes.calls).toEqual(["retain"]);
});

test("a process that ends is started again: back-off, last state, restart count", async () => {
  const uid = await running();
  const first = await container();
  const last = { kind: "ended", exitCode: 3, startedAt: Date.UTC(2026, 0, 1), finishedAt: Date.UTC(2026, 0, 1, 0, 0, 9) } as const;
  processes.set(uid, "web", { state: last, ready: false });
  await cluster.live(100);
  const terminated = { exitCode: 3, reason: "Error", startedAt: `${START}00Z`, finishedAt: `${START}09Z`, containerID: first?.containerID };
  expect(await container()).toMatchObject({ state: { terminated }, ready: false, started: false, restartCount: 0 });
  expect((await read()).status?.phase).toBe("Running");
  const message = "back-off 1s restarting failed container=web";
  processes.set(uid, "web", { state: { kind: "waiting", reason: "CrashLoopBackOff", message }, last });
  await cluster.live(100);
  expect(await container()).toMatchObject({
    state: { waiting: { reason: "CrashLoopBackOff", message } },
    lastState: { terminated },
    containerID: first?.containerID,
  });
  expect((await read()).status?.phase).toBe("Running");
  processes.run(uid, "web", 1);
  await cluster.live(100);
  expect(await container()).toMatchObject({ state: { running: {} }, lastState: { terminated }, restartCount: 1, ready: true });
  expect((await container())?.containerID).not.toBe(first?.containerID);
  const events = await cluster.eventsOn("Pod");
  expect(events.filter((event) => event.startsWith("Normal Started"))).toHaveLength(1); // counted in one event object
  expect(events).toContain(`Warning BackOff: Back-off restarting failed container web in pod p_default(${uid})`);
});

test("a settled Pod is not written again", async () => {
  const uid = await running();
  const before = cluster.writes.length;
  processes.tell(uid);
  processes.tell("unknown");
  await cluster.live(100);
  expect(cluster.writes.slice(before).filter((write) => write.includes("pods/"))).toEqual([]);
});

test("a condition that another client changed is corrected", async () => {
  await running();
  const patch = { status: { conditions: [{ type: "Ready", status: "False" }] } };
  expectOk(await cluster.client.patch(pods, { namespace: "default", name: "p" }, { type: "strategic", patch }, { subresource: "status" }));
  await cluster.live(100);
  expect(conditions(await read())).toMatchObject({ Ready: "True" });
});

test("a process that runs to completion ends its Pod", async () => {
  const uid = await running({ restartPolicy: "Never" });
  processes.exit(uid, "web", 0);
  await cluster.live(100);
  expect((await read()).status?.phase).toBe("Succeeded");
  expect(conditions(await read())).toMatchObject({ Ready: "False PodCompleted", Initialized: "True PodCompleted" });
  await remove();
  expect(await cluster.all(pods)).toEqual([]);
});

describe("deletion", () => {
  it("stops the processes with the grace period, and removes the Pod when all have ended", async () => {
    processes.stopsAtOnce = false;
    const containers = ["web", "side"].map((name) => ({ name, image: "w" }));
    const uid = await running({ containers, terminationGracePeriodSeconds: 20 });
    processes.run(uid, "side");
    await remove();
    expect(processes.calls.slice(-1)).toEqual(["stop p 20000"]);
    processes.exit(uid, "web", 0);
    await cluster.live(100);
    expect((await read()).status).toMatchObject({
      phase: "Running",
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }, { state: { running: {} } }],
    });
    processes.exit(uid, "side", 143);
    await cluster.live(100);
    expect(await cluster.all(pods)).toEqual([]);
    expect(processes.calls.slice(-2)).toEqual(["stop p 20000", "forget p"]);
    expect(cluster.writes.slice(-2)).toEqual(["PATCH pods/default/p/status", "DELETE pods/default/p"]);
    const events = await cluster.eventsOn("Pod");
    expect(events.filter((event) => event.startsWith("Normal Killing"))).toEqual([
      "Normal Killing: Stopping container web",
      "Normal Killing: Stopping container side",
    ]);
  });

  it("with a shorter grace period shortens the one under way", async () => {
    processes.stopsAtOnce = false;
    await running();
    await remove();
    await remove(2);
    expect(processes.calls.slice(-2)).toEqual(["stop p 30000", "stop p 2000"]);
  });

  it("by force removes the object, and its processes are ended", async () => {
    await running();
    await remove(0);
    expect(await cluster.all(pods)).toEqual([]);
    expect(processes.calls.slice(-1)).toEqual(["forget p"]);
  });

  it("of a Pod that never ran", async () => {
    await cluster.create(pods, "p", labelled());
    await cluster.live(100);
    await remove();
    expect(await cluster.all(pods)).toEqual([]);
  });
});

describe("a node", () => {
  it("without power ends the processes of its Pods and writes nothing; with power they start again", async () => {
    await running();
    const before = cluster.writes.filter((write) => write.includes("pods/")).length;
    cluster.simulation.nodes.stop(NODE);
    await cluster.live(100);
    expect(processes.calls.slice(-1)).toEqual(["stop p 0"]);
    expect(await container()).toMatchObject({ state: { running: {} }, restartCount: 0 });
    expect(cluster.writes.filter((write) => write.includes("pods/"))).toHaveLength(before);
    cluster.simulation.nodes.start(NODE);
    await cluster.live(100);
    expect(processes.calls.slice(-1)).toEqual(["ensure p"]);
    expect(await container()).toMatchObject({
      state: { running: {} },
      lastState: { terminated: { exitCode: 137, reason: "Error" } },
      restartCount: 1,
      ready: true,
    });
  });

  it("that its object stops ends the processes of its Pods too", async () => {
    await running();
    const stopped = (value: string | null) =>
      cluster.patch(nodes, NODE, { metadata: { annotations: { "simulation.lattice.dev/stopped": value } } });
    await stopped("true");
    await cluster.live(100);
    expect(processes.calls.slice(-1)).toEqual(["stop p 0"]);
    await stopped(null);
    await cluster.live(100);
    expect(await container()).toMatchObject({ restartCount: 1, ready: true });
  });

  it("that is deleted ends the processes of its Pods", async () => {
    await running();
    expectOk(await cluster.client.delete(nodes, { name: NODE }));
    await cluster.live(100);
    expect(processes.calls).toContain("stop p 0");
  });
});

describe("a kubelet that starts again", () => {
  async function restart(): Promise<void> {
    await cluster.running.close();
    processes.calls.length = 0;
    const { client, clock } = cluster;
    const simulation = createSimulation({ podProcesses: processes });
    const options = { client, clock, random: seededRandom(1), logger: createLogger(() => undefined), controllers: [] };
    const again = expectOk(await startKubeControllers({ ...options, simulation: simulation.controllers }));
    cluster = {
      ...cluster,
      running: again,
      simulation,
      advance: (ms) => clock.advance(ms).then(() => again.idle()),
      live: (ms) => clock.advance(ms).then(() => again.idle()),
      end: async () => {
        await again.close();
        await client.close();
        return clock.pending;
      },
    };
    await again.idle();
  }

  it("adopts the processes, and leaves the status until their states are known", async () => {
    const uid = await running();
    const before = await read();
    processes.hidden = true;
    await restart();
    await cluster.live(100);
    expect([...processes.calls].toSorted()).toEqual(["ensure p", "retain p"]);
    expect((await read()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    processes.hidden = false;
    processes.tell(uid);
    await cluster.live(100);
    expect((await read()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect((await cluster.eventsOn("Pod")).filter((event) => event.startsWith("Normal Started"))).toHaveLength(1);
  });

  it("finishes a deletion that was under way", async () => {
    processes.stopsAtOnce = false;
    const uid = await running();
    await remove();
    await restart();
    expect([...processes.calls].toSorted()).toEqual(["retain p", "stop p 30000"]);
    processes.exit(uid, "web", 0);
    await cluster.live(100);
    expect(await cluster.all(pods)).toEqual([]);
  });

  it("ends the processes of Pods on a node that has no power, once they are known", async () => {
    const uid = await running();
    processes.hidden = true;
    await cluster.running.close();
    await restart();
    cluster.simulation.nodes.stop(NODE);
    await cluster.live(100);
    expect(processes.calls).not.toContain("stop p 0");
    processes.hidden = false;
    processes.tell(uid);
    await cluster.live(100);
    expect(processes.calls).toContain("stop p 0");
  });
});

test("a Pod that no longer runs as processes is simulated, and its processes end", async () => {
  await running();
  await cluster.patch(pods, "p", { metadata: { labels: { run: null } } });
  await cluster.live(100);
  expect(processes.calls.slice(-1)).toEqual(["forget p"]);
  expect((await read()).status?.phase).toBe("Running");
});

test("a Deployment scales its processes", async () => {
  const template = { metadata: { labels: PROCESS_LABELS }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  await cluster.create(deployments, "d", { spec: { replicas: 2, selector: { matchLabels: PROCESS_LABELS }, template } });
  await cluster.live(200);
  for (const { metadata } of await cluster.all(pods)) processes.run(metadata.uid ?? "", "web");
  await cluster.live(200);
  expect((await cluster.read(deployments, "d")).status).toMatchObject({ readyReplicas: 2 });
  await cluster.patch(deployments, "d", { spec: { replicas: 0 } });
  await cluster.live(200);
  expect(await cluster.all(pods)).toEqual([]);
  expect(processes.calls.filter((call) => call.startsWith("stop"))).toHaveLength(2);
});

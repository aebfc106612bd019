import { afterEach, describe, expect, it, test } from "vitest";
import { expectOk } from "#base";
import { pods, type Pod } from "#kube";
import { simulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from "../../../../test/builders/simulated-cluster.ts";
import { AddressPool } from "../address-pool.ts";
import { FaultList } from "../faults/fault.ts";
import { DEFAULT_SPEEDS } from "../options.ts";
import { backoffMs } from "./container-run.ts";
import { goDuration } from "./container-status.ts";
import { stepPod } from "./pod-run.ts";
import { phaseOf, podStatus } from "./pod-status.ts";
import { restorePod } from "./restore.ts";

let cluster: SimulatedCluster;
afterEach(async () => void (await cluster?.end()));

async function begin(spec: object, annotations?: Readonly<Record<string, string>>, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster(options);
  await cluster.create(pods, "p", {
    metadata: { labels: { app: "p" }, ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: "web", image: "web:1" }], ...spec },
  });
}

const P = "simulation.lattice.dev/";
const read = () => cluster.read(pods, "p");
const state = async (index = 0) => (await read()).status?.containerStatuses?.[index];
const ready = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === "Ready");

test("a Pod is Pending while its containers are created, then Running, with addresses and conditions", async () => {
  await begin({}, { [`${P}start-delay`]: "5s" });
  await cluster.live(100);
  const creating = await read();
  expect(creating.status).toMatchObject({
    phase: "Pending",
    hostIP: "172.18.0.2",
    podIP: "10.244.0.2",
    containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } }, ready: false, started: false }],
  });
  expect(ready(creating)).toMatchObject({
    status: "False",
    reason: "ContainersNotReady",
    message: "containers with unready status: [web]",
  });
  await cluster.live(6_000, 500);
  expect((await read()).status).toMatchObject({
    phase: "Running",
    containerStatuses: [{ state: { running: {} }, ready: true, started: true, restartCount: 0 }],
  });
  expect(ready(await read())).not.toHaveProperty("reason");
  expect(await cluster.eventsOn("Pod")).toEqual([
    "Normal Scheduled: Successfully assigned default/p to lattice-node-1",
    'Normal Pulled: Container image "web:1" already present on machine',
    "Normal Created: Container created",
    "Normal Started: Container started",
  ]);
});

test("init containers run one after the other, sidecars in parallel to what follows", async () => {
  const initContainers = [
    { name: "first", image: "i" },
    { name: "side", image: "s", restartPolicy: "Always" },
    { name: "second", image: "i" },
  ];
  await begin({ initContainers }, undefined, { simulation: { speeds: { initMs: 1_000 } } });
  await cluster.live(500);
  expect((await read()).status).toMatchObject({
    phase: "Pending",
    initContainerStatuses: [
      { state: { running: {} } },
      { state: { waiting: { reason: "PodInitializing" } } },
      { state: { waiting: { reason: "PodInitializing" } } },
    ],
  });
  expect((await read()).status?.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
    status: "False",
    reason: "ContainersNotInitialized",
    message: "containers with incomplete status: [first side second]",
  });
  await cluster.live(3_000, 100);
  expect((await read()).status).toMatchObject({
    phase: "Running",
    initContainerStatuses: [
      { state: { terminated: { exitCode: 0 } }, ready: true },
      { state: { running: {} }, started: true },
      { state: { terminated: {} } },
    ],
    containerStatuses: [{ ready: true }],
  });
});

test("a sidecar ends with the main containers", async () => {
  await begin({ restartPolicy: "Never", initContainers: [{ name: "side", image: "s", restartPolicy: "Always" }] });
  await cluster.live(500);
  expect((await read()).status).toMatchObject({ phase: "Succeeded", initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }] });
});

test("an init container that fails is restarted, or fails a Pod with restartPolicy Never", async () => {
  const faults = [{ kind: "exit", code: 1, on: { container: "first" } }] as const;
  await begin({ initContainers: [{ name: "first", image: "i" }] }, undefined, { simulation: { faults } });
  await cluster.create(pods, "q", {
    spec: { restartPolicy: "Never", initContainers: [{ name: "first", image: "i" }], containers: [{ name: "web", image: "w" }] },
  });
  await cluster.live(500);
  expect((await read()).status).toMatchObject({
    phase: "Pending",
    initContainerStatuses: [{ restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } }],
  });
  expect((await cluster.read(pods, "q")).status).toMatchObject({ phase: "Failed" });
});

test("probes delay readiness as long as their delays", async () => {
  const probe = (initialDelaySeconds: number) => ({ httpGet: { port: 80 }, initialDelaySeconds });
  await begin({ containers: [{ name: "web", image: "w", startupProbe: probe(2), readinessProbe: probe(5) }] });
  await cluster.live(1_000, 100);
  expect(await state()).toMatchObject({ started: false, ready: false });
  await cluster.live(2_000, 100);
  expect(await state()).toMatchObject({ started: true, ready: false });
  await cluster.live(3_000, 100);
  expect(await state()).toMatchObject({ started: true, ready: true });
});

test("a readiness gate keeps the Pod unready until its condition is true", async () => {
  await begin({ readinessGates: [{ conditionType: "test/gate" }] });
  await cluster.live(200);
  expect(ready(await read())).toMatchObject({
    reason: "ReadinessGatesNotReady",
    message: 'corresponding condition of pod readiness gate "test/gate" does not exist.',
  });
  const key = { namespace: "default", name: "p" };
  const open = (status: string) =>
    cluster.client.patch(
      pods,
      key,
      { type: "strategic", patch: { status: { conditions: [{ type: "test/gate", status }] } } },
      { subresource: "status" },
    );
  expectOk(await open("False"));
  await cluster.live(100);
  expect(ready(await read())?.message).toBe('the status of pod readiness gate "test/gate" is not "True", but False');
  expectOk(await open("True"));
  await cluster.live(100);
  expect(ready(await read())?.status).toBe("True");
});

test("an image that cannot be pulled: ErrImagePull, ImagePullBackOff, and repaired when the fault is lifted", async () => {
  await begin({});
  const fault = cluster.simulation.faults.add({ kind: "image-pull" });
  await cluster.live(30, 10);
  expect((await state())?.state?.waiting?.reason).toBe("ErrImagePull");
  await cluster.live(100);
  expect((await state())?.state?.waiting).toMatchObject({
    reason: "ImagePullBackOff",
    message: expect.stringMatching(/^Back-off pulling image "web:1": ErrImagePull: /) as string,
  });
  await cluster.live(10_000, 500);
  expect((await read()).status?.phase).toBe("Pending");
  fault.lift();
  await cluster.live(40_000, 1_000);
  expect((await read()).status?.phase).toBe("Running");
  expect(await cluster.eventsOn("Pod")).toContain("Warning Failed: Error: ImagePullBackOff");
});

test("a container that crashes restarts at once, then with a growing back-off", async () => {
  await begin({}, { [`${P}exit-code`]: "3", [`${P}exit-times`]: "3" });
  await cluster.live(200);
  expect(await state()).toMatchObject({
    restartCount: 1,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 3, reason: "Error" } },
  });
  expect((await state())?.state?.waiting?.message).toMatch(/^back-off 10s restarting failed container=web pod=p_default\([0-9a-f-]+\)$/);
  await cluster.live(11_000, 200);
  expect(await state()).toMatchObject({ restartCount: 2 });
  expect((await state())?.state?.waiting?.message).toContain("back-off 20s");
  await cluster.live(21_000, 500);
  expect(await state()).toMatchObject({ restartCount: 3, ready: true });
  expect(await cluster.eventsOn("Pod")).toContainEqual(
    expect.stringMatching(/^Warning BackOff: Back-off restarting failed container web in pod p_default/),
  );
});

test("a failing liveness probe kills and restarts the container", async () => {
  await begin(
    { containers: [{ name: "web", image: "w", livenessProbe: { httpGet: { port: 80 }, periodSeconds: 1 } }] },
    { [`${P}fail-probe`]: "liveness" },
  );
  await cluster.live(3_000, 100);
  expect(await state()).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 137 } } });
  expect(await cluster.eventsOn("Pod")).toContain("Normal Killing: Container web failed liveness probe, will be restarted");
});

test.each([
  { policy: "Never", code: 0, phase: "Succeeded" },
  { policy: "Never", code: 5, phase: "Failed" },
  { policy: "OnFailure", code: 0, phase: "Succeeded" },
])("with restartPolicy $policy an exit with $code is $phase", async ({ policy, code, phase }) => {
  await begin({ restartPolicy: policy }, { [`${P}exit-code`]: String(code) });
  await cluster.live(300);
  expect((await read()).status).toMatchObject({ phase, containerStatuses: [{ state: { terminated: { exitCode: code } } }] });
  const condition = phase === "Failed" ? "PodFailed" : "PodCompleted";
  expect(ready(await read())).toMatchObject({ status: "False", reason: condition });
});

test("a deleted Pod gets its grace period, a final status, and is removed; force skips the grace period", async () => {
  await begin({ terminationGracePeriodSeconds: 30 }, undefined, { simulation: { speeds: { stopMs: 5_000 } } });
  await cluster.live(200);
  expectOk(await cluster.client.delete(pods, { namespace: "default", name: "p" }));
  await cluster.live(4_000, 500);
  expect((await read()).status?.phase).toBe("Running");
  await cluster.live(2_000, 500);
  expect(await cluster.all(pods)).toEqual([]);
  expect(await cluster.eventsOn("Pod")).toContain("Normal Killing: Stopping container web");
});

test("a Pod that is deleted before it ran, and a finished one, are removed", async () => {
  await begin({ terminationGracePeriodSeconds: 1 }, { [`${P}start-delay`]: "1h" });
  await cluster.create(pods, "over", { spec: { restartPolicy: "Never", containers: [{ name: "web", image: "w" }] } });
  await cluster.live(300);
  for (const name of ["p", "over"]) expectOk(await cluster.client.delete(pods, { namespace: "default", name }));
  await cluster.live(2_000, 100);
  expect(await cluster.all(pods)).toEqual([]);
});

test("a Pod on the host network has the address of the host", async () => {
  await begin({ hostNetwork: true });
  await cluster.live(200);
  expect((await read()).status?.podIP).toBe("172.18.0.2");
});

describe("addresses", () => {
  it("are unique, released, and restored after a restart", () => {
    const pool = new AddressPool("10.244");
    pool.reserve("old", "10.244.0.3");
    pool.reserve("odd", "192.168.0.1");
    expect([pool.take("a"), pool.take("a"), pool.take("b"), pool.take("old")]).toEqual([
      "10.244.0.2",
      "10.244.0.2",
      "10.244.0.4",
      "10.244.0.3",
    ]);
    pool.release("a");
    pool.release("none");
    for (let index = 0; index < 65_529; index += 1) pool.take(`p${index}`);
    expect(pool.take("last")).toBe("10.244.0.2");
    expect(pool.take("too many")).toBe("10.244.255.253");
  });
});

describe("a Pod run that is restored from a status", () => {
  const circumstances = { faults: new FaultList(), speeds: DEFAULT_SPEEDS };
  const given = (status: NonNullable<Pod["status"]>): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "web" }] },
    status,
  });
  const container = (state: object, lastState: object = {}, restartCount = 0) => ({
    name: "web",
    state,
    lastState,
    restartCount,
    ready: false,
    image: "",
    imageID: "",
  });
  const ended = { terminated: { exitCode: 1, reason: "Error", startedAt: "2026-01-01T00:00:01Z", finishedAt: "2026-01-01T00:00:02Z" } };
  const now = Date.UTC(2026, 0, 1, 1);
  it.each([
    { name: "a new Pod", status: {}, want: ["Pending", undefined] },
    {
      name: "one that runs",
      status: {
        startTime: "2026-01-01T00:00:00Z",
        podIP: "10.244.9.9",
        containerStatuses: [container({ running: { startedAt: "2026-01-01T00:00:01Z" } }, ended, 2)],
      },
      want: ["Running", 2],
    },
    {
      name: "one that has ended",
      status: { startTime: "2026-01-01T00:00:00Z", containerStatuses: [container(ended, ended)] },
      want: ["Failed", 0],
    },
    {
      name: "one that backs off",
      status: { startTime: "2026-01-01T00:00:00Z", containerStatuses: [container({ waiting: {} }, ended, 1)] },
      want: ["Running", 1],
    },
    {
      name: "one that was being created",
      status: { startTime: "2026-01-01T00:00:00Z", containerStatuses: [container({ waiting: {} })] },
      want: ["Running", 0],
    },
  ])("$name", ({ status, want }) => {
    const pod = given(status);
    const { run } = stepPod(pod, restorePod(pod, { now, podIP: "10.244.0.2" }), circumstances, now);
    expect([phaseOf(pod, run), run.containers.get("web")?.stage === "creating" ? undefined : run.containers.get("web")?.restarts]).toEqual(
      want,
    );
    expect(podStatus({ pod, run, circumstances, hostIP: "h", now }, []).phase).toBe(want[0]);
  });
});

test("back-offs and their messages", () => {
  expect([1, 2, 3, 6, 99].map((times) => goDuration(backoffMs(times, DEFAULT_SPEEDS)))).toEqual(["10s", "20s", "40s", "5m0s", "5m0s"]);
  expect([goDuration(80_000), goDuration(3_661_000)]).toEqual(["1m20s", "1h1m1s"]);
});

describe("ephemeral containers", () => {
  const debug = (name: string) => ({ name, image: "busybox", targetContainerName: "web" });
  const attach = async (...names: readonly string[]) => {
    const patch = { spec: { ephemeralContainers: names.map(debug) } };
    const key = { namespace: "default", name: "p" };
    expectOk(await cluster.client.patch(pods, key, { type: "strategic", patch }, { subresource: "ephemeralcontainers" }));
    await cluster.live(200);
  };

  it("of kubectl debug run and have a status, beside containers that stay Ready", async () => {
    await begin({});
    await cluster.live(200);
    await attach("debugger");
    const { status } = await read();
    expect(status?.ephemeralContainerStatuses).toMatchObject([
      { name: "debugger", image: "busybox", state: { running: {} }, ready: false, restartCount: 0, lastState: {} },
    ]);
    expect(status?.ephemeralContainerStatuses?.[0]).not.toHaveProperty("started");
    expect([status?.phase, ready(await read())?.status]).toEqual(["Running", "True"]);
    await attach("debugger", "second");
    expect((await read()).status?.ephemeralContainerStatuses?.map(({ name, state }) => [name, Object.keys(state ?? {})])).toEqual([
      ["debugger", ["running"]],
      ["second", ["running"]],
    ]);
  });

  it("run in a Pod whose init container does not end, never restart, and end with the Pod", async () => {
    const faults = [{ kind: "exit", code: 3, on: { container: "second" } }] as const;
    const simulation = { faults, speeds: { initMs: 5_000, runMs: 1_000 } };
    await begin({ restartPolicy: "Never", initContainers: [{ name: "first", image: "i" }] }, undefined, { simulation });
    await cluster.live(200);
    await attach("debugger", "second");
    expect((await read()).status).toMatchObject({
      phase: "Pending",
      ephemeralContainerStatuses: [{ state: { running: {} } }, { state: { running: {} } }],
    });
    await cluster.live(10_000, 500);
    expect((await read()).status).toMatchObject({
      phase: "Succeeded",
      ephemeralContainerStatuses: [{ state: { terminated: {} } }, { state: { terminated: { exitCode: 3 } }, restartCount: 0 }],
    });
  });
});

import { afterEach, describe, expect, it, test } from "vitest";
import { deployments, horizontalPodAutoscalers, type Autoscaler, type Pod } from "#kube";
import {
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";
import { proposalsOf, quantityText } from "./metric-proposals.ts";
import { byUtilization, byValue } from "./replica-calculation.ts";
import { Stabiliser } from "./stabiliser.ts";

describe("replicas from usage", () => {
  const NOW = Date.UTC(2026, 0, 1, 1);
  type Given = {
    usage?: number;
    phase?: "Running" | "Pending" | "Failed";
    ready?: boolean;
    age?: number;
    request?: string;
    leaving?: boolean;
  };
  const pod = (name: string, { phase = "Running", ready = true, age = 3_600, request = "100m", leaving = false }: Given): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...(leaving ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { containers: [{ name: "web", resources: request === "" ? {} : { requests: { cpu: request } } }] },
    status: {
      phase,
      startTime: new Date(NOW - age * 1_000).toISOString(),
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: new Date(NOW - age * 1_000).toISOString() }],
    },
  });
  const question = (given: readonly Given[], replicas = given.length) => {
    const pods = given.map((one, index) => pod(`p${index}`, one));
    const metrics = { milliUsage: (one: Pod) => given[Number(one.metadata.name.slice(1))]?.usage };
    return { pods, metrics, resource: "cpu", replicas, tolerance: { down: 0.1, up: 0.1 }, now: NOW };
  };

  it.each<{ name: string; given: readonly Given[]; want: number }>([
    { name: "twice the target: twice as many", given: [{ usage: 100 }, { usage: 100 }], want: 4 },
    { name: "half the target: half as many", given: [{ usage: 25 }, { usage: 25 }], want: 1 },
    { name: "within the tolerance: as many", given: [{ usage: 54 }, { usage: 54 }], want: 2 },
    { name: "Pods that start count as idle when growing", given: [{ usage: 100 }, { usage: 900, ready: false, age: 60 }], want: 2 },
    { name: "Pods without metrics count as idle when growing", given: [{ usage: 150 }, { usage: 150 }, {}], want: 6 },
    { name: "Pods without metrics count as busy when shrinking", given: [{ usage: 10 }, { usage: 10 }, {}], want: 3 },
    {
      name: "Pods that leave or failed do not count",
      given: [{ usage: 100 }, { usage: 900, leaving: true }, { usage: 900, phase: "Failed" }],
      want: 2,
    },
    { name: "Pending Pods count as idle when growing", given: [{ usage: 100 }, { phase: "Pending" }], want: 2 },
  ])("$name", ({ given, want }) => expect(byUtilization(question(given), 50)).toMatchObject({ ok: true, value: { replicas: want } }));

  it.each<{ name: string; given: readonly Given[]; want: string }>([
    { name: "no Pods", given: [], want: "no pods returned by selector while calculating replica count" },
    { name: "no metrics", given: [{}], want: "unable to get metrics for resource cpu: no metrics returned from resource metrics API" },
    {
      name: "none that is ready",
      given: [{ usage: 10, ready: false, age: 60 }],
      want: "did not receive metrics for targeted pods (pods might be unready)",
    },
    { name: "no request", given: [{ usage: 10, request: "" }], want: "missing request for cpu in container web of Pod p0" },
    { name: "a request of nothing", given: [{ usage: 10, request: "0" }], want: "no metrics returned matched known pods" },
  ])("$name is reported", ({ given, want }) => expect(byUtilization(question(given), 50)).toEqual({ ok: false, error: want }));

  it("averageValue needs no requests, and can refer to a container", () => {
    expect(byValue(question([{ usage: 300, request: "" }]), 100)).toEqual({ ok: true, value: { replicas: 3, average: 300 } });
    expect(byValue(question([{ usage: 300 }, {}]), 100)).toMatchObject({ value: { replicas: 3 } });
    expect(byValue(question([]), 100).ok).toBe(false);
    expect(byUtilization({ ...question([{ usage: 10 }]), container: "other" }, 50)).toEqual({
      ok: false,
      error: "container other not found in Pod p0",
    });
  });

  it("one metric that cannot be read prevents scaling down, not up", () => {
    const spec = (utilization: number): Autoscaler => ({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web" },
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "web" },
        maxReplicas: 9,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: utilization } } },
          {
            type: "ContainerResource",
            containerResource: { name: "cpu", container: "web", target: { type: "AverageValue", averageValue: "1" } },
          },
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } },
          {
            type: "ContainerResource",
            containerResource: { name: "cpu", container: "x", target: { type: "Utilization", averageUtilization: 5 } },
          },
          { type: "Pods" },
          { type: "Dream" },
        ],
      },
    });
    const { resource: _resource, ...asked } = question([{ usage: 100 }, { usage: 100 }]);
    expect(proposalsOf(spec(50), asked)).toMatchObject({ replicas: 4, metric: "cpu resource utilization (percentage of request)" });
    const shrinking = proposalsOf(spec(500), asked);
    expect([shrinking.replicas, shrinking.unreadable.map(({ reason }) => reason)]).toEqual([
      undefined,
      ["FailedGetResourceMetric", "FailedGetContainerResourceMetric", "FailedGetPodsMetric", "InvalidMetricSourceType"],
    ]);
  });

  it("amounts are formatted as quantities", () => {
    expect([
      quantityText("cpu", 250),
      quantityText("cpu", 2_000),
      quantityText("memory", 104_857_600_000),
      quantityText("memory", 1_000),
      quantityText("memory", 0),
    ]).toEqual(["250m", "2", "100Mi", "1", "0"]);
    expect(quantityText("memory", 2 ** 60 * 1_000)).toBe("1Ei");
  });
});

describe("stabilisation", () => {
  const autoscaler = (behavior?: Autoscaler["spec"]["behavior"]): Autoscaler => ({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 20, ...(behavior === undefined ? {} : { behavior }) },
  });
  const bounds = (current: number, desired: number) => ({ current, desired, min: 2, max: 20 });
  const policies = (type: string, value: number) => [{ type, value, periodSeconds: 60 }];

  it("without behaviour: up at once but at most twice, down after five minutes", () => {
    const stabiliser = new Stabiliser();
    stabiliser.remember("a", 10, 0);
    expect(stabiliser.normalise("a", autoscaler(), bounds(10, 50), 0)).toMatchObject({
      replicas: 20,
      limited: { reason: "TooManyReplicas", status: "True" },
    });
    expect(stabiliser.normalise("b", autoscaler(), bounds(3, 15), 0)).toMatchObject({ replicas: 6, limited: { reason: "ScaleUpLimit" } });
    const quiet = new Stabiliser();
    quiet.remember("a", 10, 0);
    expect(quiet.normalise("a", autoscaler(), bounds(10, 4), 1_000)).toMatchObject({
      replicas: 10,
      able: { reason: "ScaleDownStabilized" },
    });
    expect(quiet.normalise("a", autoscaler(), bounds(10, 4), 300_001)).toMatchObject({
      replicas: 4,
      able: { reason: "ReadyForNewScale" },
      limited: { reason: "DesiredWithinRange" },
    });
    expect(quiet.normalise("a", autoscaler(), bounds(10, 1), 700_000)).toMatchObject({
      replicas: 2,
      limited: { reason: "TooFewReplicas" },
    });
  });

  it("with behaviour: windows and rates as specified", () => {
    const up = autoscaler({
      scaleUp: { stabilizationWindowSeconds: 60, policies: policies("Pods", 4) },
      scaleDown: { policies: policies("Percent", 50) },
    });
    const stabiliser = new Stabiliser();
    stabiliser.remember("a", 4, 0);
    expect(stabiliser.normalise("a", up, bounds(4, 12), 1_000)).toMatchObject({ replicas: 4, able: { reason: "ScaleUpStabilized" } });
    expect(stabiliser.normalise("a", up, bounds(4, 12), 61_000)).toMatchObject({ replicas: 8, limited: { reason: "ScaleUpLimit" } });
    stabiliser.scaled("a", 4, 8, 61_000);
    expect(stabiliser.normalise("a", up, bounds(8, 12), 90_000)).toMatchObject({ replicas: 8, limited: { reason: "ScaleUpLimit" } });
    expect(stabiliser.normalise("a", up, bounds(8, 12), 130_000)).toMatchObject({ replicas: 12 });
    stabiliser.forget("a");
    const down = autoscaler({
      scaleUp: { policies: policies("Percent", 10) },
      scaleDown: { stabilizationWindowSeconds: 0, policies: policies("Percent", 50) },
    });
    expect(stabiliser.normalise("a", down, bounds(12, 3), 0)).toMatchObject({ replicas: 6, limited: { reason: "ScaleDownLimit" } });
    stabiliser.scaled("a", 12, 6, 0);
    expect(stabiliser.normalise("a", down, bounds(6, 1), 61_000)).toMatchObject({ replicas: 3 });
    expect(stabiliser.normalise("b", down, bounds(3, 1), 0)).toMatchObject({ replicas: 2, limited: { reason: "TooFewReplicas" } });
    expect(stabiliser.normalise("c", down, bounds(20, 30), 0)).toMatchObject({ replicas: 20, limited: { reason: "TooManyReplicas" } });
  });

  it("selectPolicy can be Min or Disabled", () => {
    const two = [...policies("Pods", 1), ...policies("Percent", 100)];
    const rules = (selectPolicy: string) =>
      autoscaler({ scaleUp: { selectPolicy, policies: two }, scaleDown: { selectPolicy, stabilizationWindowSeconds: 0, policies: two } });
    const replicas = (selectPolicy: string, desired: number) =>
      new Stabiliser().normalise("a", rules(selectPolicy), bounds(5, desired), 0).replicas;
    expect([replicas("Min", 20), replicas("Max", 20), replicas("Disabled", 20)]).toEqual([6, 10, 5]);
    expect([replicas("Min", 2), replicas("Max", 2), replicas("Disabled", 2)]).toEqual([4, 2, 5]);
  });
});

let cluster: SimulatedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

async function begin(spec: object, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  cluster = await simulatedCluster(options);
  const container = { resources: { requests: { cpu: "100m", memory: "64Mi" } } };
  await cluster.create(deployments, "web", {
    spec: { replicas: 2, selector: SELECTOR, template: podTemplate("web:1", { container }) },
  });
  await cluster.live(200);
  const metrics = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }];
  await cluster.create(horizontalPodAutoscalers, "web", {
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, minReplicas: 2, maxReplicas: 6, metrics, ...spec },
  });
  await cluster.live(100);
  return cluster;
}

const reasons = async (world: SimulatedCluster) =>
  Object.fromEntries(
    ((await world.read(horizontalPodAutoscalers, "web")).status?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );

test("an autoscaler follows the usage of the Pods, up at once and down after five minutes", async () => {
  const world = await begin({});
  expect(await reasons(world)).toEqual({ AbleToScale: "True SucceededGetScale", ScalingActive: "False FailedGetResourceMetric" });
  world.simulation.usage.set({ selector: "app=web" }, { cpu: "100m" });
  await world.live(20_000, 1_000);
  expect((await world.read(deployments, "web")).spec.replicas).toBe(4);
  expect(await reasons(world)).toMatchObject({ ScalingActive: "True ValidMetricFound" });
  expect((await world.read(horizontalPodAutoscalers, "web")).status).toMatchObject({
    currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "100m" } } }],
    lastScaleTime: expect.any(String) as string,
  });
  expect(await world.eventsOn("HorizontalPodAutoscaler")).toContain(
    "Normal SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
  );
  await world.live(40_000, 1_000);
  expect((await world.read(deployments, "web")).spec.replicas).toBe(6);
  expect(await reasons(world)).toMatchObject({ ScalingLimited: "True TooManyReplicas" });
  world.simulation.usage.set({ namespace: "default" }, { cpu: "10m" });
  await world.live(200_000, 5_000);
  expect((await world.read(deployments, "web")).spec.replicas).toBe(6);
  expect(await reasons(world)).toMatchObject({ AbleToScale: "True ScaleDownStabilized" });
  await world.live(200_000, 5_000);
  expect((await world.read(deployments, "web")).spec.replicas).toBe(2);
});

test("a target outside its bounds is scaled into them, one at zero is not changed", async () => {
  const world = await begin({ minReplicas: 3 });
  expect((await world.read(deployments, "web")).spec.replicas).toBe(3);
  await world.patch(deployments, "web", { spec: { replicas: 9 } });
  await world.live(16_000, 1_000);
  expect((await world.read(deployments, "web")).spec.replicas).toBe(6);
  await world.patch(deployments, "web", { spec: { replicas: 0 } });
  await world.live(16_000, 1_000);
  expect(await reasons(world)).toMatchObject({ ScalingActive: "False ScalingDisabled" });
  expect((await world.eventsOn("HorizontalPodAutoscaler")).filter((text) => text.includes("Rescale"))).toEqual([
    "Normal SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas",
    "Normal SuccessfulRescale: New size: 6; reason: Current number of replicas above Spec.MaxReplicas",
  ]);
});

test.each([
  {
    name: "no such kind",
    ref: { apiVersion: "nowhere/v1", kind: "Dream", name: "web" },
    want: 'no matches for kind "Dream" in version "nowhere/v1"',
  },
  { name: "no such object", ref: { apiVersion: "apps/v1", kind: "Deployment", name: "other" }, want: 'deployments.apps "other" not found' },
  {
    name: "a kind that is not there",
    ref: { apiVersion: "apps/v1", kind: "Dream", name: "web" },
    want: 'no matches for kind "Dream" in version "apps/v1"',
  },
])("a target that cannot be read is reported: $name", async ({ ref, want }) => {
  const world = await begin({ scaleTargetRef: ref });
  const { conditions = [] } = (await world.read(horizontalPodAutoscalers, "web")).status ?? {};
  expect(conditions).toMatchObject([
    { type: "AbleToScale", status: "False", reason: "FailedGetScale", message: expect.stringContaining(want) as string },
  ]);
});

test("a scale that cannot be written is reported, and a custom tolerance is respected", async () => {
  const policies = [{ type: "Percent", value: 100, periodSeconds: 15 }];
  const world = await begin(
    { behavior: { scaleUp: { tolerance: "3", policies }, scaleDown: { policies } } },
    {
      between: (client) => ({
        ...client,
        update: (resource, object, call) =>
          call?.subresource === "scale"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.update(resource, object, call),
      }),
    },
  );
  world.simulation.usage.set({}, { cpu: "150m" });
  await world.live(20_000, 1_000);
  expect(await reasons(world)).toMatchObject({ AbleToScale: "True ReadyForNewScale" });
  world.simulation.usage.set({}, { cpu: "900m" });
  await world.live(20_000, 1_000);
  expect(await reasons(world)).toMatchObject({ AbleToScale: "False FailedUpdateScale" });
});

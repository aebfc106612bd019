import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { autoscalerFromV2, autoscalerToV2 } from "./autoscaler.ts";
import { eventFromCore, eventToCore } from "./event.ts";
import { conversionOf } from "./index.ts";

const TARGET = { kind: "Deployment", name: "web", apiVersion: "apps/v1" };
const head = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name: "b" } };

const METRICS = [
  { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "500Mi" } } },
  { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1k" } } },
  {
    type: "Object",
    object: { describedObject: { kind: "Service", name: "s" }, metric: { name: "m" }, target: { type: "Value", value: "10" } },
  },
  {
    type: "External",
    external: { metric: { name: "m", selector: { matchLabels: { a: "b" } } }, target: { type: "AverageValue", averageValue: "10" } },
  },
  { type: "ContainerResource", containerResource: { name: "cpu", container: "c", target: { type: "Utilization", averageUtilization: 5 } } },
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
];

const v2 = (spec: object, status: object = { desiredReplicas: 0, currentMetrics: null }) =>
  ({ ...head, spec: { scaleTargetRef: TARGET, minReplicas: 2, maxReplicas: 5, ...spec }, status }) as unknown as KubeObject;

describe("HorizontalPodAutoscaler", () => {
  it("shows its CPU target in v1, and the rest in annotations", () => {
    const shown = autoscalerFromV2(
      v2({
        metrics: [METRICS[0], METRICS[5]],
        behavior: {
          scaleDown: {
            stabilizationWindowSeconds: 60,
            selectPolicy: "Max",
            policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
          },
        },
      }),
    );
    expect(shown).toEqual({
      ...head,
      apiVersion: "autoscaling/v1",
      metadata: {
        name: "b",
        annotations: {
          "autoscaling.alpha.kubernetes.io/metrics": '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"500Mi"}}]',
          "autoscaling.alpha.kubernetes.io/behavior":
            '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}',
        },
      },
      spec: { scaleTargetRef: TARGET, minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    });
  });

  it("comes back from v1 as it was, whatever its metrics", () => {
    const stored = v2(
      { metrics: METRICS },
      {
        desiredReplicas: 2,
        currentReplicas: 1,
        conditions: [{ type: "AbleToScale", status: "True", lastTransitionTime: null }],
        currentMetrics: [
          { type: "Resource", resource: { name: "memory", current: { averageValue: "1Mi" } } },
          { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 7 } } },
        ],
      },
    );
    expect(autoscalerToV2(autoscalerFromV2(stored))).toEqual(stored);
  });

  it("gets the default metric when v1 names no target", () => {
    const v1 = { ...head, apiVersion: "autoscaling/v1", spec: { scaleTargetRef: TARGET, maxReplicas: 3 } } as unknown as KubeObject;
    expect(autoscalerToV2(v1)).toMatchObject({
      spec: { minReplicas: 1, metrics: [{ resource: { name: "cpu", target: { averageUtilization: 80 } } }] },
    });
  });

  it("takes annotations that are no JSON for no annotations, and leaves its own version alone", () => {
    const metadata = {
      name: "b",
      annotations: { "autoscaling.alpha.kubernetes.io/metrics": "{", "autoscaling.alpha.kubernetes.io/behavior": "1" },
    };
    const v1 = {
      ...head,
      apiVersion: "autoscaling/v1",
      metadata,
      spec: { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 9 },
    };
    expect(autoscalerToV2(v1 as unknown as KubeObject)).toMatchObject({ spec: { metrics: [{ type: "Resource" }] } });
    expect(autoscalerFromV2(v1 as unknown as KubeObject)).toBe(v1);
    const stored = v2({});
    expect(autoscalerToV2(stored)).toBe(stored);
  });

  it("takes behaviour from its annotation", () => {
    const stored = v2({
      metrics: [METRICS[5]],
      behavior: { scaleUp: { selectPolicy: "Min", policies: [{ type: "Pods", value: 1, periodSeconds: 5 }] } },
    });
    expect(autoscalerToV2(autoscalerFromV2(stored))).toMatchObject({
      spec: { behavior: { scaleUp: { selectPolicy: "Min", stabilizationWindowSeconds: 0 } } },
    });
  });
});

describe("Event", () => {
  const core = {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "x" },
    reason: "R",
    message: "m",
    source: { component: "c" },
    firstTimestamp: "2024-01-01T00:00:00Z",
    lastTimestamp: null,
    count: 2,
    eventTime: null,
    reportingComponent: "r",
    reportingInstance: "",
  };

  it("has other names in events.k8s.io", () => {
    expect(eventFromCore(core as unknown as KubeObject)).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      regarding: { name: "x" },
      note: "m",
      deprecatedSource: { component: "c" },
      deprecatedCount: 2,
      reportingController: "r",
    });
  });

  it("comes back as it was", () => {
    expect(eventToCore(eventFromCore(core as unknown as KubeObject))).toEqual(core);
    expect(eventToCore(core as unknown as KubeObject)).toBe(core);
  });
});

it("versions that differ in nothing but their name are renamed", () => {
  const { collection, fromStorage } = conversionOf({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    namespaced: true,
  });
  expect(collection).toBe("apps/deployments");
  expect(fromStorage({ apiVersion: "apps/v1beta1", kind: "Deployment", metadata: { name: "x" } }).apiVersion).toBe("apps/v1");
});

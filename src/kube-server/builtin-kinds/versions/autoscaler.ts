/**
 * HorizontalPodAutoscaler is stored as v2. v1 has a field for one metric, CPU utilisation; the others are converted to annotations and back.
 */
import { expectOk } from "#base";
import { field, isJsonObject, parseJson, type Json, type JsonObject, type KubeObject } from "#kube";
import { readGoValue } from "../codec/go-json.ts";
import { goTypeOf } from "../codec/go-types.ts";
import { withDefaults } from "../defaults/walk.ts";
import { asJson, at, childOf, listAt, numberAt, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";
import { behaviorFromGo, behaviorToGo, metricFromV1, metricToV1, statusFromV1, statusToV1 } from "./autoscaler-metrics.ts";

const V2 = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler";
const V1 = "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler";
const PREFIX = "autoscaling.alpha.kubernetes.io/";
const [METRICS, CURRENT, CONDITIONS, BEHAVIOR] = ["metrics", "current-metrics", "conditions", "behavior"].map((name) => PREFIX + name) as [
  string,
  string,
  string,
  string,
];

export function autoscalerFromV2(stored: KubeObject): KubeObject {
  if (stored.apiVersion === "autoscaling/v1") return stored;
  const [object, spec, status] = [asJson(stored), objectAt(stored, "spec") ?? {}, objectAt(stored, "status") ?? {}];
  const metrics = objectsAt(spec, "metrics");
  const cpu = metrics.find(isCpuUtilisation);
  const current = objectsAt(status, "currentMetrics");
  const currentCpu = current.find(
    (metric) => textAt(metric, "resource", "name") === "cpu" && numberAt(metric, "resource", "current", "averageUtilization") !== undefined,
  );
  const others = metrics.filter((metric) => metric !== cpu);
  const annotations = {
    ...objectAt(object, "metadata", "annotations"),
    ...textOf(METRICS, others.map(metricToV1)),
    // all of them, also the one that v1 has a field for
    ...textOf(CURRENT, current.map(statusToV1)),
    ...textOf(CONDITIONS, [...listAt(status, "conditions")]),
    ...(objectAt(spec, "behavior") === undefined ? {} : { [BEHAVIOR]: JSON.stringify(behaviorToGo(objectAt(spec, "behavior") ?? {})) }),
  };
  const converted: Draft = {
    ...without(object, "status"),
    apiVersion: "autoscaling/v1",
    metadata: { ...objectAt(object, "metadata"), annotations },
    spec: { ...without(spec, "metrics", "behavior"), targetCPUUtilizationPercentage: at(cpu, "resource", "target", "averageUtilization") },
    status: {
      ...without(status, "conditions", "currentMetrics"),
      currentCPUUtilizationPercentage: at(currentCpu, "resource", "current", "averageUtilization"),
    },
  };
  return asKind(V1, converted);
}

export function autoscalerToV2(object: KubeObject): KubeObject {
  if (object.apiVersion === "autoscaling/v2") return object;
  const [spec, status] = [objectAt(object, "spec") ?? {}, objectAt(object, "status") ?? {}];
  const annotations = objectAt(object, "metadata", "annotations") ?? {};
  const cpu = numberAt(spec, "targetCPUUtilizationPercentage");
  const metrics = listFrom(annotations, METRICS).map(metricFromV1);
  const behavior = valueFrom(annotations, BEHAVIOR);
  const conditions = listFrom(annotations, CONDITIONS);
  const currentCpu = numberAt(status, "currentCPUUtilizationPercentage");
  const current = listFrom(annotations, CURRENT).map(statusFromV1);
  const converted: Draft = {
    ...asJson(object),
    apiVersion: "autoscaling/v2",
    metadata: { ...objectAt(object, "metadata"), annotations: without(annotations, METRICS, CURRENT, CONDITIONS, BEHAVIOR) },
    spec: {
      ...without(spec, "targetCPUUtilizationPercentage"),
      metrics: cpu === undefined ? metrics : [...metrics, cpuMetric("target", { type: "Utilization", averageUtilization: cpu })],
      ...(isJsonObject(behavior) ? { behavior: behaviorFromGo(behavior) } : {}),
    },
    status: {
      ...without(status, "currentCPUUtilizationPercentage"),
      ...(conditions.length === 0 ? {} : { conditions }),
      currentMetrics:
        current.length > 0 ? current : currentCpu === undefined ? null : [cpuMetric("current", { averageUtilization: currentCpu })],
    },
  };
  return withDefaults(goTypeOf(V2), asKind(V2, converted));
}

const DEFAULT_CPU_PERCENT = 80;

/** A v1 autoscaler without metrics scales by CPU; Go sets this default during decoding. */
export function withCpuTarget(draft: Draft): void {
  const annotations = objectAt(draft, "metadata", "annotations") ?? {};
  const isSilent = numberAt(draft, "spec", "targetCPUUtilizationPercentage") === undefined && listFrom(annotations, METRICS).length === 0;
  if (draft["apiVersion"] === "autoscaling/v1" && isSilent) childOf(draft, "spec")["targetCPUUtilizationPercentage"] = DEFAULT_CPU_PERCENT;
}

function isCpuUtilisation(metric: JsonObject): boolean {
  return (
    metric["type"] === "Resource" &&
    textAt(metric, "resource", "name") === "cpu" &&
    at(metric, "resource", "target", "averageUtilization") !== undefined
  );
}

function cpuMetric(part: string, value: JsonObject): JsonObject {
  return { type: "Resource", resource: { name: "cpu", [part]: value } };
}

/** Both forms were checked when they came in; the type puts fields in order and drops what is empty. */
function asKind(definition: string, value: JsonObject): KubeObject {
  return expectOk(readGoValue(goTypeOf(definition), value)).value as unknown as KubeObject;
}

function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function textOf(name: string, list: readonly Json[]): JsonObject {
  return list.length === 0 ? {} : { [name]: JSON.stringify(list) };
}

/** Annotations are a client's text: what does not parse counts as not there. */
function valueFrom(annotations: JsonObject, name: string): Json | undefined {
  const text = field(annotations, name);
  const parsed = typeof text === "string" ? parseJson(text) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

function listFrom(annotations: JsonObject, name: string): readonly JsonObject[] {
  const list = valueFrom(annotations, name);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

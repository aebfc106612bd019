/** Metrics of a HorizontalPodAutoscaler in the flat form that v1's annotations use, and its behaviour under Go's own field names. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { at, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";

type Side = { readonly nested: "target" | "current"; readonly prefix: "target" | "current" };
const SPEC: Side = { nested: "target", prefix: "target" };
const STATUS: Side = { nested: "current", prefix: "current" };

export const metricToV1 = (metric: JsonObject): JsonObject => toV1(metric, SPEC);
export const statusToV1 = (metric: JsonObject): JsonObject => toV1(metric, STATUS);
export const metricFromV1 = (metric: JsonObject): JsonObject => fromV1(metric, SPEC);
export const statusFromV1 = (metric: JsonObject): JsonObject => fromV1(metric, STATUS);

const SOURCES = ["object", "pods", "resource", "containerResource", "external"] as const;

function toV1(metric: JsonObject, side: Side): JsonObject {
  const flat: Draft = { type: textAt(metric, "type") };
  for (const source of SOURCES) {
    const value = objectAt(metric, source);
    if (value !== undefined) flat[source] = defined(flatten(source, value, side));
  }
  return flat;
}

function flatten(source: (typeof SOURCES)[number], value: JsonObject, { nested, prefix }: Side): Draft {
  const amounts = objectAt(value, nested) ?? {};
  const utilisation = at(amounts, "averageUtilization");
  const average = at(amounts, "averageValue");
  const [name, selector] = [at(value, "metric", "name"), at(value, "metric", "selector")];
  const capital = (word: string) => `${prefix}${word}`;
  switch (source) {
    case "resource":
      return { name: at(value, "name"), [capital("AverageUtilization")]: utilisation, [capital("AverageValue")]: average };
    case "containerResource":
      return {
        name: at(value, "name"),
        [capital("AverageUtilization")]: utilisation,
        [capital("AverageValue")]: average,
        container: at(value, "container"),
      };
    case "pods":
      return { metricName: name, [capital("AverageValue")]: average, selector };
    case "external":
      return { metricName: name, metricSelector: selector, [capital("Value")]: at(amounts, "value"), [capital("AverageValue")]: average };
    case "object":
      return {
        target: at(value, "describedObject"),
        metricName: name,
        [capital("Value")]: at(amounts, "value") ?? "0",
        selector,
        averageValue: average,
      };
  }
}

function fromV1(metric: JsonObject, side: Side): JsonObject {
  const nested: Draft = { type: textAt(metric, "type") };
  for (const source of SOURCES) {
    const value = objectAt(metric, source);
    if (value !== undefined) nested[source] = defined(unflatten(source, value, side));
  }
  return nested;
}

function unflatten(source: (typeof SOURCES)[number], value: JsonObject, { nested, prefix }: Side): Draft {
  const averageUtilization = at(value, `${prefix}AverageUtilization`);
  const averageValue = at(value, `${prefix}AverageValue`) ?? at(value, "averageValue");
  const plain = averageValue === undefined ? at(value, `${prefix}Value`) : undefined;
  const type = averageUtilization !== undefined ? "Utilization" : averageValue !== undefined ? "AverageValue" : "Value";
  const amounts = defined({ ...(nested === "target" ? { type } : {}), value: plain, averageValue, averageUtilization });
  if (source === "resource") return { name: at(value, "name"), [nested]: amounts };
  if (source === "containerResource") return { name: at(value, "name"), container: at(value, "container"), [nested]: amounts };
  const metric = defined({ name: at(value, "metricName"), selector: at(value, source === "external" ? "metricSelector" : "selector") });
  return source === "object" ? { describedObject: at(value, "target"), metric, [nested]: amounts } : { metric, [nested]: amounts };
}

function defined(draft: Draft): JsonObject {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
}

/** The annotation is written by Go without tags: capital letters, and null for what is not set. */
export function behaviorToGo(behavior: JsonObject): JsonObject {
  return { ScaleUp: rulesToGo(objectAt(behavior, "scaleUp")), ScaleDown: rulesToGo(objectAt(behavior, "scaleDown")) };
}

function rulesToGo(rules: JsonObject | undefined): Json {
  if (rules === undefined) return null;
  return {
    StabilizationWindowSeconds: at(rules, "stabilizationWindowSeconds") ?? null,
    SelectPolicy: at(rules, "selectPolicy") ?? null,
    Policies: objectsAt(rules, "policies").map((policy) => ({
      Type: at(policy, "type") ?? "",
      Value: at(policy, "value") ?? 0,
      PeriodSeconds: at(policy, "periodSeconds") ?? 0,
    })),
    Tolerance: at(rules, "tolerance") ?? null,
  };
}

/** Go reads its own field names whatever their case. */
export function behaviorFromGo(value: JsonObject): JsonObject {
  return lowerFirst(value) as JsonObject;
}

function lowerFirst(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(lowerFirst);
  if (!isJsonObject(value)) return value ?? null;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([name, inner]) => [name.charAt(0).toLowerCase() + name.slice(1), lowerFirst(inner)]));
}

/** Computed defaults of what runs Pods, and of what scales it. */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { at, childOf, copyOf, type Draft, draftsAt, listAt, objectAt, setField, textAt } from "../draft.ts";

export function fillIn(draft: Draft, name: string, value: Json | undefined): void {
  if (value !== undefined && at(draft, name) === undefined) setField(draft, name, copyOf(value));
}

export function defaultController(controller: Draft): void {
  const labels = at(controller, "spec", "template", "metadata", "labels");
  if (!isJsonObject(labels)) return;
  const [spec, meta] = [childOf(controller, "spec"), childOf(controller, "metadata")];
  if (Object.keys(objectAt(spec, "selector") ?? {}).length === 0) spec["selector"] = copyOf(labels);
  if (Object.keys(objectAt(meta, "labels") ?? {}).length === 0) meta["labels"] = copyOf(labels);
}

export function defaultRollingUpdate(strategy: Draft): void {
  if (strategy["type"] === "RollingUpdate" && objectAt(strategy, "rollingUpdate") === undefined) strategy["rollingUpdate"] = {};
}

export function defaultStatefulSetStrategy(strategy: Draft): void {
  if (textAt(strategy, "type") === "") {
    strategy["type"] = "RollingUpdate";
    childOf(strategy, "rollingUpdate");
  }
  if (strategy["type"] !== "RollingUpdate" || objectAt(strategy, "rollingUpdate") === undefined) return;
  fillIn(childOf(strategy, "rollingUpdate"), "partition", 0);
}

/** Claims in a template say what they are. */
export function nameClaimTemplates(spec: Draft): void {
  for (const claim of draftsAt(spec, "volumeClaimTemplates")) {
    fillIn(claim, "kind", "PersistentVolumeClaim");
    fillIn(claim, "apiVersion", "v1");
  }
}

export function defaultJob(job: Draft): void {
  const spec = childOf(job, "spec");
  if (field(spec, "parallelism") === undefined) fillIn(spec, "completions", 1);
  fillIn(spec, "parallelism", 1);
  fillIn(spec, "backoffLimit", field(spec, "backoffLimitPerIndex") === undefined ? 6 : 2_147_483_647);
  const labels = at(spec, "template", "metadata", "labels");
  const meta = childOf(job, "metadata");
  // the same map and no copy, as in Go: what the Job writes into its template later, it writes here too
  if (isJsonObject(labels) && Object.keys(objectAt(meta, "labels") ?? {}).length === 0) meta["labels"] = labels;
  fillIn(spec, "completionMode", "NonIndexed");
  fillIn(spec, "suspend", false);
  fillIn(spec, "podReplacementPolicy", field(spec, "podFailurePolicy") === undefined ? "TerminatingOrFailed" : "Failed");
  fillIn(spec, "manualSelector", false);
}

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};

const SCALE_DOWN: JsonObject = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

const CPU_AT_80: Json = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } };

export function defaultAutoscaler(spec: Draft): void {
  if (listAt(spec, "metrics").length === 0) spec["metrics"] = [CPU_AT_80];
  if (objectAt(spec, "behavior") === undefined) return;
  const rules = childOf(spec, "behavior");
  rules["scaleUp"] = { ...SCALE_UP, ...objectAt(rules, "scaleUp") };
  rules["scaleDown"] = { ...SCALE_DOWN, ...objectAt(rules, "scaleDown") };
}

/** The row of a Pod: its status is derived from phase, reasons and container states, as in `kubectl get pods`. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { parseMilliseconds } from "../codec/go-time.ts";
import { at, isTrueAt, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import { ageOf, hasCondition, NONE, orNone, sinceText } from "./text.ts";

type Restarts = { count: number; last: string };
type State = { reason: string; ready: number; readonly restarts: Restarts; readonly sidecars: Restarts };

export function podCells(pod: KubeObject, now: number): readonly Json[] {
  const state: State = { reason: phaseOf(pod), ready: 0, restarts: { count: 0, last: "" }, sidecars: { count: 0, last: "" } };
  const initialising = readInitContainers(pod, state);
  const running = !initialising || hasCondition(pod, "Initialized");
  const restarts = running ? readContainers(pod, state) : state.restarts;
  const total = objectsAt(pod, "spec", "containers").length + objectsAt(pod, "spec", "initContainers").filter(isSidecar).length;
  const ago = restarts.count !== 0 && restarts.last !== "" ? ` (${sinceText(restarts.last, now)} ago)` : "";
  return [
    pod.metadata.name,
    `${state.ready}/${total}`,
    deletionReason(pod) ?? state.reason,
    `${restarts.count}${ago}`,
    ageOf(pod, now),
    orNone(textAt(objectsAt(pod, "status", "podIPs")[0], "ip")),
    orNone(textAt(pod, "spec", "nodeName")),
    orNone(textAt(pod, "status", "nominatedNodeName")),
    readinessGates(pod),
  ];
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ["Succeeded", "The pod has completed successfully."],
  ["Failed", "The pod failed."],
]);

/** Conditions by which `kubectl get` detects completed Pods. */
export function podRowConditions(pod: KubeObject): readonly Json[] {
  const reason = textAt(pod, "status", "phase");
  const message = ENDS.get(reason);
  return message === undefined ? [] : [{ type: "Completed", status: "True", reason, message }];
}

function phaseOf(pod: KubeObject): string {
  const gated = objectsAt(pod, "status", "conditions").some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");
  if (gated) return "SchedulingGated";
  return textAt(pod, "status", "reason") || textAt(pod, "status", "phase");
}

function isSidecar(container: JsonObject | undefined): boolean {
  return container?.["restartPolicy"] === "Always";
}

/** True while an init container blocks the Pod; its state is then that of the Pod. */
function readInitContainers(pod: KubeObject, state: State): boolean {
  const containers = new Map(objectsAt(pod, "spec", "initContainers").map((container) => [textAt(container, "name"), container]));
  for (const [index, status] of objectsAt(pod, "status", "initContainerStatuses").entries()) {
    const sidecar = isSidecar(containers.get(textAt(status, "name")));
    noteRestarts(state.restarts, status);
    if (sidecar) noteRestarts(state.sidecars, status);
    const terminated = objectAt(status, "state", "terminated");
    if (terminated !== undefined && (numberAt(terminated, "exitCode") ?? 0) === 0) continue;
    if (sidecar && isTrueAt(status, "started")) {
      if (isTrueAt(status, "ready")) state.ready += 1;
      continue;
    }
    const waiting = textAt(status, "state", "waiting", "reason");
    if (terminated !== undefined) state.reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") state.reason = `Init:${waiting}`;
    else state.reason = `Init:${index}/${containers.size}`;
    return true;
  }
  return false;
}

function terminatedReason(terminated: JsonObject): string {
  const signal = numberAt(terminated, "signal") ?? 0;
  return textAt(terminated, "reason") || (signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode") ?? 0}` : `Signal:${signal}`);
}

function noteRestarts(restarts: Restarts, status: JsonObject): void {
  restarts.count += numberAt(status, "restartCount") ?? 0;
  const finished = textAt(status, "lastState", "terminated", "finishedAt");
  if ((parseMilliseconds(finished) ?? -Infinity) > (parseMilliseconds(restarts.last) ?? -Infinity)) restarts.last = finished;
}

function readContainers(pod: KubeObject, state: State): Restarts {
  const restarts = { ...state.sidecars };
  let running = false;
  let failed = "";
  for (const status of objectsAt(pod, "status", "containerStatuses").toReversed()) {
    noteRestarts(restarts, status);
    const waiting = textAt(status, "state", "waiting", "reason");
    const terminated = objectAt(status, "state", "terminated");
    if (waiting !== "") state.reason = waiting;
    else if (terminated !== undefined) {
      state.reason = terminatedReason(terminated);
      if ((numberAt(terminated, "exitCode") ?? 0) !== 0) failed = state.reason;
    } else if (isTrueAt(status, "ready") && objectAt(status, "state", "running") !== undefined) {
      running = true;
      state.ready += 1;
    }
  }
  if (state.reason === "Completed") {
    if (running && hasCondition(pod, "Ready")) state.reason = "Running";
    else if (failed !== "") state.reason = failed;
    else if (running) state.reason = "NotReady";
  }
  return restarts;
}

function deletionReason(pod: KubeObject): string | undefined {
  if (at(pod, "metadata", "deletionTimestamp") === undefined) return undefined;
  if (textAt(pod, "status", "reason") === "NodeLost") return "Unknown";
  return ["Failed", "Succeeded"].includes(textAt(pod, "status", "phase")) ? undefined : "Terminating";
}

function readinessGates(pod: KubeObject): string {
  const gates = objectsAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return NONE;
  return `${gates.filter((gate) => hasCondition(pod, textAt(gate, "conditionType"))).length}/${gates.length}`;
}

/** When a step of the scenario has ended: every controller has seen the newest specs, and no condition will change without another cause. */
import { fieldAt, type KubeObject } from "#kube";
import type { ClusterApiRecorder } from "./recorder.ts";

/** Conditions of healthy objects, by status. Types that an object does not have are ignored. */
const TRUE = ["Available", "Ready", "UpToDate", "MachinesReady", "MachinesUpToDate", "Initialized", "NodeHealthy", "RemediationAllowed"];
const FALSE = ["RollingOut", "ScalingUp", "ScalingDown", "Remediating", "Deleting", "Paused"];
const CHECKED = [
  "Cluster",
  "KubeadmControlPlane",
  "MachineDeployment",
  "MachineSet",
  "Machine",
  "KubeadmConfig",
  "DevMachine",
  "MachineHealthCheck",
];

type Reported = { readonly type: string; readonly status: string };

const conditionsOf = (object: KubeObject): readonly Reported[] =>
  (fieldAt(object, "status", "conditions") ?? []) as unknown as readonly Reported[];

export function statusOfCondition(object: KubeObject, type: string): string | undefined {
  return conditionsOf(object).find((condition) => condition.type === type)?.status;
}

export function isSettled(recorder: Pick<ClusterApiRecorder, "all">, machines: number): boolean {
  const found = recorder.all("Machine");
  if (found.length !== machines || found.some((machine) => fieldAt(machine, "status", "phase") !== "Running")) return false;
  if (CHECKED.slice(0, 5).some((kind) => recorder.all(kind).length === 0)) return false;
  return (
    CHECKED.flatMap((kind) => recorder.all(kind)).every(isHealthy) && countsAgree(recorder, machines) && isChecked(recorder, machines - 1)
  );
}

function isHealthy(object: KubeObject): boolean {
  const conditions = conditionsOf(object);
  const isWrong = ({ type, status }: Reported) =>
    (TRUE.includes(type) && status !== "True") || (FALSE.includes(type) && status !== "False");
  if (conditions.length === 0 || conditions.some(isWrong)) return false;
  const observed = fieldAt(object, "status", "observedGeneration");
  return observed === undefined || observed === object.metadata.generation;
}

/** A health check has seen all workers. Real ones look every 15 seconds. */
function isChecked(recorder: Pick<ClusterApiRecorder, "all">, workers: number): boolean {
  const [check] = recorder.all("MachineHealthCheck");
  if (check === undefined) return true;
  const isKnown = ["expectedMachines", "currentHealthy"].every((field) => fieldAt(check, "status", field) === workers);
  const passed = recorder.all("Machine").filter((machine) => statusOfCondition(machine, "HealthCheckSucceeded") === "True");
  return isKnown && passed.length === workers && statusOfCondition(check, "RemediationAllowed") === "True";
}

/** The Cluster counts its machines last. */
function countsAgree(recorder: Pick<ClusterApiRecorder, "all">, machines: number): boolean {
  const [cluster] = recorder.all("Cluster");
  const of = (group: string) =>
    ["desiredReplicas", "replicas", "availableReplicas", "upToDateReplicas"].map((field) => fieldAt(cluster, "status", group, field));
  const [controlPlane, workers] = [of("controlPlane"), of("workers")];
  return controlPlane.every((count) => count === 1) && workers.every((count) => count === machines - 1);
}

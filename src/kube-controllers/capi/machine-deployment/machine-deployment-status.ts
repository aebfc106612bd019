/** The status of a MachineDeployment. */
import { fieldAt, isBeingDeleted, type JsonObject } from "#kube";
import { ownedBy } from "../../workloads/pods/owners.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, no, notPaused, yes, type ConditionDraft } from "../conditions.ts";
import { numberAt, objectAt, replicasOf, statusOf, versionsOf, type CapiObject } from "../objects.ts";
import { machinesReady, machinesUpToDate, remediating, rollingOut, scalingDown, scalingUp, selectorText } from "../scaling-conditions.ts";
import { resolveAmount } from "./rollout-plan.ts";

const COUNTS = ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] as const;

export function machineDeploymentStatus(work: CapiWork, deployment: CapiObject, sets: readonly CapiObject[]): JsonObject {
  const machines = sets.flatMap((set) => ownedBy(work.caches.of("machines"), set));
  const sum = (name: string) => sets.reduce((total, set) => total + (numberAt(set, "status", name) ?? 0), 0);
  const counts = new Map(COUNTS.map((name) => [name, sum(name)]));
  const current = counts.get("replicas") ?? 0;
  const desired = isBeingDeleted(deployment) ? 0 : replicasOf(deployment);
  const drafts = [
    availableCondition(deployment, counts.get("availableReplicas") ?? 0),
    rollingOut(machines),
    remediating(machines),
    scalingDown(current, desired),
    scalingUp(current, desired),
    machinesReady(machines),
    machinesUpToDate(machines),
    notPaused,
    deletingCondition(deployment, "Deleting", deletion(machines.length)),
  ];
  return {
    ...statusOf(deployment),
    observedGeneration: deployment.metadata.generation ?? 0,
    selector: selectorText(objectAt(deployment, "spec", "selector")),
    phase: phaseOf(deployment, current, desired),
    ...Object.fromEntries(counts),
    versions: versionsOf(machines),
    conditions: conditionsWith(deployment, drafts, nowOf(work)),
  };
}

function phaseOf(deployment: CapiObject, current: number, desired: number): string {
  if (isBeingDeleted(deployment) || desired < current) return "ScalingDown";
  return desired > current ? "ScalingUp" : "Running";
}

function availableCondition(deployment: CapiObject, available: number): ConditionDraft {
  const replicas = replicasOf(deployment);
  const setting = fieldAt(deployment, "spec", "rollout", "strategy", "rollingUpdate", "maxUnavailable");
  const required = replicas - Math.min(replicas, resolveAmount(setting, replicas, "down") ?? 0);
  if (available >= required) return yes("Available", "Available");
  if (isBeingDeleted(deployment)) return no("Available", "NotAvailable", "Deletion in progress");
  const detail =
    setting === undefined ? "" : ` (spec.strategy.rollout.maxUnavailable is ${JSON.stringify(setting)}, spec.replicas is ${replicas})`;
  return no("Available", "NotAvailable", `${available} available replicas, at least ${required} required${detail}`);
}

function deletion(machines: number): string {
  return machines === 0 ? "Deletion completed" : `Deleting ${machines} Machine${machines === 1 ? "" : "s"}`;
}

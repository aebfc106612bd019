/** Conditions and counts that MachineSets, MachineDeployments and control planes have in common. */
import type { JsonObject } from "#kube";
import { no, yes, type ConditionDraft } from "./conditions.ts";
import { aggregate } from "./merge-conditions.ts";
import { conditionOf, isFalse, isTrue, objectAt, type CapiObject } from "./objects.ts";

export function replicaCounts(machines: readonly CapiObject[]): JsonObject {
  const count = (type: string) => machines.filter((machine) => isTrue(machine, type)).length;
  return {
    replicas: machines.length,
    readyReplicas: count("Ready"),
    availableReplicas: count("Available"),
    upToDateReplicas: count("UpToDate"),
  };
}

/** `status.selector`, for the scale subresource. */
export function selectorText(selector: unknown): string {
  return Object.entries(objectAt(selector, "matchLabels"))
    .map(([key, value]) => (typeof value === "string" && value !== "" ? `${key}=${value}` : key))
    .toSorted()
    .join(",");
}

/** `blocked`: lines that begin with "* ". */
export function scalingUp(current: number, desired: number, blocked: readonly string[] = []): ConditionDraft {
  const type = "ScalingUp";
  if (current >= desired) return no(type, "NotScalingUp");
  return yes(type, "ScalingUp", `Scaling up from ${current} to ${desired} replicas${because(blocked)}`);
}

export function scalingDown(current: number, desired: number, blocked: readonly string[] = []): ConditionDraft {
  const type = "ScalingDown";
  if (current <= desired) return no(type, "NotScalingDown");
  return yes(type, "ScalingDown", `Scaling down from ${current} to ${desired} replicas${because(blocked)}`);
}

const because = (blocked: readonly string[]) => (blocked.length === 0 ? "" : ` is blocked because:\n${blocked.join("\n")}`);

export function machinesReady(objects: readonly CapiObject[]): ConditionDraft {
  const reasons = { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" };
  return aggregate({ type: "MachinesReady", of: "Ready", objects, reasons, empty: "NoReplicas" });
}

/** A new machine has no such condition yet and does not count. */
export function machinesUpToDate(machines: readonly CapiObject[]): ConditionDraft {
  const objects = machines.filter((machine) => conditionOf(machine, "UpToDate") !== undefined);
  const reasons = { issue: "NotUpToDate", unknown: "UpToDateUnknown", info: "UpToDate" };
  return aggregate({ type: "MachinesUpToDate", of: "UpToDate", objects, reasons, empty: "NoReplicas" });
}

export function remediating(machines: readonly CapiObject[]): ConditionDraft {
  const type = "Remediating";
  const objects = machines.filter((machine) => isFalse(machine, "OwnerRemediated"));
  if (objects.length > 0) {
    const reasons = { issue: "Remediating", unknown: "Remediating", info: "Remediating" };
    return yes(type, "Remediating", aggregate({ type, of: "OwnerRemediated", objects, reasons }).message);
  }
  const unhealthy = machines.filter((machine) => isFalse(machine, "HealthCheckSucceeded")).map(({ metadata }) => metadata.name);
  const message =
    unhealthy.length === 0
      ? ""
      : `Machine${unhealthy.length === 1 ? "" : "s"} ${unhealthy.toSorted().join(", ")} not healthy (not to be remediated)`;
  return no(type, "NotRemediating", message);
}

/** Machines whose template is not the desired one; a version change is named first. */
export function rollingOut(machines: readonly CapiObject[]): ConditionDraft {
  const type = "RollingOut";
  const stale = machines.filter((machine) => isFalse(machine, "UpToDate"));
  if (stale.length === 0) return no(type, "NotRollingOut");
  const lines = new Set(
    stale.flatMap((machine) => (conditionOf(machine, "UpToDate")?.message ?? "").split("\n")).filter((line) => line !== ""),
  );
  const rank = (line: string) => (line.startsWith("* Version") ? 0 : 1);
  const sorted = [...lines].toSorted((left, right) => rank(left) - rank(right) || left.localeCompare(right));
  return yes(type, "RollingOut", [`Rolling out ${stale.length} not up-to-date replicas`, ...sorted].join("\n"));
}

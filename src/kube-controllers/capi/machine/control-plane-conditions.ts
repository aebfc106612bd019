/**
 * The conditions of a control-plane machine about its static Pods and its etcd member. A simulated cluster has no such Pods: they are as healthy as
 * the Node.
 */
import { isBeingDeleted } from "#kube";
import { unknown, no, yes, type ConditionDraft } from "../conditions.ts";
import { conditionOf, isControlPlane, isTrue, nodeNameOf, providerIdOf, refAt, type CapiObject } from "../objects.ts";
import type { MachineParts } from "./machine-parts.ts";

const HEALTHY: readonly (readonly [type: string, reason: string])[] = [
  ["NodeKubeadmLabelsAndTaintsSet", "Set"],
  ["APIServerPodHealthy", "Running"],
  ["ControllerManagerPodHealthy", "Running"],
  ["SchedulerPodHealthy", "Running"],
  ["EtcdPodHealthy", "Running"],
  ["EtcdMemberHealthy", "Healthy"],
];

export const CONTROL_PLANE_GATES = HEALTHY.map(([type]) => type);

/** `isMember`: the control plane lets a member of etcd leave before it lets its machine go. */
export function controlPlaneConditions(machine: CapiObject, parts: MachineParts, isMember: boolean): readonly ConditionDraft[] {
  const { cluster, node, knowledge } = parts;
  if (!isControlPlane(machine)) return [];
  const all = (reason: string, message: string) => HEALTHY.map(([type]) => unknown(type, reason, message));
  if (!isTrue(cluster, "ControlPlaneInitialized")) return all("InspectionFailed", "Waiting for Cluster control plane to be initialized");
  if (knowledge === "unknown") {
    const known = HEALTHY.map(([type]) => conditionOf(machine, type));
    const isKnown = known.every((one) => one !== undefined) && conditionOf(machine, "NodeHealthy")?.reason !== "ConnectionDown";
    return isKnown ? known.filter((one) => one !== undefined) : all("ConnectionDown", "Remote connection not established yet");
  }
  if (isBeingDeleted(machine))
    return HEALTHY.map(([type, reason]) => deletingComponent(machine, { type, reason, hasNode: node !== undefined, isMember }));
  if (node === undefined) {
    const id = providerIdOf(machine);
    const kind = refAt(machine, "spec", "infrastructureRef")?.kind ?? "infrastructure";
    return all(
      "InspectionFailed",
      id === undefined ? `Waiting for ${kind} to report spec.providerID` : `Waiting for a Node with spec.providerID ${id} to exist`,
    );
  }
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  if (ready === "True") return HEALTHY.map(([type, reason]) => yes(type, reason));
  if (ready !== "False") return all("InspectionFailed", `Node ${node.metadata.name} is unreachable`);
  return HEALTHY.map(([type, reason]) =>
    reason === "Set" ? yes(type, reason) : no(type, reason === "Healthy" ? "NotHealthy" : "NotRunning", "Node is not ready"),
  );
}

type DeletingComponent = { readonly type: string; readonly reason: string; readonly hasNode: boolean; readonly isMember: boolean };

function deletingComponent(machine: CapiObject, { type, reason, hasNode, isMember }: DeletingComponent): ConditionDraft {
  if (reason === "Set" && hasNode) return yes(type, reason);
  if (reason === "Healthy" && !isMember)
    return no(type, "NotHealthy", `Etcd doesn't have an etcd member for Node ${nodeNameOf(machine) ?? machine.metadata.name}`);
  return no(type, "Deleting", "Machine is deleting");
}

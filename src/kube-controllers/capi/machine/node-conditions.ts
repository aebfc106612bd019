/** NodeReady and NodeHealthy of a Machine. A child that cannot be reached yields Unknown, never "the Node is gone". */
import { isBeingDeleted, keyOf, type Node } from "#kube";
import type { CapiWork } from "../capi-work.ts";
import { no, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { conditionOf, hasInfrastructure, isTrue, nodeNameOf, providerIdOf, refAt, type CapiObject } from "../objects.ts";
import type { MachineParts } from "./machine-parts.ts";

/** How long the last known conditions stay while the child cannot be reached. */
const GRACE_MS = 5 * 60_000;
const TYPES = ["NodeReady", "NodeHealthy"] as const;

const both = (make: (type: string) => ConditionDraft): readonly ConditionDraft[] => TYPES.map(make);

export function nodeConditions(work: CapiWork, machine: CapiObject, parts: MachineParts): readonly ConditionDraft[] {
  const { cluster, node, knowledge } = parts;
  const waiting = (message: string) => both((type) => unknown(type, "InspectionFailed", message));
  if (!hasInfrastructure(cluster)) return waiting("Waiting for Cluster status.initialization.infrastructureProvisioned to be true");
  if (!isTrue(cluster, "ControlPlaneInitialized")) return waiting("Waiting for Cluster control plane to be initialized");
  if (knowledge === "unknown") return disconnected(work, machine, cluster);
  if (node !== undefined) return [nodeReady(node), nodeHealthy(node)];
  const name = nodeNameOf(machine);
  if (isBeingDeleted(machine)) {
    return name === undefined
      ? both((type) => unknown(type, "NodeDoesNotExist", "Node does not exist"))
      : both((type) => no(type, "NodeDeleted", `Node ${name} has been deleted`));
  }
  if (name !== undefined) return both((type) => no(type, "NodeDeleted", `Node ${name} has been deleted while the Machine still exists`));
  const id = providerIdOf(machine);
  if (id !== undefined) return waiting(`Waiting for a Node with spec.providerID ${id} to exist`);
  return waiting(`Waiting for ${refAt(machine, "spec", "infrastructureRef")?.kind ?? "infrastructure"} to report spec.providerID`);
}

function disconnected(work: CapiWork, machine: CapiObject, cluster: CapiObject): readonly ConditionDraft[] {
  const last = work.children.view(keyOf(cluster))?.lastSuccess;
  const known = TYPES.map((type) => conditionOf(machine, type));
  // after a restart the last known conditions stay until the first probes have failed
  if (known.every((one) => one !== undefined) && (last === undefined || work.clock.now() - last <= GRACE_MS))
    return known.filter((one) => one !== undefined);
  const message =
    last === undefined ? "Remote connection not established yet" : `Last successful probe at ${new Date(last).toISOString().slice(0, 19)}Z`;
  return both((type) => unknown(type, "ConnectionDown", message));
}

function nodeReady(node: Node): ConditionDraft {
  const type = "NodeReady";
  const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
  if (ready === undefined) return unknown(type, "NodeReadyUnknown", "* Node.Ready: Condition not yet reported");
  if (ready.status === "True") return yes(type, "NodeReady");
  const message = ready.message === undefined || ready.message === "" ? "" : `* Node.Ready: ${ready.message}`;
  return ready.status === "False" ? no(type, "NodeNotReady", message) : unknown(type, "NodeReadyUnknown", message);
}

function nodeHealthy(node: Node): ConditionDraft {
  const checked = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => {
    const found = node.status?.conditions?.find((condition) => condition.type === type);
    const good = type === "Ready" ? "True" : "False";
    if (found === undefined) return { status: "Unknown", message: `* Node.${type}: Condition not yet reported` };
    if (found.status === good) return { status: "good", message: "" };
    return {
      status: found.status === "Unknown" ? "Unknown" : "bad",
      message: `* Node.${type}: ${found.message === undefined || found.message === "" ? `Condition is ${found.status}` : found.message}`,
    };
  });
  const message = checked
    .map((one) => one.message)
    .filter((one) => one !== "")
    .join("\n");
  if (checked.some(({ status }) => status === "bad")) return no("NodeHealthy", "NodeNotHealthy", message);
  if (checked.some(({ status }) => status === "Unknown")) return unknown("NodeHealthy", "NodeHealthyUnknown", message);
  return yes("NodeHealthy", "NodeHealthy");
}

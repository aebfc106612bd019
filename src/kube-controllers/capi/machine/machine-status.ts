/** The status of a Machine. The real controllers of control planes write some conditions of their machines; here all come from one place. */
import { capiMachineDeployments, capiMachineSets, isBeingDeleted, kubeadmControlPlanes, type JsonObject } from "#kube";
import { resolveController } from "../../workloads/pods/owners.ts";
import { isOlderThan, nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, no, notPaused, yes, type ConditionDraft } from "../conditions.ts";
import { requiredCondition, summarize } from "../merge-conditions.ts";
import { CONTROL_PLANE_HOOK } from "../names.ts";
import {
  conditionOf,
  flagAt,
  isTrue,
  listAt,
  nodeNameOf,
  numberAt,
  providerIdOf,
  refAt,
  statusOf,
  textAt,
  versionOf,
  type CapiObject,
} from "../objects.ts";
import { staleReasons, staleTemplate } from "../up-to-date.ts";
import { controlPlaneConditions } from "./control-plane-conditions.ts";
import type { MachineParts } from "./machine-parts.ts";
import { nodeConditions } from "./node-conditions.ts";

type Deleting = { readonly reason: string; readonly message: string };

export function machineStatus(
  work: CapiWork,
  machine: CapiObject,
  parts: MachineParts,
  fields: JsonObject,
  deleting?: Deleting,
): JsonObject {
  const merged: CapiObject = { ...machine, status: { ...statusOf(machine), ...fields } };
  const drafts = draftsOf(work, merged, parts, deleting);
  const phase = phaseOf(merged);
  const changed = textAt(machine, "status", "phase") !== phase;
  return {
    ...statusOf(merged),
    phase,
    ...(changed ? { lastUpdated: nowOf(work) } : {}),
    conditions: conditionsWith(merged, drafts, nowOf(work)),
  };
}

function phaseOf(machine: CapiObject): string {
  const initialization = (name: string) => flagAt(machine, "status", "initialization", name);
  if (isBeingDeleted(machine)) return "Deleting";
  if (nodeNameOf(machine) !== undefined && initialization("infrastructureProvisioned")) return "Running";
  if (providerIdOf(machine) !== undefined) return "Provisioned";
  return initialization("bootstrapDataSecretCreated") ? "Provisioning" : "Pending";
}

function draftsOf(work: CapiWork, machine: CapiObject, parts: MachineParts, deleting: Deleting | undefined): readonly ConditionDraft[] {
  const upToDate = upToDateCondition(work, machine);
  const drafts = [
    bootstrapReady(machine, parts),
    infrastructureReady(machine, parts),
    ...nodeConditions(work, machine, parts),
    ...controlPlaneConditions(machine, parts, isEtcdMember(work, machine)),
    no("Updating", "NotUpdating"),
    notPaused,
    deletingCondition(machine, deleting?.reason ?? "", deleting?.message ?? ""),
  ];
  const ready = readyCondition(machine, drafts);
  return [availableCondition(work, machine, ready), ready, ...(upToDate === undefined ? [] : [upToDate]), ...drafts];
}

/** Until the control plane removes its hook, or if the whole control plane goes. */
function isEtcdMember({ caches }: CapiWork, machine: CapiObject): boolean {
  const controlPlane = resolveController(caches.of("controlPlanes"), kubeadmControlPlanes, machine);
  return (
    controlPlane === undefined || isBeingDeleted(controlPlane) || Object.hasOwn(machine.metadata.annotations ?? {}, CONTROL_PLANE_HOOK)
  );
}

function bootstrapReady(machine: CapiObject, { config }: MachineParts): ConditionDraft {
  const type = "BootstrapConfigReady";
  const ref = refAt(machine, "spec", "bootstrap", "configRef");
  if (ref === undefined) return yes(type, "DataSecretProvided");
  const created = flagAt(machine, "status", "initialization", "bootstrapDataSecretCreated");
  if (config === undefined) {
    if (isBeingDeleted(machine) && created) return no(type, "ObjectDeleted", `${ref.kind} has been deleted`);
    return no(type, "DoesNotExist", `${ref.kind} does not exist`);
  }
  const mirrored = conditionOf(config, "Ready");
  if (mirrored !== undefined) return { ...mirrored, type };
  return created ? yes(type, "Ready") : no(type, "NotReady", `${ref.kind} status.initialization.dataSecretCreated is false`);
}

function infrastructureReady(machine: CapiObject, { infrastructure }: MachineParts): ConditionDraft {
  const type = "InfrastructureReady";
  const kind = refAt(machine, "spec", "infrastructureRef")?.kind ?? "Infrastructure";
  const provisioned = flagAt(machine, "status", "initialization", "infrastructureProvisioned");
  if (infrastructure === undefined) {
    if (!provisioned) return no(type, "DoesNotExist", `${kind} does not exist`);
    return no(type, "ObjectDeleted", `${kind} has been deleted${isBeingDeleted(machine) ? "" : " while the Machine still exists"}`);
  }
  const mirrored = conditionOf(infrastructure, "Ready");
  if (mirrored !== undefined) return { ...mirrored, type };
  return provisioned ? yes(type, "Ready") : no(type, "NotReady", `${kind} status.initialization.provisioned is false`);
}

/** Absent for machines that no control plane and no MachineDeployment owns. */
function upToDateCondition({ caches }: CapiWork, machine: CapiObject): ConditionDraft | undefined {
  const type = "UpToDate";
  const set = resolveController(caches.of("machineSets"), capiMachineSets, machine);
  const deployment = set === undefined ? undefined : resolveController(caches.of("machineDeployments"), capiMachineDeployments, set);
  const controlPlane = resolveController(caches.of("controlPlanes"), kubeadmControlPlanes, machine);
  if (controlPlane === undefined && (set === undefined || deployment === undefined)) return undefined;
  const stale = controlPlane === undefined ? staleTemplate(set, deployment) : staleReasons(caches, machine, controlPlane);
  if (stale.length > 0) return no(type, "NotUpToDate", stale.map((one) => `* ${one}`).join("\n"));
  const kubelet = textAt(machine, "status", "nodeInfo", "kubeletVersion");
  if (kubelet !== undefined && kubelet !== versionOf(machine)) {
    return no(type, "Updating", `* Node.status.nodeInfo.kubeletVersion ${kubelet}, ${versionOf(machine)} required`);
  }
  return yes(type, "UpToDate");
}

const GATES = ["Deleting", "Updating", "BootstrapConfigReady", "InfrastructureReady", "NodeHealthy", "HealthCheckSucceeded"];
const EXPECTED = new Set(["ObjectDeleted", "DoesNotExist", "NodeDeleted", "NodeDoesNotExist"]);

function readyCondition(machine: CapiObject, drafts: readonly ConditionDraft[]): ConditionDraft {
  const gates = listAt(machine, "spec", "readinessGates").flatMap((gate) => textAt(gate, "conditionType") ?? []);
  const isHere = (type: string) => type !== "HealthCheckSucceeded" || conditionOf(machine, type) !== undefined;
  const conditions = [...GATES, ...gates].filter(isHere).map((type) => requiredCondition(drafts, machine, type));
  const stages = conditions.map((one) =>
    one.type === "Deleting" && one.status === "True" ? { ...one, message: `Machine deletion in progress, stage: ${one.reason}` } : one,
  );
  return summarize({
    type: "Ready",
    conditions: stages,
    negative: ["Deleting", "Updating"],
    reasons: { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" },
    isInfo: ({ reason }) => isBeingDeleted(machine) && EXPECTED.has(reason),
  });
}

function availableCondition(work: CapiWork, machine: CapiObject, ready: ConditionDraft): ConditionDraft {
  const type = "Available";
  if (ready.status !== "True") return no(type, "NotReady");
  const waitMs = (numberAt(machine, "spec", "minReadySeconds") ?? 0) * 1_000;
  const known = conditionOf(machine, "Ready");
  const since = isTrue(machine, "Ready") ? known?.lastTransitionTime : nowOf(work);
  return isOlderThan(work, since, waitMs) || waitMs === 0 ? yes(type, "Available") : no(type, "WaitingForMinReadySeconds");
}

/** The status of a KubeadmControlPlane. */
import { isBeingDeleted, type JsonObject } from "#kube";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, no, notPaused, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { CLUSTER_LABEL, CONTROL_PLANE_LABEL } from "../names.ts";
import { conditionOf, isTrue, nodeNameOf, providerIdOf, replicasOf, statusOf, textAt, versionsOf, type CapiObject } from "../objects.ts";
import { aggregate } from "../merge-conditions.ts";
import { machinesReady, machinesUpToDate, remediating, replicaCounts, rollingOut, scalingDown, scalingUp } from "../scaling-conditions.ts";

/** What the control plane waits for before it creates machines. */
export type ControlPlaneStage = "infrastructure" | "endpoint" | "kubeconfig" | "machines";

export type ControlPlaneProgress = {
  readonly initialized: boolean;
  readonly stage: ControlPlaneStage;
  readonly blocked: readonly string[];
};

type StatusInput = ControlPlaneProgress & {
  readonly cluster: CapiObject;
  readonly machines: readonly CapiObject[];
  readonly deleting?: { readonly reason: string; readonly message: string };
};

const STAGE_MESSAGES: Readonly<Record<ControlPlaneStage, string>> = {
  infrastructure: "Waiting for Cluster status.infrastructureReady to be true",
  endpoint: "Waiting for Cluster spec.controlPlaneEndpoint to be set",
  kubeconfig: "Waiting for the kubeconfig Secret of the Cluster",
  machines: "",
};

export function controlPlaneStatus(work: CapiWork, controlPlane: CapiObject, input: StatusInput): JsonObject {
  const { machines, initialized, cluster } = input;
  const versions = versionsOf(machines);
  const lowest = textAt(versions[0], "version");
  return {
    ...statusOf(controlPlane),
    observedGeneration: controlPlane.metadata.generation ?? 0,
    selector: `${CLUSTER_LABEL}=${cluster.metadata.name},${CONTROL_PLANE_LABEL}`,
    ...replicaCounts(machines),
    ...(lowest === undefined ? {} : { version: lowest }),
    versions,
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    conditions: conditionsWith(controlPlane, draftsOf(controlPlane, input), nowOf(work)),
  };
}

function draftsOf(controlPlane: CapiObject, input: StatusInput): readonly ConditionDraft[] {
  const { machines, initialized, stage, blocked, deleting } = input;
  const desired = isBeingDeleted(controlPlane) ? 0 : replicasOf(controlPlane);
  const hasCertificates = stage !== "infrastructure" || isTrue(controlPlane, "CertificatesAvailable");
  const certificates = hasCertificates
    ? yes("CertificatesAvailable", "Available")
    : unknown("CertificatesAvailable", "InternalError", STAGE_MESSAGES[stage]);
  const waiting = STAGE_MESSAGES[stage] === "" ? blocked : [`* ${STAGE_MESSAGES[stage]}`];
  return [
    availableCondition(controlPlane, input, hasCertificates),
    certificates,
    initialized ? yes("Initialized", "Initialized") : no("Initialized", "NotInitialized"),
    ...(isBeingDeleted(controlPlane) && machines.length === 0 ? [] : componentsHealth(input)),
    rollingOut(machines),
    remediating(machines),
    scalingDown(machines.length, desired),
    scalingUp(machines.length, desired, waiting),
    machinesReady(machines),
    machinesUpToDate(machines),
    notPaused,
    deletingCondition(controlPlane, deleting?.reason ?? "", deleting?.message ?? ""),
  ];
}

/** Left as they are when the last machine is gone. */
const componentsHealth = (input: StatusInput): readonly ConditionDraft[] => [
  componentHealth("EtcdClusterHealthy", "EtcdMemberHealthy", input),
  componentHealth("ControlPlaneComponentsHealthy", "APIServerPodHealthy", input),
];

function componentHealth(type: string, of: string, { machines, initialized, stage }: StatusInput): ConditionDraft {
  if (STAGE_MESSAGES[stage] !== "") return unknown(type, "InspectionFailed", STAGE_MESSAGES[stage]);
  if (!initialized) return unknown(type, "InspectionFailed", "Waiting for Cluster control plane to be initialized");
  const reasons = { issue: "NotHealthy", unknown: "HealthUnknown", info: "Healthy" };
  // a machine without a provider id is being created: it has no components yet
  const objects = machines.filter((machine) => providerIdOf(machine) !== undefined && conditionOf(machine, of) !== undefined);
  if (objects.length === 0) return unknown(type, "InspectionFailed", "Waiting for the first control plane Machine");
  return aggregate({ type, of, objects, reasons });
}

function availableCondition(controlPlane: CapiObject, { machines, initialized }: StatusInput, hasCertificates: boolean): ConditionDraft {
  const type = "Available";
  if (!initialized) return no(type, "NotAvailable", "Control plane not yet initialized");
  // a machine becomes a member of etcd when it joins
  const members = machines.filter((machine) => nodeNameOf(machine) !== undefined);
  const healthy = members.filter((machine) => isTrue(machine, "EtcdMemberHealthy") && isTrue(machine, "APIServerPodHealthy")).length;
  const unknowns = members.filter((machine) => conditionOf(machine, "EtcdMemberHealthy")?.reason === "ConnectionDown").length;
  if (members.length > 0 && unknowns === members.length && !isBeingDeleted(controlPlane))
    return unknown(type, "InspectionFailed", "Failed to get etcd members");
  const quorum = Math.floor(members.length / 2) + 1;
  if (healthy >= quorum && hasCertificates && !isBeingDeleted(controlPlane))
    return yes(type, "Available", partial(healthy, members.length, quorum));
  const messages = [
    ...(isBeingDeleted(controlPlane) ? ["* Control plane metadata.deletionTimestamp is set"] : []),
    ...(hasCertificates ? [] : ["* Control plane certificates are not available"]),
    ...(healthy >= quorum ? [] : [etcdMessage(healthy, members.length, quorum)]),
    ...(healthy > 0 ? [] : ["* There are no Machines with healthy control plane components, at least 1 required"]),
  ];
  return no(type, "NotAvailable", messages.join("\n"));
}

function etcdMessage(healthy: number, members: number, quorum: number): string {
  const required = `at least ${quorum} healthy member required for etcd quorum`;
  if (healthy === 0) return `* There are no healthy etcd member, ${required}`;
  return `* ${healthy} of ${members} etcd members ${healthy === 1 ? "is" : "are"} healthy, ${required}`;
}

function partial(healthy: number, members: number, quorum: number): string {
  if (healthy === members) return "";
  const machines = `* ${healthy} of ${members} Machines ${healthy === 1 ? "has" : "have"} healthy control plane components, at least 1 required`;
  return `${etcdMessage(healthy, members, quorum)}\n${machines}`;
}

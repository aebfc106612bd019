/** The status of a KubeadmControlPlane. */
import { isBeingDeleted, type JsonObject } from "#kube";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, no, notPaused, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { CLUSTER_LABEL, CONTROL_PLANE_LABEL } from "../names.ts";
import { isTrue, replicasOf, statusOf, textAt, versionsOf, type CapiObject } from "../objects.ts";
import { machinesReady, machinesUpToDate, remediating, replicaCounts, rollingOut, scalingDown, scalingUp } from "../scaling-conditions.ts";
import { componentsHealth, controlPlaneAvailable, etcdHealth } from "./control-plane-health.ts";

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
    conditions: conditionsWith(controlPlane, draftsOf(work, controlPlane, input), nowOf(work)),
  };
}

function draftsOf(work: CapiWork, controlPlane: CapiObject, input: StatusInput): readonly ConditionDraft[] {
  const { machines, initialized, stage, blocked, deleting } = input;
  const desired = isBeingDeleted(controlPlane) ? 0 : replicasOf(controlPlane);
  const hasCertificates = stage !== "infrastructure" || isTrue(controlPlane, "CertificatesAvailable");
  const certificates = hasCertificates
    ? yes("CertificatesAvailable", "Available")
    : unknown("CertificatesAvailable", "InternalError", STAGE_MESSAGES[stage]);
  // the real control plane makes the kubeconfig itself, so it has no such message
  const waiting = stage === "kubeconfig" ? [`* ${STAGE_MESSAGES[stage]}`] : blocked;
  return [
    controlPlaneAvailable(work, controlPlane, { machines, initialized, hasCertificates }),
    certificates,
    initialized ? yes("Initialized", "Initialized") : no("Initialized", "NotInitialized"),
    ...healthConditions(input),
    rollingOut(machines),
    remediating(machines),
    scalingDown(machines.length, desired, blocked),
    scalingUp(machines.length, desired, waiting),
    machinesReady(machines),
    machinesUpToDate(machines),
    notPaused,
    deletingCondition(controlPlane, deleting?.reason ?? "", deleting?.message ?? ""),
  ];
}

/** Left as they are when the last machine is gone. */
function healthConditions({ machines, initialized, stage, deleting }: StatusInput): readonly ConditionDraft[] {
  if (deleting !== undefined && machines.length === 0) return [];
  if (initialized && STAGE_MESSAGES[stage] === "") return [etcdHealth(machines), componentsHealth(machines)];
  const message = STAGE_MESSAGES[stage] === "" ? "Waiting for Cluster control plane to be initialized" : STAGE_MESSAGES[stage];
  return ["EtcdClusterHealthy", "ControlPlaneComponentsHealthy"].map((type) => unknown(type, "InspectionFailed", message));
}

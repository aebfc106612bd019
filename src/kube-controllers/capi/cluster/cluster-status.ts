/** The status of a Cluster: phase, counts of machines, conditions. */
import { isBeingDeleted, keyOf, type JsonObject, type KubeObject } from "#kube";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, no, notPaused, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { aggregate, requiredCondition, summarize, type AggregateInput } from "../merge-conditions.ts";
import {
  conditionOf,
  flagAt,
  isControlPlane,
  isTrue,
  listAt,
  numberAt,
  refAt,
  replicasOf,
  statusOf,
  textAt,
  versionsOf,
  type CapiObject,
} from "../objects.ts";
import type { DeletingStage } from "./cluster-deletion.ts";

/** A probe may fail for this long before it is shown. */
const CONNECTION_GRACE_MS = 50_000;
/** A first connection is tried every two seconds; the real managers try every thirty, and show the fifth failure. */
const FIRST_FAILURES = 75;

export function clusterStatus(work: CapiWork, cluster: CapiObject, initialization: JsonObject, deleting?: DeletingStage): JsonObject {
  const parts = partsOf(work, cluster);
  const drafts = draftsOf(work, cluster, { ...parts, initialization }, deleting);
  return {
    ...statusOf(cluster),
    observedGeneration: cluster.metadata.generation ?? 0,
    phase: phaseOf(cluster, initialization),
    ...(Object.keys(initialization).length === 0 ? {} : { initialization }),
    controlPlane: controlPlaneReplicas(parts),
    workers: workerReplicas(parts),
    conditions: conditionsWith(cluster, drafts, nowOf(work)),
  };
}

type Parts = {
  readonly infrastructure: CapiObject | undefined;
  readonly controlPlane: CapiObject | undefined;
  readonly deployments: readonly CapiObject[];
  readonly controlPlaneMachines: readonly CapiObject[];
  readonly workers: readonly CapiObject[];
};

function partsOf({ caches }: CapiWork, cluster: CapiObject): Parts {
  const { namespace } = cluster.metadata;
  const machines = caches.inCluster("machines", keyOf(cluster));
  return {
    infrastructure: caches.resolve(namespace, refAt(cluster, "spec", "infrastructureRef")),
    controlPlane: caches.resolve(namespace, refAt(cluster, "spec", "controlPlaneRef")),
    deployments: caches.inCluster("machineDeployments", keyOf(cluster)),
    controlPlaneMachines: machines.filter(isControlPlane),
    workers: machines.filter((machine) => !isControlPlane(machine)),
  };
}

function phaseOf(cluster: CapiObject, initialization: JsonObject): string {
  if (isBeingDeleted(cluster)) return "Deleting";
  const hasEndpoint = textAt(cluster, "spec", "controlPlaneEndpoint", "host") !== undefined;
  if (flagAt(initialization, "infrastructureProvisioned") && hasEndpoint) return "Provisioned";
  const refs = [refAt(cluster, "spec", "infrastructureRef"), refAt(cluster, "spec", "controlPlaneRef")];
  return refs.some((ref) => ref !== undefined) ? "Provisioning" : "Pending";
}

const COUNTS = ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] as const;

function controlPlaneReplicas({ controlPlane }: Parts): JsonObject {
  if (controlPlane === undefined) return {};
  const counts = COUNTS.map((name) => [name, numberAt(controlPlane, "status", name) ?? 0] as const);
  return { desiredReplicas: replicasOf(controlPlane), ...Object.fromEntries(counts), versions: listAt(controlPlane, "status", "versions") };
}

function workerReplicas({ deployments, workers }: Parts): JsonObject {
  const sum = (of: (object: KubeObject) => number) => deployments.reduce((total, one) => total + of(one), 0);
  const counts = COUNTS.map((name) => [name, sum((one) => numberAt(one, "status", name) ?? 0)] as const);
  return { desiredReplicas: sum(replicasOf), ...Object.fromEntries(counts), versions: versionsOf(workers) };
}

type StatusParts = Parts & { readonly initialization: JsonObject };

function draftsOf(work: CapiWork, cluster: CapiObject, parts: StatusParts, deleting: DeletingStage | undefined): readonly ConditionDraft[] {
  const first = [
    remoteConnection(work, cluster),
    infrastructureReady(cluster, parts),
    controlPlaneInitialized(cluster, parts),
    controlPlaneAvailable(cluster, parts),
    workersAvailable(parts),
  ];
  const deletion = deletingCondition(cluster, deleting?.reason ?? "", deleting?.message ?? "");
  return [available(cluster, [deletion, ...first]), ...first, ...progress(parts), ...machineConditions(parts), notPaused, deletion];
}

function remoteConnection(work: CapiWork, cluster: CapiObject): ConditionDraft {
  const type = "RemoteConnectionProbe";
  const child = work.children.view(keyOf(cluster));
  const known = conditionOf(cluster, type);
  const since = child?.lastSuccess;
  if (since === undefined && (child?.failures ?? 0) < FIRST_FAILURES) {
    return known ?? no(type, "ProbeFailed", "Remote connection not established yet");
  }
  if (since !== undefined && work.clock.now() - since <= CONNECTION_GRACE_MS) return yes(type, "ProbeSucceeded");
  const message =
    since === undefined
      ? "Remote connection probe failed"
      : `Remote connection probe failed, probe last succeeded at ${new Date(since).toISOString().slice(0, 19)}Z`;
  return no(type, "ProbeFailed", message);
}

function infrastructureReady(cluster: CapiObject, { infrastructure, initialization }: StatusParts): ConditionDraft {
  const type = "InfrastructureReady";
  const kind = refAt(cluster, "spec", "infrastructureRef")?.kind ?? "Infrastructure";
  const provisioned = flagAt(initialization, "infrastructureProvisioned");
  if (infrastructure !== undefined) {
    const mirrored = conditionOf(infrastructure, "Ready");
    if (mirrored !== undefined) return { ...mirrored, type };
    return provisioned ? yes(type, "Ready") : no(type, "NotReady", `${kind} status.initialization.provisioned is false`);
  }
  return no(type, ...absence(cluster, kind, provisioned));
}

function absence(cluster: CapiObject, kind: string, existed: boolean): readonly [string, string] {
  if (!existed) return ["DoesNotExist", `${kind} does not exist`];
  return ["ObjectDeleted", `${kind} has been deleted${isBeingDeleted(cluster) ? "" : " while the cluster still exists"}`];
}

function controlPlaneInitialized(cluster: CapiObject, { controlPlane, initialization }: StatusParts): ConditionDraft {
  const type = "ControlPlaneInitialized";
  if (isTrue(cluster, type) || flagAt(initialization, "controlPlaneInitialized")) return yes(type, "Initialized");
  const kind = refAt(cluster, "spec", "controlPlaneRef")?.kind ?? "Control plane";
  if (controlPlane === undefined) return unknown(type, "DoesNotExist", `${kind} does not exist`);
  return no(type, "NotInitialized", "Control plane not yet initialized");
}

function controlPlaneAvailable(cluster: CapiObject, { controlPlane, initialization }: StatusParts): ConditionDraft {
  const type = "ControlPlaneAvailable";
  const kind = refAt(cluster, "spec", "controlPlaneRef")?.kind ?? "Control plane";
  const initialized = flagAt(initialization, "controlPlaneInitialized");
  if (controlPlane === undefined) return no(type, ...absence(cluster, kind, initialized));
  const mirrored = conditionOf(controlPlane, "Available");
  if (mirrored !== undefined) return { ...mirrored, type };
  return initialized ? yes(type, "Available") : no(type, "NotAvailable", `${kind} status.initialization.controlPlaneInitialized is false`);
}

function workersAvailable({ deployments: objects }: Parts): ConditionDraft {
  const reasons = { issue: "NotAvailable", unknown: "AvailableUnknown", info: "Available" };
  return aggregate({ type: "WorkersAvailable", of: "Available", objects, reasons, empty: "NoWorkers" });
}

function progress({ controlPlane, deployments, controlPlaneMachines, workers }: Parts): readonly ConditionDraft[] {
  const objects = [...(controlPlane === undefined ? [] : [controlPlane]), ...deployments];
  const owners = (type: string): ConditionDraft =>
    aggregate({ type, of: type, objects, negative: true, reasons: { issue: type, unknown: `${type}Unknown`, info: `Not${type}` } });
  const remediated = [...controlPlaneMachines, ...workers].filter((machine) => conditionOf(machine, "OwnerRemediated")?.status === "False");
  const remediating: AggregateInput = {
    type: "Remediating",
    of: "OwnerRemediated",
    objects: remediated,
    reasons: { issue: "Remediating", unknown: "Remediating", info: "NotRemediating" },
  };
  const remediation =
    remediated.length === 0 ? no("Remediating", "NotRemediating") : yes("Remediating", "Remediating", aggregate(remediating).message);
  return [owners("RollingOut"), remediation, owners("ScalingDown"), owners("ScalingUp")];
}

function machineConditions({ controlPlaneMachines, workers }: Parts): readonly ConditionDraft[] {
  const ready = { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" };
  const upToDate = { issue: "NotUpToDate", unknown: "UpToDateUnknown", info: "UpToDate" };
  const reported = (machines: readonly CapiObject[]) => machines.filter((machine) => conditionOf(machine, "UpToDate") !== undefined);
  const of = (type: string, source: string, objects: readonly CapiObject[], reasons: AggregateInput["reasons"]) =>
    aggregate({ type, of: source, objects, reasons, empty: "NoReplicas" });
  return [
    of("ControlPlaneMachinesReady", "Ready", controlPlaneMachines, ready),
    of("WorkerMachinesReady", "Ready", workers, ready),
    of("ControlPlaneMachinesUpToDate", "UpToDate", reported(controlPlaneMachines), upToDate),
    of("WorkerMachinesUpToDate", "UpToDate", reported(workers), upToDate),
  ];
}

const GATES = ["Deleting", "RemoteConnectionProbe", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"];

function available(cluster: CapiObject, drafts: readonly ConditionDraft[]): ConditionDraft {
  const gates = listAt(cluster, "spec", "availabilityGates");
  const types = [...GATES, ...gates.flatMap((gate) => textAt(gate, "conditionType") ?? [])];
  const negative = gates.filter((gate) => textAt(gate, "polarity") === "Negative").flatMap((gate) => textAt(gate, "conditionType") ?? []);
  return summarize({
    type: "Available",
    conditions: types.map((type) => requiredCondition(drafts, cluster, type)),
    negative: ["Deleting", ...negative],
    reasons: { issue: "NotAvailable", unknown: "AvailableUnknown", info: "Available" },
    isInfo: ({ type, reason }) =>
      isBeingDeleted(cluster) && GATES.slice(2).includes(type) && ["ObjectDeleted", "DoesNotExist"].includes(reason),
  });
}

/** KubeadmControlPlanes: certificates, kubeconfig, and control-plane machines one at a time. */
import { ok, type Result } from "#base";
import { capiMachines, configMaps, fieldAt, isBeingDeleted, keyOf, kubeadmControlPlanes, type JsonObject } from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { isControlledBy } from "../../workloads/pods/owners.ts";
import { adoptTemplates } from "../adopt-templates.ts";
import { recordEvent, type CapiWork } from "../capi-work.ts";
import { cloneMachine } from "../clone-machine.ts";
import {
  CLUSTER_LABEL,
  CONTROL_PLANE_FINALIZER,
  CONTROL_PLANE_HOOK,
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_NAME_LABEL,
  DELETE_MACHINE_ANNOTATION,
} from "../names.ts";
import {
  byAge,
  conditionOf,
  flagAt,
  hasInfrastructure,
  hasOwner,
  isControlPlane,
  isLive,
  isTrue,
  nodeNameOf,
  numberAt,
  objectAt,
  providerIdOf,
  replicasOf,
  textAt,
  textMap,
  type CapiObject,
} from "../objects.ts";
import { CONTROL_PLANE_GATES } from "../machine/control-plane-conditions.ts";
import { staleReasons } from "../up-to-date.ts";
import { deleteObject, ensureMetadata, finishDeletion, patchObject, writeStatus } from "../writes.ts";
import { ensureCertificates, ensureKubeconfig } from "./certificates.ts";
import { planControlPlane, type ControlPlaneMachine, type ControlPlaneStep } from "./control-plane-plan.ts";
import { controlPlaneStatus, type ControlPlaneProgress } from "./control-plane-status.ts";

const RETRY_MS = 5_000;

export async function controlPlanePass(work: CapiWork, controlPlane: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  // the Cluster adopts its control plane first
  if (cluster === undefined || !hasOwner(controlPlane, cluster)) return done;
  const released = await releaseHooks(work, controlPlane);
  if (!released.ok) return passOf(released);
  if (isBeingDeleted(controlPlane)) return remove(work, controlPlane, cluster);
  const marked = await ensureMetadata(work.client, kubeadmControlPlanes, controlPlane, { finalizer: CONTROL_PLANE_FINALIZER });
  if (!marked.ok) return passOf(marked);
  const adopted = await adoptTemplates(work, cluster, objectAt(marked.value, "spec", "machineTemplate", "spec"));
  const progressed = await progress(work, marked.value, cluster);
  if (!progressed.ok) return passOf(progressed);
  const machines = machinesOf(work, marked.value);
  const status = controlPlaneStatus(work, marked.value, { cluster, machines, ...progressed.value });
  const written = await writeStatus(work.client, kubeadmControlPlanes, marked.value, status);
  return worstPass([adopted, passOf(written), progressed.value.initialized ? done : again(RETRY_MS)]);
}

const machinesOf = (work: CapiWork, controlPlane: CapiObject) =>
  work.caches
    .of("machines")
    .list(controlPlane.metadata.namespace)
    .filter((machine) => isControlledBy(machine, controlPlane))
    .toSorted(byAge);

async function progress(work: CapiWork, controlPlane: CapiObject, cluster: CapiObject): Promise<Result<ControlPlaneProgress, KubeError>> {
  const initialized = await isControlPlaneInitialized(work, controlPlane, cluster);
  if (!hasInfrastructure(cluster)) return ok({ initialized, stage: "infrastructure", blocked: [] });
  const certificates = await ensureCertificates(work, cluster, controlPlane);
  if (!certificates.ok) return certificates;
  if (textAt(cluster, "spec", "controlPlaneEndpoint", "host") === undefined) return ok({ initialized, stage: "endpoint", blocked: [] });
  const kubeconfig = await ensureKubeconfig(work, cluster, controlPlane);
  if (!kubeconfig.ok) return kubeconfig;
  if (!kubeconfig.value) return ok({ initialized, stage: "kubeconfig", blocked: [] });
  const step = await nextStep(work, controlPlane, { cluster, initialized });
  return step.ok ? ok({ initialized, stage: "machines", blocked: step.value.kind === "wait" ? step.value.messages : [] }) : step;
}

/** As the real one: kubeadm's ConfigMap exists in the child. A control-plane Node proves the same, for children that were not made by kubeadm. */
async function isControlPlaneInitialized(work: CapiWork, controlPlane: CapiObject, cluster: CapiObject): Promise<boolean> {
  if (flagAt(controlPlane, "status", "initialization", "controlPlaneInitialized")) return true;
  const child = work.children.view(keyOf(cluster));
  const machines = machinesOf(work, controlPlane).filter(isLive);
  if (child === undefined || !child.connected || machines.length === 0) return false;
  const ids = machines.flatMap((machine) => providerIdOf(machine) ?? []);
  if (ids.some((id) => child.nodeByProviderId(id) !== undefined)) return true;
  return (await child.client.get(configMaps, { namespace: "kube-system", name: "kubeadm-config" })).ok;
}

type StepInput = { readonly cluster: CapiObject; readonly initialized: boolean };

async function nextStep(
  work: CapiWork,
  controlPlane: CapiObject,
  { cluster, initialized }: StepInput,
): Promise<Result<ControlPlaneStep, KubeError>> {
  const listed = await listMachines(work, controlPlane);
  if (!listed.ok) return listed;
  const machines = listed.value;
  const step = planControlPlane({
    desired: replicasOf(controlPlane),
    maxSurge: Number(fieldAt(controlPlane, "spec", "rollout", "strategy", "rollingUpdate", "maxSurge") ?? 1),
    initialized,
    machines: machines.map((machine) => viewOf(work, machine, controlPlane)),
  });
  if (step.kind === "create") {
    const created = await cloneMachine(work, draftOf(work, controlPlane, { cluster, machines, as: step.as }));
    return created.ok ? ok(created.value ? step : { kind: "wait", messages: [missingTemplate(controlPlane)] }) : created;
  }
  if (step.kind !== "delete") return ok(step);
  const victim = machines.find(({ metadata }) => metadata.name === step.name);
  if (victim === undefined) return ok(step);
  recordEvent(work, controlPlane, "SuccessfulDelete", `Deleting Machine ${step.name} (${step.why})`);
  const deleted = await deleteObject(work.client, capiMachines, victim);
  return deleted.ok ? ok(step) : deleted;
}

const missingTemplate = (controlPlane: CapiObject) =>
  `* ${textAt(controlPlane, "spec", "machineTemplate", "spec", "infrastructureRef", "kind") ?? "The template"} does not exist`;

/** From the server: the cache may lack the machine that the last pass created. */
async function listMachines(work: CapiWork, controlPlane: CapiObject): Promise<Result<readonly CapiObject[], KubeError>> {
  const { namespace, name } = controlPlane.metadata;
  const listed = await work.client.list<CapiObject>(capiMachines, { namespace, labelSelector: `${CONTROL_PLANE_NAME_LABEL}=${name}` });
  return listed.ok ? ok(listed.value.items.filter((machine) => isControlledBy(machine, controlPlane)).toSorted(byAge)) : listed;
}

function viewOf(work: CapiWork, machine: CapiObject, controlPlane: CapiObject): ControlPlaneMachine {
  return {
    name: machine.metadata.name,
    isDeleting: isBeingDeleted(machine),
    isUpToDate: staleReasons(work.caches, machine, controlPlane).length === 0,
    isHealthy: nodeNameOf(machine) !== undefined && CONTROL_PLANE_GATES.every((type) => isTrue(machine, type)),
    mustRemediate:
      conditionOf(machine, "HealthCheckSucceeded")?.status === "False" && conditionOf(machine, "OwnerRemediated")?.status === "False",
    isMarked: Object.hasOwn(machine.metadata.annotations ?? {}, DELETE_MACHINE_ANNOTATION),
  };
}

type DraftInput = { readonly cluster: CapiObject; readonly machines: readonly CapiObject[]; readonly as: "init" | "join" };

function draftOf(work: CapiWork, controlPlane: CapiObject, { cluster, machines, as }: DraftInput) {
  const template = objectAt(controlPlane, "spec", "machineTemplate");
  const gates = CONTROL_PLANE_GATES.map((conditionType) => ({ conditionType }));
  return {
    owner: controlPlane,
    labels: {
      ...textMap(objectAt(template, "metadata", "labels")),
      [CLUSTER_LABEL]: cluster.metadata.name,
      [CONTROL_PLANE_LABEL]: "",
      [CONTROL_PLANE_NAME_LABEL]: controlPlane.metadata.name,
    },
    annotations: textMap(objectAt(template, "metadata", "annotations")),
    hooks: { [CONTROL_PLANE_HOOK]: "" },
    spec: {
      ...objectAt(template, "spec"),
      clusterName: cluster.metadata.name,
      version: textAt(controlPlane, "spec", "version") ?? "",
      readinessGates: gates,
    },
    config: configOf(objectAt(controlPlane, "spec", "kubeadmConfigSpec"), as),
    isTaken: (name: string) =>
      machines.some(({ metadata }) => metadata.name === name) ||
      work.caches.get("machines", { namespace: controlPlane.metadata.namespace, name }) !== undefined,
  };
}

/** The first machine runs `init`, the others `join`; each gets only its own part. */
function configOf(spec: JsonObject, as: "init" | "join"): JsonObject {
  const { initConfiguration = {}, joinConfiguration = {}, ...rest } = spec;
  return as === "init"
    ? { ...rest, clusterConfiguration: objectAt(spec, "clusterConfiguration"), initConfiguration }
    : { ...rest, joinConfiguration: { controlPlane: {}, ...objectAt({ joinConfiguration }, "joinConfiguration") } };
}

/** The hook keeps a machine until its etcd member left. Simulated members leave at once, but one machine at a time. */
async function releaseHooks(work: CapiWork, controlPlane: CapiObject): Promise<Result<unknown, KubeError>> {
  const held = machinesOf(work, controlPlane).find(
    (machine) => isBeingDeleted(machine) && Object.hasOwn(machine.metadata.annotations ?? {}, CONTROL_PLANE_HOOK),
  );
  if (held === undefined) return ok(undefined);
  return patchObject(work.client, capiMachines, held, { metadata: { annotations: { [CONTROL_PLANE_HOOK]: null } } });
}

async function remove(work: CapiWork, controlPlane: CapiObject, cluster: CapiObject): Promise<Pass> {
  const listed = await listMachines(work, controlPlane);
  if (!listed.ok) return passOf(listed);
  const workers = work.caches.inCluster("machines", keyOf(cluster)).filter((machine) => !isControlPlane(machine));
  if (workers.length === 0) {
    for (const machine of listed.value) {
      const deleted = await deleteWithoutHook(work, machine);
      if (!deleted.ok) return passOf(deleted);
    }
  }
  const initialized =
    numberAt(controlPlane, "status", "replicas") !== undefined &&
    flagAt(controlPlane, "status", "initialization", "controlPlaneInitialized");
  const status = controlPlaneStatus(work, controlPlane, {
    cluster,
    machines: listed.value,
    initialized,
    stage: "machines",
    blocked: [],
    deleting: deletingStage(workers, listed.value.length),
  });
  if (listed.value.length === 0)
    return passOf(await finishDeletion(work.client, kubeadmControlPlanes, controlPlane, { finalizer: CONTROL_PLANE_FINALIZER, status }));
  return passOf(await writeStatus(work.client, kubeadmControlPlanes, controlPlane, status));
}

function deletingStage(workers: readonly CapiObject[], count: number) {
  if (count === 0) return { reason: "DeletionCompleted", message: "Deletion completed" };
  if (workers.length === 0) return { reason: "WaitingForMachineDeletion", message: `Deleting ${count} Machine${count === 1 ? "" : "s"}` };
  const names = workers.map(({ metadata }) => metadata.name).toSorted();
  const message = `KubeadmControlPlane deletion blocked because following objects still exist:\n* Machines: ${names.join(", ")}`;
  return { reason: "WaitingForWorkersDeletion", message };
}

/** The members of etcd go with the whole control plane: none has to leave first. */
async function deleteWithoutHook(work: CapiWork, machine: CapiObject): Promise<Result<unknown, KubeError>> {
  const annotations = { [CONTROL_PLANE_HOOK]: null };
  const isHeld = Object.hasOwn(machine.metadata.annotations ?? {}, CONTROL_PLANE_HOOK);
  const released = isHeld ? await patchObject(work.client, capiMachines, machine, { metadata: { annotations } }) : ok(machine);
  return released.ok ? deleteObject(work.client, capiMachines, released.value) : released;
}

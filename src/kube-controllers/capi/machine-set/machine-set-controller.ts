/**
 * MachineSets: as many machines as `replicas`.
 *
 * Before it creates or deletes, a pass lists the machines from the server: the cache may lack the last one, and a machine too many
 * is expensive.
 */
import { ok, type Result } from "#base";
import { capiMachineDeployments, capiMachines, capiMachineSets, isBeingDeleted } from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, type Pass } from "../../work.ts";
import { controllerOf, isControlledBy, ownedBy, resolveController } from "../../workloads/pods/owners.ts";
import { recordEvent, type CapiWork } from "../capi-work.ts";
import { cloneMachine } from "../clone-machine.ts";
import { CLUSTER_LABEL, DEPLOYMENT_LABEL, MACHINE_SET_FINALIZER, SET_LABEL } from "../names.ts";
import { isLive, objectAt, ownerReference, replicasOf, textMap, type CapiObject } from "../objects.ts";
import { deleteObject, ensureMetadata, finishDeletion, writeStatus } from "../writes.ts";
import { deletionOrder } from "./deletion-order.ts";
import { machineSetStatus } from "./machine-set-status.ts";
import { failedPreflights } from "./preflight.ts";
import { mustRemediate, remediateMachines } from "./remediation.ts";

const PREFLIGHT_MS = 15_000;

export async function machineSetPass(work: CapiWork, set: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (cluster === undefined) return done;
  const deployment = resolveController(work.caches.of("machineDeployments"), capiMachineDeployments, set);
  const marked = isBeingDeleted(set)
    ? ok(set)
    : await ensureMetadata(work.client, capiMachineSets, set, {
        finalizer: MACHINE_SET_FINALIZER,
        labels: { [CLUSTER_LABEL]: cluster.metadata.name },
        owner: controllerOf(set) === undefined ? ownerReference(cluster) : undefined,
      });
  if (!marked.ok) return passOf(marked);
  const blocked = isBeingDeleted(set) ? [] : failedPreflights(work, cluster);
  // before machines are created, so that the status shows that some are missing
  const machines = ownedBy(work.caches.of("machines"), marked.value);
  const written = await writeStatus(work.client, capiMachineSets, marked.value, machineSetStatus(work, marked.value, machines, blocked));
  if (!written.ok) return passOf(written);
  const scaled = await scale(work, written.value, { cluster, deployment, blocked, cached: machines });
  if (!scaled.ok) return passOf(scaled);
  if (isBeingDeleted(set) && scaled.value.left === 0) {
    const status = machineSetStatus(work, written.value, [], []);
    return passOf(await finishDeletion(work.client, capiMachineSets, written.value, { finalizer: MACHINE_SET_FINALIZER, status }));
  }
  return blocked.length > 0 ? again(PREFLIGHT_MS) : done;
}

type Scaling = {
  readonly cluster: CapiObject;
  readonly deployment: CapiObject | undefined;
  readonly blocked: readonly string[];
  /** As in the status. */ readonly cached: readonly CapiObject[];
};

async function scale(
  work: CapiWork,
  set: CapiObject,
  { cluster, deployment, blocked, cached }: Scaling,
): Promise<Result<{ readonly left: number }, KubeError>> {
  const desired = isBeingDeleted(set) ? 0 : replicasOf(set);
  const isRemediating = cached.some(mustRemediate);
  if (cached.length === desired && !isRemediating && !isBeingDeleted(set)) return ok({ left: cached.length });
  const listed = await listMachines(work, set);
  if (!listed.ok) return listed;
  const machines = listed.value;
  const remediated = isBeingDeleted(set) ? ok(undefined) : await remediateMachines(work, { set, deployment, machines, blocked });
  if (!remediated.ok) return remediated;
  const extra = deletionOrder(set, machines).slice(0, Math.max(0, machines.length - desired));
  for (const machine of extra) {
    const deleted = await deleteObject(work.client, capiMachines, machine);
    if (!deleted.ok) return deleted;
    if (isLive(machine)) recordEvent(work, set, "SuccessfulDelete", `Deleted Machine ${machine.metadata.name}`);
  }
  if (blocked.length > 0) return ok({ left: machines.length });
  for (let missing = desired - machines.length; missing > 0; missing -= 1) {
    const created = await cloneMachine(work, {
      owner: set,
      labels: {
        ...labelsOf(set),
        [CLUSTER_LABEL]: cluster.metadata.name,
        [SET_LABEL]: set.metadata.name,
        ...(deployment === undefined ? {} : { [DEPLOYMENT_LABEL]: deployment.metadata.name }),
      },
      annotations: textMap(objectAt(set, "spec", "template", "metadata", "annotations")),
      spec: objectAt(set, "spec", "template", "spec"),
      isTaken: (name) =>
        machines.some((machine) => machine.metadata.name === name) ||
        work.caches.get("machines", { namespace: set.metadata.namespace, name }) !== undefined,
    });
    if (!created.ok) return created;
    if (!created.value) break;
  }
  return ok({ left: machines.length });
}

async function listMachines(work: CapiWork, set: CapiObject): Promise<Result<readonly CapiObject[], KubeError>> {
  const { namespace } = set.metadata;
  const labelSelector = `${SET_LABEL}=${set.metadata.name}`;
  const listed = await work.client.list<CapiObject>(capiMachines, { namespace, labelSelector });
  return listed.ok ? ok(listed.value.items.filter((machine) => isControlledBy(machine, set))) : listed;
}

const labelsOf = (set: CapiObject) => textMap(objectAt(set, "spec", "template", "metadata", "labels"));

/**
 * The end of a machine: drain, hooks, infrastructure, bootstrap config, Node.
 *
 * The Node is deleted only where the cluster goes on without it. A child that cannot be reached delays this by
 * `nodeDeletionTimeoutSeconds`, not for ever.
 */
import { ok, type Result } from "#base";
import { capiMachines, isBeingDeleted, keyOf, localMachines, nodes, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, type Pass } from "../../work.ts";
import { resourceOf } from "../caches.ts";
import { isOlderThan, type CapiWork } from "../capi-work.ts";
import { MACHINE_FINALIZER, PRE_TERMINATE_PREFIX } from "../names.ts";
import { isControlPlane, isLive, nodeNameOf, numberAt, refAt, statusOf, type CapiObject, type CapiRef } from "../objects.ts";
import { deleteObject, finishDeletion, writeStatus } from "../writes.ts";
import { drainNode } from "./drain-node.ts";
import { nodeOf } from "./machine-node.ts";
import type { MachineParts } from "./machine-parts.ts";
import { machineStatus } from "./machine-status.ts";

const NODE_RETRY_MS = 2_000;

/** `act`: what is done once the stage is visible in the status. */
type Stage = { readonly reason: string; readonly message: string; readonly act: () => Promise<Pass> };
const stage = (reason: string, message: string, act: () => Promise<Pass> = () => Promise.resolve(done)): Stage => ({
  reason,
  message,
  act,
});

const DRAIN_RETRY_MS = 1_000;
const DRAINING = stage("DrainingNode", "Drain not completed yet", () => Promise.resolve(again(DRAIN_RETRY_MS)));
const COMPLETED = stage("DeletionCompleted", "Deletion completed");

export async function deleteMachine(work: CapiWork, machine: CapiObject, cluster: CapiObject): Promise<Pass> {
  // as it was before this pass deletes it
  const node = nodeOf(work, machine, cluster);
  const next = await nextStage(work, machine, cluster);
  const parts: MachineParts = {
    cluster,
    config: work.caches.resolve(machine.metadata.namespace, refAt(machine, "spec", "bootstrap", "configRef")),
    infrastructure: work.caches.resolve(machine.metadata.namespace, refAt(machine, "spec", "infrastructureRef")),
    ...node,
  };
  const known = statusOf(machine);
  const fields = known["initialization"] === undefined ? {} : { initialization: known["initialization"] };
  const status = machineStatus(work, machine, parts, fields, next);
  if (next === COMPLETED) return passOf(await finishDeletion(work.client, capiMachines, machine, { finalizer: MACHINE_FINALIZER, status }));
  const written = await writeStatus(work.client, capiMachines, machine, status);
  return written.ok ? next.act() : passOf(written);
}

async function nextStage(work: CapiWork, machine: CapiObject, cluster: CapiObject): Promise<Stage> {
  if (await isDraining(work, machine, cluster)) return DRAINING;
  const hooks = Object.keys(machine.metadata.annotations ?? {})
    .filter((key) => key.startsWith(PRE_TERMINATE_PREFIX))
    .toSorted();
  if (hooks.length > 0) {
    return stage("WaitingForPreTerminateHook", `Waiting for pre-terminate hooks to succeed (hooks: ${hooks.join(",")})`);
  }
  const part =
    partStage(work, machine, { reason: "WaitingForInfrastructureDeletion", ref: refAt(machine, "spec", "infrastructureRef") }) ??
    partStage(work, machine, { reason: "WaitingForBootstrapDeletion", ref: refAt(machine, "spec", "bootstrap", "configRef") });
  if (part !== undefined) return part;
  const deleted = await deleteNode(work, machine, cluster);
  if (deleted.ok || isNodeOverdue(work, machine)) return COMPLETED;
  return stage("DeletingNode", "Error deleting Node, please check controller logs for errors", () => Promise.resolve(again(NODE_RETRY_MS)));
}

/** Undefined: the part is gone. */
function partStage(
  work: CapiWork,
  machine: CapiObject,
  { reason, ref }: { readonly reason: string; readonly ref: CapiRef | undefined },
): Stage | undefined {
  const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
  const object = work.caches.resolve(machine.metadata.namespace, ref);
  if (ref === undefined || kind === undefined || object === undefined) return undefined;
  return stage(reason, `Waiting for ${ref.kind} to be deleted`, async () =>
    passOf(await deleteObject(work.client, resourceOf(kind), object)),
  );
}

function isNodeOverdue(work: CapiWork, machine: KubeObject): boolean {
  const seconds = numberAt(machine, "spec", "deletion", "nodeDeletionTimeoutSeconds") ?? 10;
  return seconds > 0 && isOlderThan(work, machine.metadata.deletionTimestamp, seconds * 1_000);
}

async function deleteNode(work: CapiWork, machine: CapiObject, cluster: CapiObject): Promise<Result<unknown, KubeError>> {
  const name = nodeNameOf(machine);
  if (name === undefined || isBeingDeleted(cluster) || isLastControlPlane(work, machine, cluster)) return ok(undefined);
  const child = work.children.view(keyOf(cluster));
  // without a kubeconfig there is no child to clean up
  if (child === undefined) return ok(undefined);
  return child.client.delete(nodes, { name });
}

/** Evicts the Pods of its Node; only local machines run any. A child that cannot be reached is not drained: its machines could never be replaced. */
async function isDraining(work: CapiWork, machine: CapiObject, cluster: CapiObject): Promise<boolean> {
  if (refAt(machine, "spec", "infrastructureRef")?.kind !== localMachines.kind) return false;
  const name = nodeNameOf(machine);
  const child = work.children.view(keyOf(cluster));
  if (name === undefined || child?.connected !== true || child.nodeByName(name) === undefined) return false;
  if (isBeingDeleted(cluster) || isLastControlPlane(work, machine, cluster)) return false;
  const seconds = numberAt(machine, "spec", "deletion", "nodeDrainTimeoutSeconds") ?? 0;
  if (seconds > 0 && isOlderThan(work, machine.metadata.deletionTimestamp, seconds * 1_000)) return false;
  return drainNode(child.client, name);
}

function isLastControlPlane(work: CapiWork, machine: CapiObject, cluster: CapiObject): boolean {
  if (!isControlPlane(machine)) return false;
  const controlPlane = work.caches.resolve(cluster.metadata.namespace, refAt(cluster, "spec", "controlPlaneRef"));
  if (controlPlane === undefined || isBeingDeleted(controlPlane)) return true;
  return !work.caches.inCluster("machines", keyOf(cluster)).some((one) => isControlPlane(one) && isLive(one));
}

/** The order of deletion: workers, then the control plane, then the infrastructure. Each step waits until the objects of the one before are gone. */
import { ok, type Result } from "#base";
import { keyOf, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { resourceOf, type CapiKind } from "../caches.ts";
import type { CapiWork } from "../capi-work.ts";
import { isControlPlane, refAt, type CapiObject } from "../objects.ts";
import { deleteObject } from "../writes.ts";

export type DeletingStage = { readonly reason: string; readonly message: string };

/** Nothing is left to be deleted. */
export const DELETION_COMPLETED: DeletingStage = { reason: "DeletionCompleted", message: "Deletion completed" };

export async function deleteStep(work: CapiWork, cluster: CapiObject): Promise<Result<DeletingStage, KubeError>> {
  const workers = workersOf(work, cluster);
  for (const [kind, objects] of workers) {
    const deleted = await deleteAll(work, kind, objects);
    if (!deleted.ok) return deleted;
  }
  const left = workers.filter(([, objects]) => objects.length > 0);
  if (left.length > 0) {
    const message = left.map(([, objects]) => describe(objects)).join("\n");
    return ok({ reason: "WaitingForWorkersDeletion", message });
  }
  for (const field of ["controlPlaneRef", "infrastructureRef"] as const) {
    const ref = refAt(cluster, "spec", field);
    const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
    const object = work.caches.resolve(cluster.metadata.namespace, ref);
    if (ref === undefined || kind === undefined || object === undefined) continue;
    const deleted = await deleteAll(work, kind, [object]);
    if (!deleted.ok) return deleted;
    const reason = field === "controlPlaneRef" ? "WaitingForControlPlaneDeletion" : "WaitingForInfrastructureDeletion";
    return ok({ reason, message: `Waiting for ${ref.kind} to be deleted` });
  }
  return ok(DELETION_COMPLETED);
}

function workersOf(work: CapiWork, cluster: KubeObject): readonly (readonly [CapiKind, readonly CapiObject[]])[] {
  const inCluster = (kind: CapiKind) => work.caches.inCluster(kind, keyOf(cluster));
  return [
    ["machineDeployments", inCluster("machineDeployments")],
    ["machineSets", inCluster("machineSets")],
    ["machines", inCluster("machines").filter((machine) => !isControlPlane(machine))],
  ];
}

async function deleteAll(work: CapiWork, kind: CapiKind, objects: readonly CapiObject[]): Promise<Result<void, KubeError>> {
  for (const object of objects) {
    const deleted = await deleteObject(work.client, resourceOf(kind), object);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

function describe(objects: readonly CapiObject[]): string {
  const names = objects.map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > 5 ? `, ... (${names.length - 5} more)` : "";
  return `* ${objects[0]?.kind ?? ""}s: ${names.slice(0, 5).join(", ")}${more}`;
}

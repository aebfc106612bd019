/** The order of deletion: workers, then the control plane, then the infrastructure. Each step waits until the objects of the one before are gone. */
import { ok, type Result } from "#base";
import { keyOf, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { resourceOf, type CapiKind } from "../caches.ts";
import type { CapiWork } from "../capi-work.ts";
import { isControlPlane, refAt, type CapiObject } from "../objects.ts";
import { deleteObject } from "../writes.ts";

export type DeletingStage = { readonly reason: string; readonly message: string };
/** `objects`: what this step deletes and waits for. */
export type DeletionStep = { readonly stage: DeletingStage; readonly objects: readonly (readonly [CapiKind, readonly CapiObject[]])[] };

/** The first step whose objects still exist; undefined: nothing is left to be deleted. */
export function deletionStep(work: CapiWork, cluster: CapiObject): DeletionStep | undefined {
  const workers = workersOf(work, cluster).filter(([, objects]) => objects.length > 0);
  if (workers.length > 0) {
    const message = workers.map(([kind, objects]) => describe(kind, objects)).join("\n");
    return { stage: { reason: "WaitingForWorkersDeletion", message }, objects: workers };
  }
  for (const field of ["controlPlaneRef", "infrastructureRef"] as const) {
    const ref = refAt(cluster, "spec", field);
    const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
    const object = work.caches.resolve(cluster.metadata.namespace, ref);
    if (ref === undefined || kind === undefined || object === undefined) continue;
    const reason = field === "controlPlaneRef" ? "WaitingForControlPlaneDeletion" : "WaitingForInfrastructureDeletion";
    return { stage: { reason, message: `Waiting for ${ref.kind} to be deleted` }, objects: [[kind, [object]]] };
  }
  return undefined;
}

export async function deleteObjects(work: CapiWork, { objects }: DeletionStep): Promise<Result<void, KubeError>> {
  for (const [kind, found] of objects) {
    for (const object of found) {
      const deleted = await deleteObject(work.client, resourceOf(kind), object);
      if (!deleted.ok) return deleted;
    }
  }
  return ok(undefined);
}

function workersOf(work: CapiWork, cluster: KubeObject): readonly (readonly [CapiKind, readonly CapiObject[]])[] {
  const inCluster = (kind: CapiKind) => work.caches.inCluster(kind, keyOf(cluster));
  return [
    ["machineDeployments", inCluster("machineDeployments")],
    ["machineSets", inCluster("machineSets")],
    ["machines", inCluster("machines").filter((machine) => !isControlPlane(machine))],
  ];
}

function describe(kind: CapiKind, objects: readonly CapiObject[]): string {
  const names = objects.map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > 5 ? `, ... (${names.length - 5} more)` : "";
  const kinds = kind === "machines" ? "Worker Machines" : `${objects[0]?.kind ?? ""}s`;
  return `* ${kinds}: ${names.slice(0, 5).join(", ")}${more}`;
}

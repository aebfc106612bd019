/**
 * Clusters: adopts the infrastructure and the control plane, copies what they provide, and deletes in order: workers, control plane,
 * infrastructure.
 */
import { ok, type Result } from "#base";
import { capiClusters, isBeingDeleted, type JsonObject } from "#kube";
import type { KubeError } from "#kube-client";
import { done, passOf, worstPass, type Pass } from "../../work.ts";
import { resourceOf } from "../caches.ts";
import type { CapiWork } from "../capi-work.ts";
import { CLUSTER_FINALIZER, CLUSTER_LABEL } from "../names.ts";
import { flagAt, numberAt, objectAt, ownerReference, refAt, textAt, type CapiObject } from "../objects.ts";
import { ensureMetadata, finishDeletion, patchObject, writeStatus } from "../writes.ts";
import { deleteObjects, deletionStep } from "./cluster-deletion.ts";
import { clusterStatus } from "./cluster-status.ts";

export async function clusterPass(work: CapiWork, cluster: CapiObject): Promise<Pass> {
  return isBeingDeleted(cluster) ? remove(work, cluster) : reconcile(work, cluster);
}

async function reconcile(work: CapiWork, cluster: CapiObject): Promise<Pass> {
  const marked = await ensureMetadata(work.client, capiClusters, cluster, { finalizer: CLUSTER_FINALIZER });
  if (!marked.ok) return passOf(marked);
  const adopted = worstPass([await adopt(work, marked.value, "infrastructureRef"), await adopt(work, marked.value, "controlPlaneRef")]);
  const placed = await copyEndpoint(work, marked.value);
  if (!placed.ok) return passOf(placed);
  const current = placed.value;
  const written = await writeStatus(work.client, capiClusters, current, clusterStatus(work, current, initializationOf(work, current)));
  return worstPass([adopted, passOf(written)]);
}

async function adopt(work: CapiWork, cluster: CapiObject, field: string): Promise<Pass> {
  const ref = refAt(cluster, "spec", field);
  const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
  const object = work.caches.resolve(cluster.metadata.namespace, ref);
  if (kind === undefined || object === undefined || isBeingDeleted(object)) return done;
  const draft = { labels: { [CLUSTER_LABEL]: cluster.metadata.name }, owner: ownerReference(cluster) };
  return passOf(await ensureMetadata(work.client, resourceOf(kind), object, draft));
}

/** The endpoint of the infrastructure becomes that of the cluster, unless the cluster has one. */
async function copyEndpoint(work: CapiWork, cluster: CapiObject): Promise<Result<CapiObject, KubeError>> {
  if (textAt(cluster, "spec", "controlPlaneEndpoint", "host") !== undefined) return ok(cluster);
  const infrastructure = work.caches.resolve(cluster.metadata.namespace, refAt(cluster, "spec", "infrastructureRef"));
  const endpoint = objectAt(infrastructure, "spec", "controlPlaneEndpoint");
  if (!flagAt(infrastructure, "status", "initialization", "provisioned")) return ok(cluster);
  if (textAt(endpoint, "host") === undefined || numberAt(endpoint, "port") === undefined) return ok(cluster);
  return patchObject(work.client, capiClusters, cluster, { spec: { controlPlaneEndpoint: endpoint } });
}

/** Facts that stay true once they were. */
function initializationOf(work: CapiWork, cluster: CapiObject): JsonObject {
  const known = objectAt(cluster, "status", "initialization");
  const { namespace } = cluster.metadata;
  const infrastructure = work.caches.resolve(namespace, refAt(cluster, "spec", "infrastructureRef"));
  const controlPlane = work.caches.resolve(namespace, refAt(cluster, "spec", "controlPlaneRef"));
  return {
    ...known,
    ...(flagAt(infrastructure, "status", "initialization", "provisioned") ? { infrastructureProvisioned: true } : {}),
    ...(flagAt(controlPlane, "status", "initialization", "controlPlaneInitialized") ? { controlPlaneInitialized: true } : {}),
  };
}

/** The status comes first: watches see every step, also those whose objects are gone at once. */
async function remove(work: CapiWork, cluster: CapiObject): Promise<Pass> {
  const step = deletionStep(work, cluster);
  const stage = step?.stage ?? { reason: "DeletionCompleted", message: "Deletion completed" };
  const status = clusterStatus(work, cluster, objectAt(cluster, "status", "initialization"), stage);
  if (step === undefined) return passOf(await finishDeletion(work.client, capiClusters, cluster, { finalizer: CLUSTER_FINALIZER, status }));
  const written = await writeStatus(work.client, capiClusters, cluster, status);
  return passOf(written.ok ? await deleteObjects(work, step) : written);
}

/**
 * DevClusters and LocalClusters: there is nothing to create, so they are provisioned at once. Without an endpoint, in the Cluster or here, they
 * get one where nothing listens: requests to the child go through its kubeconfig.
 */
import { isBeingDeleted } from "#kube";
import { done, passOf, type Pass } from "../../work.ts";
import { resourceOf, type CapiKind } from "../caches.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, notPaused } from "../conditions.ts";
import { ABSENT_ENDPOINT } from "../names.ts";
import { hasOwner, statusOf, textAt, type CapiObject } from "../objects.ts";
import { ensureMetadata, removeFinalizer, writeStatus } from "../writes.ts";

export function infrastructureClusterPass(kind: CapiKind, finalizer: string) {
  const resource = resourceOf(kind);
  return async (work: CapiWork, object: CapiObject, cluster: CapiObject | undefined): Promise<Pass> => {
    if (isBeingDeleted(object)) return passOf(await removeFinalizer(work.client, resource, object, finalizer));
    if (cluster === undefined || !hasOwner(object, cluster)) return done;
    const hasEndpoint = [cluster, object].some((one) => textAt(one, "spec", "controlPlaneEndpoint", "host") !== undefined);
    const marked = await ensureMetadata(work.client, resource, object, {
      finalizer,
      ...(hasEndpoint ? {} : { spec: { controlPlaneEndpoint: ABSENT_ENDPOINT } }),
    });
    if (!marked.ok) return passOf(marked);
    const conditions = conditionsWith(marked.value, [notPaused], nowOf(work));
    const status = { ...statusOf(marked.value), initialization: { provisioned: true }, conditions };
    return passOf(await writeStatus(work.client, resource, marked.value, status));
  };
}

/** Templates belong to the Cluster, so that they are deleted and moved with it. */
import type { JsonObject } from "#kube";
import { isBeingDeleted } from "#kube";
import { passOf, worstPass, type Pass } from "../work.ts";
import { resourceOf } from "./caches.ts";
import type { CapiWork } from "./capi-work.ts";
import { ownerReference, refAt, type CapiObject } from "./objects.ts";
import { ensureMetadata } from "./writes.ts";

/** `spec`: of a machine, with references to templates. */
export async function adoptTemplates(work: CapiWork, cluster: CapiObject, spec: JsonObject): Promise<Pass> {
  const passes: Pass[] = [];
  for (const ref of [refAt(spec, "bootstrap", "configRef"), refAt(spec, "infrastructureRef")]) {
    const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
    const template = work.caches.resolve(cluster.metadata.namespace, ref);
    if (kind === undefined || template === undefined || isBeingDeleted(template)) continue;
    passes.push(passOf(await ensureMetadata(work.client, resourceOf(kind), template, { owner: ownerReference(cluster) })));
  }
  return worstPass(passes);
}

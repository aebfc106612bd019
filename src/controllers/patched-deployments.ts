/** Deployments with the record of a patch, by the service that the record names, and the copies that Flagger makes of them. */
import { ownerKeyOf, type CacheReader, type Index } from "#controller-runtime";
import type { ServiceKey, World } from "#compile";
import { canaries, deployments, fieldAt, type Deployment, type KubeObject } from "#kube";
import { SERVICE_LABEL } from "#service-compiler";
import { RECORD_ANNOTATION, recordOf } from "#workload-patch";
import { CONTROLLER_NAME } from "./owned-kinds.ts";

const PATCHED_BY = "lattice/patched-by";
const COPIES = "lattice/flagger-copies";

export const patchedByIndex: Index = {
  resource: deployments,
  name: PATCHED_BY,
  keysOf: (deployment) => [patchedService(deployment) ?? []].flat(),
};

/** The service in the record of a Deployment; undefined: it has no record, "": it cannot be read. */
export function patchedService(deployment: KubeObject): ServiceKey | undefined {
  if (deployment.metadata.annotations?.[RECORD_ANNOTATION] === undefined) return undefined;
  const record = recordOf(deployment);
  return record.ok ? (record.value?.service ?? "") : "";
}

/**
 * Deployments from which the changes of a service are still to be taken off. One that another service patches now is not among them, nor is a copy: Flagger
 * writes it. `namespace`: in which the service runs; the record of a Deployment elsewhere is not Lattice's, and no service waits for it.
 */
export function deploymentsToDetach(service: ServiceKey, { cache, world, namespace }: Patched): readonly Deployment[] {
  return recordsOf(service, { cache, namespace }).filter((one) => !isFlaggerCopy(one) && world.patcherOf(one.metadata) === undefined);
}

/**
 * Flagger's copies of Deployments, by the service in the label of their pods: Flagger always copies this label. It copies the record when it creates a copy, and
 * removes it with the first promotion.
 */
export const copiesIndex: Index = {
  resource: deployments,
  name: COPIES,
  keysOf: (deployment) => {
    const service = isFlaggerCopy(deployment) ? serviceOfPods(deployment) : undefined;
    return service === undefined ? [] : [`${deployment.metadata.namespace}/${service}`];
  },
};

/** The service in the label of the pods. */
export function serviceOfPods(deployment: KubeObject): string | undefined {
  const service = fieldAt(deployment, "spec", "template", "metadata", "labels", SERVICE_LABEL);
  return typeof service === "string" ? service : undefined;
}

/** `name`: of the service; `namespace`: in which it runs. */
type RunningService = { readonly name: string; readonly namespace: string };

/**
 * Copies of Deployments that a service patches or has patched, whose pods use its config until Flagger promotes the Deployment `target`. Others can write labels
 * and an owner reference, so a copy counts only if the Canary exists and names that Deployment. The copy of a service's own Deployment does not.
 */
export function copiesWithPatch({ name, namespace }: RunningService, cache: CacheReader): readonly FlaggerCopy[] {
  return cache.byIndex<Deployment>(deployments, COPIES, `${namespace}/${name}`).flatMap((copy) => {
    const target = copiedFrom(copy, cache);
    return target === undefined ? [] : [{ copy, target }];
  });
}

/** Flagger copies annotations too. Its copies are never written by Lattice. */
export function isFlaggerCopy({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === canaries.kind) === true;
}

type FlaggerCopy = { readonly copy: Deployment; readonly target: string };
type Patched = { readonly cache: CacheReader; readonly world: Pick<World, "patcherOf">; readonly namespace: string };

function recordsOf(service: ServiceKey, { cache, namespace }: Omit<Patched, "world">): readonly Deployment[] {
  return cache.byIndex<Deployment>(deployments, PATCHED_BY, service).filter(({ metadata }) => metadata.namespace === namespace);
}

function copiedFrom({ metadata }: Deployment, cache: CacheReader): string | undefined {
  if (!cache.isServed(canaries)) return undefined;
  for (const { apiVersion, kind, name, uid } of metadata.ownerReferences ?? []) {
    if (kind !== canaries.kind || !apiVersion.startsWith(`${canaries.group}/`)) continue;
    const canary = cache.get(canaries, { namespace: metadata.namespace, name });
    const target = fieldAt(canary, "spec", "targetRef", "name");
    if (canary === undefined || ownerKeyOf(canary, CONTROLLER_NAME) !== undefined) continue;
    if (canary.metadata.uid === uid && typeof target === "string" && metadata.name === `${target}-primary`) return target;
  }
  return undefined;
}

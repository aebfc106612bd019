/** Deployments with the record of a patch, by the service that the record names. */
import type { CacheReader, Index } from "#controller-runtime";
import type { ServiceKey, World } from "#compile";
import { canaries, deployments, fieldAt, type Deployment, type KubeObject } from "#kube";
import { RECORD_ANNOTATION, recordOf } from "#workload-patch";

const PATCHED_BY = "lattice/patched-by";

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
 * Copies with the changes of a service, whose pods use its config until Flagger promotes the Deployment that they are copied from. Others can write a record and
 * an owner reference, so a copy counts only if the Canary exists and names that Deployment; `target` is its name.
 */
export function copiesToPromote(service: ServiceKey, { cache, namespace }: Omit<Patched, "world">): readonly FlaggerCopy[] {
  return recordsOf(service, { cache, namespace }).flatMap((copy) => {
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
    if (canary?.metadata.uid === uid && typeof target === "string" && metadata.name === `${target}-primary`) return target;
  }
  return undefined;
}

/**
 * Who writes the Service of a service in patch mode. Lattice makes none while another owner has one of its name, which is used as it is, and none before the Deployment
 * exists, because its owner may create one with it, which would fail.
 */
import type { CompiledApplication } from "#compile";
import { isOwnedBy, type CacheReader, type Index, type WantedObject } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { canaries, field, fieldAt, isJsonObject, services, type KubeObject } from "#kube";
import { splitId } from "#mesh-compiler";
import { CONTROLLER_NAME } from "../owned-kinds.ts";
import type { PatchState } from "./patch-state.ts";
import type { ServiceWorkload } from "./rollout.ts";

/** "flagger": Lattice has made it, and Flagger writes its selector and ports, so that it leads to the copy. */
export type ServiceWriter = "lattice" | "flagger" | "none";

const CANARIES_OF = "lattice/canary-service";

/** Canaries by the Service whose selector and ports Flagger writes. */
export const canaryServiceIndex: Index = {
  resource: canaries,
  name: CANARIES_OF,
  keysOf: (canary) => {
    const target = fieldAt(canary, "spec", "targetRef");
    const service = fieldAt(canary, "spec", "service", "name") ?? field(target, "name");
    return field(target, "kind") === "Service" || typeof service !== "string" ? [] : [`${canary.metadata.namespace}/${service}`];
  },
};

type Place = { readonly patch: PatchState; readonly workload: ServiceWorkload; readonly cache: CacheReader };

export function patchServiceWriter(service: LatticeService, { id }: CompiledApplication, { patch, workload, cache }: Place): ServiceWriter {
  // the Service of ownership mode stays with the Deployment of that time
  if (patch.deployment === undefined && workload.target === undefined) return "none";
  const found = cache.get(services, splitId(id));
  if (found !== undefined && !isOwnedBy(found, { controller: CONTROLLER_NAME, object: service })) return "none";
  return canariesOfService(splitId(id), cache).length > 0 ? "flagger" : "lattice";
}

export function canariesOfService(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  cache: CacheReader,
): readonly KubeObject[] {
  return cache.isServed(canaries) ? cache.byIndex(canaries, CANARIES_OF, `${namespace}/${name}`) : [];
}

/** What Lattice applies of it. */
export function serviceToApply(object: KubeObject, writer: ServiceWriter): readonly WantedObject[] {
  const spec = field(object, "spec");
  if (writer === "none") return [];
  if (writer === "lattice" || !isJsonObject(spec)) return [object];
  return [{ object: { ...object, spec: { type: "ClusterIP" } } as KubeObject, once: { spec } }];
}

/** What keeps workloads out of a namespace: it is not there, not in the mesh, or not closed yet. Pure but for the cache. */
import type { World } from "#compile";
import { OWNER_LABEL, type CacheReader } from "#controller-runtime";
import { describeObject, isBeingDeleted, keyOf } from "#kube";
import { meshKindOf, namespaces } from "../kinds.ts";

/** A sentence, or undefined when all is well. A kind that the cluster lacks is somebody else's sentence. */
export function namespaceProblem(name: string, world: World, cache: CacheReader): string | undefined {
  const live = cache.get(namespaces, { name });
  if (live === undefined) return `namespace ${name} does not exist yet`;
  if (isBeingDeleted(live)) return `namespace ${name} is being deleted`;
  const [wanted, ...closing] = world.namespaceObjects(name);
  for (const [label, value] of Object.entries(wanted?.metadata.labels ?? {})) {
    if (!MUST_BE.has(label)) continue;
    const found = live.metadata.labels?.[label];
    if (found === undefined) return `namespace ${name} is not in the mesh yet`;
    if (found !== value)
      return `namespace ${name} has label ${label}=${found}, and Lattice needs ${value}; remove the label, or use another namespace`;
  }
  const open = closing.find((object) => {
    const resource = meshKindOf(object);
    if (resource === undefined || !cache.isServed(resource)) return false;
    return cache.get(resource, keyOf(object))?.metadata.labels?.[OWNER_LABEL] === undefined;
  });
  return open === undefined ? undefined : `namespace ${name} is not closed yet: ${describeObject(open)} is missing`;
}

/** Without these the policies bind nobody. */
export const MUST_BE: ReadonlySet<string> = new Set(["istio.io/dataplane-mode", "istio.io/use-waypoint"]);

/** Why workloads cannot start in a namespace: no rights, missing, not in the mesh, or no default deny yet. Pure but for the cache. */
import { OWNER_LABEL, type CacheReader } from "#controller-runtime";
import { describeObject, isBeingDeleted, keyOf, meshKindOf, namespaces } from "#kube";
import type { WorldView } from "../world/followed-world.ts";
import { reachProblem } from "../reach.ts";

export type NamespaceProblem = { readonly reason: "NamespaceNotReady" | "NamespaceOutOfReach"; readonly message: string };

/** Undefined: no problem. Kinds that the cluster lacks are not reported here. */
export function namespaceProblem(name: string, followed: WorldView, cache: CacheReader): NamespaceProblem | undefined {
  const beyond = reachProblem(name, followed.reach, cache);
  if (beyond !== undefined) return { reason: "NamespaceOutOfReach", message: beyond.message };
  const message = notReady(name, followed, cache);
  return message === undefined ? undefined : { reason: "NamespaceNotReady", message };
}

function notReady(name: string, { world, labelRefusals }: WorldView, cache: CacheReader): string | undefined {
  const live = cache.get(namespaces, { name });
  if (live === undefined) return `namespace ${name} does not exist yet`;
  if (isBeingDeleted(live)) return `namespace ${name} is being deleted`;
  const [wanted, ...closing] = world.namespaceObjects(name);
  for (const [label, value] of Object.entries(wanted?.metadata.labels ?? {})) {
    if (!MUST_BE.has(label)) continue;
    const found = live.metadata.labels?.[label];
    const refusal = labelRefusals.get(name);
    if (found === undefined) return refusal ?? `namespace ${name} is not in the mesh yet`;
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

/** Without these the policies have no effect. */
const MUST_BE: ReadonlySet<string> = new Set(["istio.io/dataplane-mode", "istio.io/use-waypoint"]);

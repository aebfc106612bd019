/**
 * The Deployments that run a service, and the state of its pods.
 *
 * Only Deployments of the service count: its own, which carries the owner label, and under a canary the primary that Flagger made for it.
 * Pods are not watched. They are listed, up to a limit, while the service is not available or its rollout is stuck.
 */
import { isOwnedBy, OWNER_INDEX, ownerLabelOf, type CacheReader, type ReadRuntime } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { canaries, deployments, fieldAt, formatSelector, keyText, pods, requirementsOf, type Deployment } from "#kube";
import { splitId } from "#mesh-compiler";
import type { WorldViewContext } from "../world/followed-world.ts";
import { CONTROLLER_NAME } from "../owned-kinds.ts";
import { copiesWithPatch } from "../patched-deployments.ts";
import { podProblem, type PodProblem } from "./pod-problems.ts";
import { isAvailable, NO_WORKLOAD, rolloutOf, type ServiceWorkload } from "./rollout.ts";

type WorkloadContext = WorldViewContext & { readonly cache: CacheReader };

export function workloadOf(service: LatticeService, { followed, cache }: WorkloadContext): ServiceWorkload {
  const id = followed.world.idOf(keyText(service.metadata));
  if (id === undefined) return NO_WORKLOAD;
  const { namespace, name } = splitId(id);
  if (service.spec.workloadRef !== undefined) return patchedWorkload(service, { followed, cache });
  const found = cache.get(deployments, { namespace, name });
  const own = found !== undefined && isOwnedBy(found, { controller: CONTROLLER_NAME, object: service }) ? found : undefined;
  if (service.spec.deploy?.strategy !== "canary") return { deployment: own, available: isAvailable(own) };
  const primary = primaryOf({ namespace, name }, cache);
  return primary === undefined ? beforeFlagger(own) : besidePrimary(primary, own, { namespace, name }, cache);
}

/** The Deployment of another owner. `target`: the Deployment of the time when the service was in ownership mode. */
function patchedWorkload(service: LatticeService, { followed, cache }: WorkloadContext): ServiceWorkload {
  const target = followed.world.targetOf(keyText(service.metadata));
  const deployment = target?.ok === true ? cache.get(deployments, target.value) : undefined;
  const [own] = cache.byIndex(deployments, OWNER_INDEX, ownerLabelOf({ controller: CONTROLLER_NAME, object: service }));
  const copies =
    target?.ok === true ? copiesWithPatch({ ...target.value, name: service.metadata.name }, cache).map(({ copy }) => copy) : [];
  return { deployment, target: own, copies, available: isAvailable(deployment) };
}

/** Flagger scales the target to zero only when its primary serves; a target at zero without a primary serves no traffic. */
function beforeFlagger(own: Deployment | undefined): ServiceWorkload {
  return { deployment: own, available: own?.spec?.replicas !== 0 && isAvailable(own) };
}

type Target = { readonly namespace: string; readonly name: string };

/** While Flagger initializes, the target still serves the traffic. */
function besidePrimary(primary: Deployment, own: Deployment | undefined, target: Target, cache: CacheReader): ServiceWorkload {
  const canary = cache.isServed(canaries) ? cache.get(canaries, target) : undefined;
  const phase = fieldAt(canary, "status", "phase");
  const initializing = typeof phase !== "string" || phase === "" || phase === "Initializing";
  const available = isAvailable(primary) || (initializing && beforeFlagger(own).available);
  return { deployment: primary, target: own, available };
}

/** The Canary controls it. A Deployment that only has the same name belongs to another owner. */
function primaryOf({ namespace, name }: Target, cache: CacheReader): Deployment | undefined {
  const primary = cache.get(deployments, { namespace, name: `${name}-primary` });
  const isFlaggers = primary?.metadata.ownerReferences?.some(
    (reference) => reference.kind === canaries.kind && reference.name === name && reference.apiVersion.startsWith(`${canaries.group}/`),
  );
  return isFlaggers === true ? primary : undefined;
}

/** How many pods are listed: enough to find a common problem. */
const MAX_PODS = 50;

/** Why the pods of a workload do not run; undefined if they run. If the list is forbidden there is no explanation, and no failure. */
export async function podProblemOf(
  workload: ServiceWorkload,
  { client, signal }: Pick<ReadRuntime, "client" | "signal">,
): Promise<PodProblem | undefined> {
  const { deployment } = workload;
  const selector = deployment?.spec?.selector;
  const rollout = rolloutOf(workload);
  if (deployment === undefined || selector === undefined || (rollout.available && !rollout.stuck)) return undefined;
  const labelSelector = formatSelector(requirementsOf(selector));
  const found = await client.list(pods, { namespace: deployment.metadata.namespace, labelSelector, limit: MAX_PODS }, { signal });
  return found.ok ? podProblem(found.value.items) : undefined;
}

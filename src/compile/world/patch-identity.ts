/** Services in patch mode: the Deployment of each, and the identity that it gives them in the mesh. */
import type { Result } from "#base";
import type { LatticeService } from "#crds";
import { keyText, type ObjectKey } from "#kube";
import { splitId, type ServiceId, type ServiceNode } from "#mesh-compiler";
import { meshNodeOf, patchedNode } from "../mesh-node.ts";
import type { Claimant } from "../name-claims.ts";
import {
  claimedWorkload,
  describeWorkloadError,
  isSharedWith,
  patchTarget,
  type PatchTarget,
  type WorkloadError,
} from "../patch-target.ts";
import type { Placed } from "../placement.ts";
import { inputFor } from "./input.ts";
import { placeOf, isSame, describeResource, type WorldState, type ServiceKey, type ResourceName } from "./state.ts";

export function targetFor(
  state: WorldState,
  service: LatticeService,
  { namespace }: Placed,
): Result<PatchTarget, WorkloadError> | undefined {
  const name = claimedWorkload(service, namespace);
  const one: ResourceName = { kind: "LatticeService", key: keyText(service.metadata) };
  const patcher = name === undefined ? undefined : patcherOfWorkload(state, name);
  const patchedBy = patcher === undefined || isSame(patcher, one) ? undefined : describeResource(patcher);
  const ownedBy = name === undefined ? undefined : ownerOfDeployment(state, namespace, splitId(name).name);
  return patchTarget({ service, namespace, find: state.settings.findWorkload, patchedBy, ownedBy });
}

/** The service that patches a Deployment, `namespace/name`: of those that its owner allows, the one that takes precedence. */
export function patcherOfWorkload(state: WorldState, workload: string): Claimant | undefined {
  const { namespace, name } = splitId(workload);
  const found = state.settings.findWorkload(namespace, name);
  return state.workloads.holder(workload, ({ key }) => {
    const service = state.services.get(key);
    return service !== undefined && isSharedWith(service, namespace, found);
  });
}

/** The service that has the Deployment: its own, or the copy that Flagger makes for its canary. */
function ownerOfDeployment(state: WorldState, namespace: string, name: string): string | undefined {
  const holder = state.objects.holder(`${namespace} Deployment ${name}`);
  const owner = holder === undefined ? undefined : state.services.get(holder.key);
  const isOwn = owner?.metadata.name === name || owner?.spec.deploy?.strategy === "canary";
  return holder !== undefined && isOwn ? describeResource(holder) : undefined;
}

export function serviceNodeOf(state: WorldState, service: LatticeService, placed: Placed): ServiceNode {
  const node = meshNodeOf(inputFor(state, service, placed));
  return service.spec.workloadRef === undefined ? node : patchedNode(node, identityOf(state, service, placed));
}

/**
 * The ServiceAccount of a service in patch mode: that of the Deployment; of its own Deployment while that still runs and the other does not exist.
 * undefined: none.
 */
function identityOf(state: WorldState, service: LatticeService, placed: Placed): string | undefined {
  const target = targetFor(state, service, placed);
  if (target?.ok === true && target.value.serviceAccount !== undefined) return target.value.serviceAccount;
  const own = state.settings.findWorkload(placed.namespace, service.metadata.name);
  const isOwn = typeof own === "object" && own.madeFor === keyText(service.metadata);
  return isOwn ? service.metadata.name : undefined;
}

function noIdentityReason(state: WorldState, service: LatticeService, placed: Placed): string {
  const target = targetFor(state, service, placed);
  if (target?.ok === false) return describeWorkloadError(target.error).split("\n")[0] ?? "";
  return `there is no Deployment ${keyText(service.spec.workloadRef ?? service.metadata)}`;
}

/** Services in patch mode that name this Deployment, whether or not they may patch it. */
export function patchingServices(state: WorldState, deployment: ObjectKey): readonly ServiceKey[] {
  return state.workloads.claimants(keyText(deployment)).map(({ key }) => key);
}

/** Why a service in patch mode has no identity, so that nothing is open for it; undefined: it has one. */
export function patchProblemOf(state: WorldState, id: ServiceId): string | undefined {
  const holder = state.places.holder(id);
  const service = holder?.kind === "LatticeService" ? state.services.get(holder.key) : undefined;
  const placed = service === undefined ? undefined : placeOf(state, service);
  if (service === undefined || placed?.ok !== true || service.spec.workloadRef === undefined) return undefined;
  return identityOf(state, service, placed.value) === undefined ? noIdentityReason(state, service, placed.value) : undefined;
}

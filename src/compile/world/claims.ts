/** Claims and mesh nodes of one resource, and whom their change affects. */
import { keyText } from "#kube";
import { serviceId, type ServiceId } from "#mesh-compiler";
import { routeClaimsOf } from "../declared-routes.ts";
import { externalNodeOf, sameNode } from "../mesh-node.ts";
import type { Claimant } from "../name-claims.ts";
import { objectNames } from "../object-names.ts";
import { claimedWorkload } from "../patch-target.ts";
import type { RouteClaim } from "../route-claims.ts";
import { readsResources } from "../service-inputs.ts";
import { inputFor } from "./input.ts";
import { serviceNodeOf } from "./patch-identity.ts";
import { resourceNamed, heldId, placeOf, isSame, type WorldState, type ServiceKey, type ResourceName, type When } from "./state.ts";

export function updateClaims(state: WorldState, one: ResourceName, when: When): ReadonlySet<ServiceKey> {
  const object = resourceNamed(state, one);
  const placed = object === undefined ? undefined : placeOf(state, object);
  const id = object === undefined || placed?.ok !== true ? undefined : serviceId(placed.value.namespace, object.metadata.name);
  const claimant: Claimant = { ...one, made: object?.metadata.creationTimestamp ?? "" };
  const held = heldId(state, one);
  const names = object?.kind === "LatticeService" && placed?.ok === true ? objectNames(object, placed.value.namespace) : [];
  const deployments = state.workloads.isEmpty ? [] : [...state.objects.namesOf(one), ...names].flatMap(deploymentIn);
  const rivals = [...state.objects.claimAmong(claimant, names)];
  const workload = object?.kind === "LatticeService" && placed?.ok === true ? claimedWorkload(object, placed.value.namespace) : undefined;
  const patching = new Set([
    ...state.workloads.claimAmong(claimant, workload === undefined ? [] : [workload]),
    ...deployments.flatMap((name) => state.workloads.claimants(name)),
  ]);
  rivals.push(...patching);
  const affected = new Set<ServiceId>();
  for (const place of state.places.claim(claimant, id === undefined ? [] : [id])) {
    rivals.push(...state.places.claimants(place));
    // the current holder is unaffected by a losing claimant
    if (held !== place && !isSame(state.places.holder(place), one)) continue;
    for (const other of updateNode(state, place, when)) affected.add(other);
  }
  for (const other of releaseRoutes(state, one)) affected.add(other);
  // another service may patch its Deployment now, or no longer
  for (const rival of patching) {
    const other = heldId(state, rival);
    for (const further of other === undefined ? [] : updateNode(state, other, "if it differs")) affected.add(further);
  }
  // a service that reads its own outputs must be read again after it is in the mesh
  const readsItself = id !== undefined && state.mesh.graph.service(id)?.declarations.has(id) === true;
  const neighbours = [...affected].filter((other) => other !== id || readsItself);
  for (const other of neighbours) for (const further of refreshReader(state, other)) affected.add(further);
  return new Set([one.key, ...rivals.map(({ key }) => key), ...[...affected].flatMap((other) => state.places.holder(other)?.key ?? [])]);
}

/** A service that is not in the mesh claims no host. */
function releaseRoutes(state: WorldState, one: ResourceName): ReadonlySet<ServiceId> {
  return one.kind === "LatticeService" && heldId(state, one) === undefined ? claimRoutes(state, one.key, []) : new Set();
}

/** Returns the services whose routes may change; their mesh nodes are updated. */
function claimRoutes(state: WorldState, key: ServiceKey, claims: readonly RouteClaim[]): ReadonlySet<ServiceId> {
  const affected = new Set<ServiceId>();
  for (const rival of state.routes.claim(key, claims)) {
    const id = heldId(state, { kind: "LatticeService", key: rival });
    if (id === undefined) continue;
    affected.add(id);
    for (const other of updateNode(state, id, "if it differs")) affected.add(other);
  }
  return affected;
}

/** Updates the mesh node of this id from its current holder. */
function updateNode(state: WorldState, id: ServiceId, when: When): ReadonlySet<ServiceId> {
  const holder = state.places.holder(id);
  const object = holder === undefined ? undefined : resourceNamed(state, holder);
  const placed = object === undefined ? undefined : placeOf(state, object);
  if (object === undefined || placed?.ok !== true) return state.mesh.remove(id).services;
  const affected = new Set<ServiceId>();
  for (const claimant of state.places.claimants(id)) for (const other of releaseRoutes(state, claimant)) affected.add(other);
  if (object.kind === "LatticeService") {
    const claims = routeClaimsOf(object, inputFor(state, object, placed.value));
    for (const other of claimRoutes(state, keyText(object.metadata), claims)) affected.add(other);
  }
  const node =
    object.kind === "LatticeService" ? serviceNodeOf(state, object, placed.value) : externalNodeOf(object, placed.value.namespace);
  const known = state.mesh.graph.get(id);
  if (when === "always" || known === undefined || !sameNode(known, node))
    for (const other of state.mesh.put(node).services) affected.add(other);
  return affected;
}

/** Params may read a neighbour's outputs, so the declarations of such a service depend on the neighbour too. */
function refreshReader(state: WorldState, id: ServiceId): ReadonlySet<ServiceId> {
  const service = state.services.get(state.places.holder(id)?.key ?? "");
  const params = Object.values(service?.spec.resources ?? {}).map((resource) => resource.params);
  return state.mesh.graph.service(id) !== undefined && params.some(readsResources) ? updateNode(state, id, "if it differs") : new Set();
}

/** `prod Deployment api` is Deployment `prod/api`; other names are none. */
function deploymentIn(name: string): readonly string[] {
  const [namespace = "", kind, own = ""] = name.split(" ");
  return kind === "Deployment" ? [`${namespace}/${own}`] : [];
}

/** Takes a changed resource into account: its claims and its node, and all that depend on its namespace. */
import type { LatticeEnvironment } from "#crds";
import { splitId } from "#mesh-compiler";
import { namespaceOfEnvironment } from "../placement.ts";
import { updateClaims } from "./claims.ts";
import {
  resourceNamed,
  targetPlace,
  gatewayOf,
  isSame,
  describeResource,
  type WorldState,
  type ServiceKey,
  type ResourceName,
  type When,
} from "./state.ts";

export function replaceAll(
  state: WorldState,
  services: Iterable<ServiceKey>,
  externals: Iterable<ServiceKey> = [],
): ReadonlySet<ServiceKey> {
  const affected = new Set<ServiceKey>();
  const all: Iterable<ResourceName> = [
    ...[...services].map((key) => ({ kind: "LatticeService", key }) as const),
    ...[...externals].map((key) => ({ kind: "LatticeExternalService", key }) as const),
  ];
  for (const one of all) for (const other of replaceResource(state, one)) affected.add(other);
  return affected;
}

/**
 * Updates the mesh node of a resource, and removes its node under an earlier id. "if it differs": only its own spec changed, so
 * its node may be unchanged, and then its neighbours are not affected.
 */
export function replaceResource(state: WorldState, one: ResourceName, when: When = "always"): ReadonlySet<ServiceKey> {
  const changed = claimNamespace(state, one);
  const affected = updateClaims(state, one, when);
  return changed.length === 0 ? affected : new Set([...affected, ...replaceTargeting(state, changed, one)]);
}

/** Returns the namespaces whose reservation changed. */
function claimNamespace(state: WorldState, one: ResourceName): readonly string[] {
  const object = resourceNamed(state, one);
  const target = object === undefined ? undefined : targetPlace(state, object);
  const made = object?.metadata.creationTimestamp ?? "";
  const closes = one.kind === "LatticeService";
  return state.reserved.setTarget(
    describeResource(one),
    target?.ok === true ? { namespace: target.value.namespace, made, closes } : undefined,
  );
}

function replaceTargeting(state: WorldState, namespaces: readonly string[], except?: ResourceName): ReadonlySet<ServiceKey> {
  for (const namespace of namespaces) updateNamespaceOwner(state, namespace);
  const affected = new Set(replaceAll(state, servicesInside(state, new Set(namespaces))));
  for (const namespace of namespaces) {
    for (const who of state.reserved.wanting(namespace)) {
      const [kind = "", key = ""] = who.split(" ");
      if ((kind !== "LatticeService" && kind !== "LatticeExternalService") || (except !== undefined && isSame(except, { kind, key })))
        continue;
      for (const other of replaceResource(state, { kind, key })) affected.add(other);
    }
  }
  return affected;
}

/** Of several environments with the same namespace, the oldest holds it. */
function updateNamespaceOwner(state: WorldState, namespace: string): void {
  const candidates = [...state.environments].filter(([name, environment]) => namespaceOfEnvironment(name, environment) === namespace);
  const [first] = candidates.map(([, environment]) => environment).toSorted(byAge);
  if (first === undefined || state.reserved.reasonFor(namespace) !== undefined) state.environmentOf.delete(namespace);
  else state.environmentOf.set(namespace, first);
}

export function changeEnvironment(state: WorldState, name: string, next: LatticeEnvironment | undefined): ReadonlySet<ServiceKey> {
  const before = state.environments.get(name);
  if (next === undefined) state.environments.delete(name);
  else state.environments.set(name, next);
  const both = [before, next].filter((one) => one !== undefined);
  const namespaces = both.map((one) => namespaceOfEnvironment(name, one));
  const concerned = [...new Set([...namespaces, ...both.flatMap(({ spec }) => spec.gatewayRef?.namespace ?? [])])];
  const reasons = concerned.map((namespace) => state.reserved.reasonFor(namespace));
  state.reserved.setEnvironment(name, next);
  const changed = concerned.filter((namespace, at) => (state.reserved.reasonFor(namespace) === undefined) !== (reasons[at] === undefined));
  for (const namespace of concerned) updateNamespaceOwner(state, namespace);
  const inside = servicesInside(state, new Set(namespaces));
  const own = replaceAll(state, new Set([...state.services.keysUnder(name), ...inside]), state.externals.keysUnder(name));
  return changed.length === 0 ? own : new Set([...own, ...replaceTargeting(state, changed)]);
}

/** Services that run in the namespaces, and those with routes through a gateway there: the gateway's identity includes the namespace. */
function servicesInside(state: WorldState, namespaces: ReadonlySet<string>): readonly ServiceKey[] {
  return [...state.mesh.graph.nodes()].flatMap((node) => {
    if (node.kind !== "service") return [];
    const { namespace } = splitId(node.id);
    const routed = node.routedPorts.length > 0 && namespaces.has(gatewayOf(state, namespace).namespace);
    const key = namespaces.has(namespace) || routed ? state.places.holder(node.id)?.key : undefined;
    return key === undefined ? [] : [key];
  });
}

function byAge(a: LatticeEnvironment, b: LatticeEnvironment): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

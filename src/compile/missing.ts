/** The missing declarations between two services, and the YAML that adds them. */
import { formatYaml } from "#kube";
import { admits, calls, isCalled, splitId, type ExternalNode, type ServiceId, type ServiceNode } from "#mesh-compiler";
import type { ServiceKey, World } from "./world.ts";

/** One missing declaration. */
export type Missing = {
  readonly kind: "LatticeService" | "LatticeExternalService";
  /** The resource to change: `namespace/name`. */
  readonly key: ServiceKey;
  readonly what: string;
  /** To be merged into the resource. */
  readonly yaml: string;
};

type Direction = "inbound" | "outbound";

export function missingBetween(world: World, caller: ServiceNode, callee: ServiceNode): readonly Missing[] {
  const declared = (node: ServiceNode, peer: ServiceId, direction: typeof calls) => (node.declarations.get(peer) ?? []).some(direction);
  return [
    ...(declared(caller, callee.id, calls) ? [] : [declarationFor(world, caller, callee.id, "outbound")]),
    ...(declared(callee, caller.id, isCalled) ? [] : [declarationFor(world, callee, caller.id, "inbound")]),
  ];
}

function declarationFor(world: World, node: ServiceNode, peer: ServiceId, direction: Direction): Missing {
  return {
    kind: "LatticeService",
    key: world.keyOf(node.id) ?? node.id,
    what:
      direction === "outbound"
        ? `${node.id} does not declare that it calls ${peer}`
        : `${node.id} does not declare that ${peer} may call it`,
    yaml: formatYaml({ spec: { resources: entryFor(world, node, peer, direction, "service") } }),
  };
}

/** An entry for the other direction is changed to `both`; the name of an entry for another peer is not reused. */
export function entryFor(
  world: World,
  node: Pick<ServiceNode, "id" | "declarations">,
  peer: ServiceId,
  direction: Direction,
  type: string,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const { namespace, name } = splitId(peer);
  const about = node.declarations.get(peer)?.[0];
  if (about !== undefined) return { [about.resource]: { type, direction: "both" } };
  const taken = world.service(world.keyOf(node.id) ?? "")?.spec.resources ?? {};
  const key = Object.hasOwn(taken, name) ? `${name}-${direction}` : name;
  const elsewhere = namespace !== splitId(node.id).namespace;
  return { [key]: { type, direction, ...(elsewhere ? { id: peer } : key === name ? {} : { id: name }) } };
}

export function missingToOutside(world: World, caller: ServiceNode, callee: ExternalNode): readonly Missing[] {
  const near = splitId(caller.id).namespace === splitId(callee.id).namespace;
  const declared = (caller.declarations.get(callee.id) ?? []).some(calls);
  const ask: Missing = {
    kind: "LatticeService",
    key: world.keyOf(caller.id) ?? caller.id,
    what: `${caller.id} does not declare that it calls ${callee.id}`,
    yaml: formatYaml({ spec: { resources: entryFor(world, caller, callee.id, "outbound", "external-service") } }),
  };
  const allow: Missing = {
    kind: "LatticeExternalService",
    key: world.keyOf(callee.id) ?? callee.id,
    what: `${callee.id} does not list ${caller.id} in spec.allowedRequesters`,
    yaml: formatYaml({ spec: { allowedRequesters: [near ? splitId(caller.id).name : caller.id] } }),
  };
  return [...(declared ? [] : [ask]), ...(admits(callee, caller.id) ? [] : [allow])];
}

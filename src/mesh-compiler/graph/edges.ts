/** Every declared edge and its state: the input of `lattice graph` and of warnings. */
import { admits, agreement } from "./agreements.ts";
import type { ServiceGraph } from "./graph.ts";
import { calls, isCalled, type Port, type ServiceId, type ServiceNode } from "./node.ts";

export type EdgeState =
  /** Both sides declare it, with at least one port in common. */
  | { readonly kind: "agreed"; readonly ports: readonly Port[] }
  /** Both sides declare it, without a port in common. */
  | { readonly kind: "no-port" }
  | { readonly kind: "caller-only" }
  | { readonly kind: "callee-only" }
  /** The service does not exist. */
  | { readonly kind: "unknown-callee" }
  | { readonly kind: "unknown-caller" }
  /** A database that Lattice does not run: the caller's declaration alone opens its egress. */
  | { readonly kind: "managed"; readonly port: number }
  | { readonly kind: "external" }
  | { readonly kind: "external-closed" };

export type Edge = { readonly caller: ServiceId; readonly callee: ServiceId; readonly state: EdgeState };

/** The edges that a service declares itself, in either direction. */
export function edgesOf(graph: ServiceGraph, node: ServiceNode): readonly Edge[] {
  return [...node.declarations].flatMap(([peer, about]) => [
    ...(about.some(calls) ? [{ caller: node.id, callee: peer, state: stateOfCall(graph, node, peer) }] : []),
    ...(about.some(isCalled) && peer !== node.id ? [{ caller: peer, callee: node.id, state: stateOfBeingCalled(graph, node, peer) }] : []),
  ]);
}

function stateOfCall(graph: ServiceGraph, caller: ServiceNode, peer: ServiceId): EdgeState {
  const callee = graph.get(peer);
  if (callee === undefined) {
    const port = caller.declarations.get(peer)?.find((one) => calls(one) && one.managedPort !== undefined)?.managedPort;
    return port === undefined ? { kind: "unknown-callee" } : { kind: "managed", port };
  }
  if (callee.kind === "external") return admits(callee, caller.id) ? { kind: "external" } : { kind: "external-closed" };
  if (callee.declarations.get(caller.id)?.some(isCalled) !== true) return { kind: "caller-only" };
  const agreed = agreement(caller, callee);
  return agreed === undefined ? { kind: "no-port" } : { kind: "agreed", ports: agreed.ports };
}

function stateOfBeingCalled(graph: ServiceGraph, callee: ServiceNode, peer: ServiceId): EdgeState {
  const caller = graph.service(peer);
  if (caller === undefined) return { kind: "unknown-caller" };
  if (caller.declarations.get(callee.id)?.some(calls) !== true) return { kind: "callee-only" };
  return stateOfCall(graph, caller, callee.id);
}

/** All edges of a mesh, each once, in a fixed order. */
export function allEdges(graph: ServiceGraph): readonly Edge[] {
  const edges = new Map<string, Edge>();
  for (const node of graph.nodes()) {
    if (node.kind === "service") for (const edge of edgesOf(graph, node)) edges.set(`${edge.caller} ${edge.callee}`, edge);
  }
  return [...edges].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge);
}

/**
 * The calls that both sides declare. Every allow rule of the compiled policies is derived from these agreements.
 */
import type { ServiceGraph } from "./graph.ts";
import {
  calls,
  isCalled,
  type PeerDeclaration,
  type ExternalNode,
  type Port,
  type RequestRules,
  type ServiceId,
  type ServiceNode,
  splitId,
} from "./node.ts";

/** One service may call another, on these ports. */
export type Agreement = {
  readonly caller: ServiceId;
  readonly callee: ServiceId;
  readonly ports: readonly Port[];
  readonly requests: RequestRules | undefined;
};

/** What a service may call, by kind. */
export type Outgoing = {
  readonly services: readonly Agreement[];
  readonly externals: readonly ExternalNode[];
  /** Databases that Lattice does not run: they declare nothing, so the caller's declaration is enough. */
  readonly managed: readonly { readonly peer: ServiceId; readonly port: number }[];
};

/** The callers of a service, by id. */
export function incoming(graph: ServiceGraph, callee: ServiceNode): readonly Agreement[] {
  return [...callee.declarations.keys()].toSorted().flatMap((peer) => {
    const caller = graph.service(peer);
    const agreed = caller === undefined ? undefined : agreement(caller, callee);
    return agreed === undefined ? [] : [agreed];
  });
}

export function outgoing(graph: ServiceGraph, caller: ServiceNode): Outgoing {
  const services: Agreement[] = [];
  const externals: ExternalNode[] = [];
  const managed: { readonly peer: ServiceId; readonly port: number }[] = [];
  for (const peer of [...caller.declarations.keys()].toSorted()) {
    const about = caller.declarations.get(peer) ?? [];
    if (!about.some((one) => calls(one) && opens(one))) continue;
    const node = graph.get(peer);
    if (node === undefined) managed.push(...managedAt(about, peer));
    else if (node.kind === "external") {
      if (admits(node, caller.id)) externals.push(node);
    } else {
      const agreed = agreement(caller, node);
      if (agreed !== undefined) services.push(agreed);
    }
  }
  return { services, externals, managed };
}

function managedAt(about: readonly PeerDeclaration[], peer: ServiceId) {
  const ports = about.flatMap((one) => (calls(one) && opens(one) && one.managedPort !== undefined ? [one.managedPort] : []));
  return [...new Set(ports)].map((port) => ({ peer, port }));
}

export function admits({ id, requesters }: ExternalNode, caller: ServiceId): boolean {
  return requesters.has(caller) || (requesters.has("*") && splitId(id).namespace === splitId(caller).namespace);
}

/** undefined: one side does not declare the call, or the two declarations have no port in common. */
export function agreement(caller: ServiceNode, callee: ServiceNode): Agreement | undefined {
  const outbound = (caller.declarations.get(callee.id) ?? []).filter(calls).filter(opens);
  const inbound = (callee.declarations.get(caller.id) ?? []).filter(isCalled).filter(opens);
  if (outbound.length === 0 || inbound.length === 0) return undefined;
  const ports = callee.ports.filter((port) => names(outbound, port) && names(inbound, port));
  if (ports.length === 0) return undefined;
  return { caller: caller.id, callee: callee.id, ports, requests: requestsOf(inbound) };
}

/** An empty list of ports marks a declaration that could not be parsed. It opens nothing, and is ignored when the declarations about a peer are combined. */
function opens({ ports }: PeerDeclaration): boolean {
  return ports?.length !== 0;
}

/** A port counts when any declaration about the peer lists it. */
function names(declarations: readonly PeerDeclaration[], port: Port): boolean {
  return declarations.some(({ ports }) => ports === undefined || ports.some((one) => one === port.name || one === port.port));
}

/** Only the callee limits requests; one declaration without rules allows all of them. */
function requestsOf(inbound: readonly PeerDeclaration[]): RequestRules | undefined {
  const rules = inbound.flatMap(({ requests }) => (requests === undefined ? [] : [requests]));
  if (rules.length < inbound.length) return undefined;
  return { methods: unionOrAny(rules.map(({ methods }) => methods)), paths: unionOrAny(rules.map(({ paths }) => paths)) };
}

/** The union of the lists; an empty list means any value, and so does the result then. */
function unionOrAny(lists: readonly (readonly string[])[]): readonly string[] {
  return lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())].toSorted();
}

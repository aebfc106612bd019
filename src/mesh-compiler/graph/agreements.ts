/**
 * Where both sides agree, and where only one does. Everything that is opened anywhere comes from here.
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

/** undefined: one side does not agree, or no port is left that both mean. */
export function agreement(caller: ServiceNode, callee: ServiceNode): Agreement | undefined {
  const outbound = (caller.declarations.get(callee.id) ?? []).filter(calls).filter(opens);
  const inbound = (callee.declarations.get(caller.id) ?? []).filter(isCalled).filter(opens);
  if (outbound.length === 0 || inbound.length === 0) return undefined;
  const ports = callee.ports.filter((port) => names(outbound, port) && names(inbound, port));
  if (ports.length === 0) return undefined;
  return { caller: caller.id, callee: callee.id, ports, requests: requestsOf(inbound) };
}

/** One without ports opens nothing: it was not understood. It must not count where others about the same peer are joined with it. */
function opens({ ports }: PeerDeclaration): boolean {
  return ports?.length !== 0;
}

/** Several declarations about one peer add up. */
function names(declarations: readonly PeerDeclaration[], port: Port): boolean {
  return declarations.some(({ ports }) => ports === undefined || ports.some((one) => one === port.name || one === port.port));
}

/** The callee says which requests it takes; one declaration without rules takes all. */
function requestsOf(inbound: readonly PeerDeclaration[]): RequestRules | undefined {
  const rules = inbound.flatMap(({ requests }) => (requests === undefined ? [] : [requests]));
  if (rules.length < inbound.length) return undefined;
  return { methods: unless(rules.map(({ methods }) => methods)), paths: unless(rules.map(({ paths }) => paths)) };
}

/** All of them, or any when one of them means any. */
function unless(lists: readonly (readonly string[])[]): readonly string[] {
  return lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())].toSorted();
}

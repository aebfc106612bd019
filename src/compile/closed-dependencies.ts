/**
 * The declared calls of a service that are closed, each with the missing declaration and the resource that needs it: one line, for the status.
 * Only outbound declarations are reported; closed inbound ones are reported in the status of the callers.
 */
import type { LatticeService } from "#crds";
import { agreement, calls, isCalled, admits, splitId, type PeerDeclaration, type ServiceId, type ServiceNode } from "#mesh-compiler";
import { entriesOf } from "#service-compiler";
import { entryFor } from "./missing.ts";
import type { World } from "./world.ts";

/** The declared calls of a service, and which of them are closed. */
export type Dependencies = {
  /** Number of declared calls, open or closed. */
  readonly count: number;
  /** By the name in `spec.resources`. */
  readonly closed: ReadonlyMap<string, string>;
};

/** A service in the mesh, and its resources with errors; computed only for resources that are not in the mesh. */
export type Depending = { readonly service: LatticeService; readonly id: ServiceId; readonly erroneous: () => ReadonlySet<string> };

export function dependenciesOf(world: World, { service, id, erroneous }: Depending): Dependencies {
  const node = world.mesh.graph.service(id);
  const closed = new Map<string, string>();
  const declared = new Set<string>();
  for (const [peer, about] of node?.declarations ?? []) {
    const calling = about.filter(calls);
    const reason = node === undefined || calling.length === 0 ? undefined : reasonFor(world, node, peer, calling);
    for (const { resource } of calling) {
      declared.add(resource);
      if (reason !== undefined) closed.set(resource, reason);
    }
  }
  const problem = world.patchProblem(id);
  if (problem !== undefined) return closedAll(outboundOf(service, id), problem);
  const undeclared = outboundOf(service, id).filter((name) => !declared.has(name));
  const errors = undeclared.length === 0 ? NONE : erroneous();
  // a bucket has no peer and no edge; a resource with an error is reported because it may declare a call
  const broken = undeclared.filter((name) => errors.has(name));
  for (const name of broken) closed.set(name, hasError(name));
  return { count: declared.size + broken.length, closed };
}

function closedAll(resources: readonly string[], reason: string): Dependencies {
  return { count: resources.length, closed: new Map(resources.map((name) => [name, reason])) };
}

const NONE: ReadonlySet<string> = new Set();

/** A route, a host name and a volume are not calls. */
const NOT_CALLED = new Set(["route", "dns", "volume"]);

function outboundOf(service: LatticeService, id: ServiceId): readonly string[] {
  const entries = entriesOf({ service, namespace: splitId(id).namespace });
  return entries.filter(({ direction, type }) => direction !== "inbound" && !NOT_CALLED.has(type)).map(({ name }) => name);
}

function hasError(resource: string): string {
  return `spec.resources.${resource} has an error; see the condition TemplatesResolved`;
}

/** undefined: the call is open. */
function reasonFor(world: World, caller: ServiceNode, peer: ServiceId, calling: readonly PeerDeclaration[]): string | undefined {
  const callee = world.mesh.graph.get(peer);
  const [first] = calling;
  const resource = first?.resource ?? "";
  if (callee === undefined) {
    if (calling.some(({ managedPort }) => managedPort !== undefined)) return undefined;
    const entry = flow(entryFor(world, { id: peer, declarations: new Map() }, caller.id, "inbound", "service"));
    return `there is no LatticeService ${peer}; create it with ${entry}, or correct spec.resources.${resource}.id`;
  }
  const key = world.keyOf(peer) ?? peer;
  if (callee.kind === "external") {
    if (admits(callee, caller.id)) return undefined;
    const near = splitId(caller.id).namespace === splitId(peer).namespace;
    const name = near ? splitId(caller.id).name : caller.id;
    return `${peer} has not agreed; add ${name} to spec.allowedRequesters of LatticeExternalService ${key}`;
  }
  if (world.isInvalid(peer)) return `LatticeService ${key} is invalid; its status has the error`;
  const problem = world.patchProblem(peer);
  if (problem !== undefined) return `LatticeService ${key} is closed: ${problem}`;
  if (callee.declarations.get(caller.id)?.some(isCalled) !== true) {
    const entry = flow(entryFor(world, callee, caller.id, "inbound", "service"));
    return `${peer} has not agreed; add ${entry} to LatticeService ${key}`;
  }
  if (agreement(caller, callee) !== undefined) return undefined;
  if (calling.every(({ ports }) => ports?.length === 0)) return hasError(resource);
  return `the caller and the callee have no port in common; compare params.ports here and in LatticeService ${key} with its spec.service.ports`;
}

/** `spec.resources.cart: {direction: inbound}` */
function flow(entry: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const [[name, fields] = ["", {}]] = Object.entries(entry);
  const pairs = Object.entries(fields).map(([field, value]) => `${field}: ${value}`);
  return `spec.resources.${name}: {${pairs.join(", ")}}`;
}

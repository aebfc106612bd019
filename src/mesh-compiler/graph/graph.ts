/**
 * All nodes, indexed by the peers that they declare. A change returns the affected services, so that only their policies are recompiled.
 *
 * The policies of a service depend on the service itself, on its declared peers, and on whether these peers exist. So a change of one node
 * affects it and the services that declare it as a peer: few, however large the mesh is.
 */
import { type PeerDeclaration, type ExternalNode, type MeshNode, type ServiceId, type ServiceNode, splitId } from "./node.ts";

export class ServiceGraph {
  readonly #nodes = new Map<ServiceId, MeshNode>();
  /** By declared peer: the services that declare it. */
  readonly #mentions = new Map<ServiceId, Set<ServiceId>>();
  /** By namespace: its services. */
  readonly #services = new Map<string, Set<ServiceId>>();
  readonly #waypoints = new Map<string, number>();
  /** By namespace and host: the external services with this host. */
  readonly #hosts = new Map<string, Set<ServiceId>>();

  get size(): number {
    return this.#nodes.size;
  }

  get(id: ServiceId): MeshNode | undefined {
    return this.#nodes.get(id);
  }

  service(id: ServiceId): ServiceNode | undefined {
    const node = this.#nodes.get(id);
    return node?.kind === "service" ? node : undefined;
  }

  nodes(): IterableIterator<MeshNode> {
    return this.#nodes.values();
  }

  servicesIn(namespace: string): Iterable<ServiceId> {
    return this.#services.get(namespace) ?? [];
  }

  hasServices(namespace: string): boolean {
    return this.#services.has(namespace);
  }

  namespaces(): Iterable<string> {
    return this.#services.keys();
  }

  mentioning(id: ServiceId): Iterable<ServiceId> {
    return this.#mentions.get(id) ?? [];
  }

  /** External services of a namespace with this host, sorted by id. */
  externalsAt(namespace: string, host: string): readonly ExternalNode[] {
    const ids = [...(this.#hosts.get(hostKey(namespace, host)) ?? [])].toSorted();
    return ids.flatMap((id) => {
      const node = this.#nodes.get(id);
      return node?.kind === "external" ? [node] : [];
    });
  }

  /** Whether a service of the namespace needs a proxy that reads requests. */
  needsWaypoint(namespace: string): boolean {
    return (this.#waypoints.get(namespace) ?? 0) > 0;
  }

  /** Returns the services whose policies may have changed, including the node itself. */
  put(node: MeshNode): ReadonlySet<ServiceId> {
    const affected = this.#remove(node.id);
    this.#nodes.set(node.id, node);
    if (node.kind === "service") this.#link(node);
    else for (const key of hostKeysOf(node)) add(this.#hosts, key, node.id);
    this.#addAffected(affected, node);
    return affected;
  }

  remove(id: ServiceId): ReadonlySet<ServiceId> {
    return this.#remove(id);
  }

  #remove(id: ServiceId): Set<ServiceId> {
    const affected = new Set<ServiceId>([id]);
    const node = this.#nodes.get(id);
    if (node === undefined) return affected;
    this.#addAffected(affected, node);
    this.#nodes.delete(id);
    if (node.kind === "service") this.#unlink(node);
    else for (const key of hostKeysOf(node)) drop(this.#hosts, key, node.id);
    return affected;
  }

  #addAffected(affected: Set<ServiceId>, node: MeshNode): void {
    for (const other of this.mentioning(node.id)) affected.add(other);
    if (node.kind === "service") {
      for (const peer of node.declarations.keys()) if (this.service(peer) !== undefined) affected.add(peer);
      return;
    }
    for (const key of hostKeysOf(node)) for (const other of this.#hosts.get(key) ?? []) affected.add(other);
  }

  #link(node: ServiceNode): void {
    const { namespace } = splitId(node.id);
    add(this.#services, namespace, node.id);
    for (const peer of node.declarations.keys()) add(this.#mentions, peer, node.id);
    if (needsRequestProxy(node)) this.#waypoints.set(namespace, (this.#waypoints.get(namespace) ?? 0) + 1);
  }

  #unlink(node: ServiceNode): void {
    const { namespace } = splitId(node.id);
    drop(this.#services, namespace, node.id);
    for (const peer of node.declarations.keys()) drop(this.#mentions, peer, node.id);
    if (needsRequestProxy(node)) this.#waypoints.set(namespace, (this.#waypoints.get(namespace) ?? 0) - 1);
  }
}

function hostKey(namespace: string, host: string): string {
  return `${namespace} ${host}`;
}

function hostKeysOf({ id, endpoints }: ExternalNode): readonly string[] {
  const { namespace } = splitId(id);
  return [...new Set(endpoints.map(({ host }) => hostKey(namespace, host)))];
}

function needsRequestProxy({ canary, declarations }: ServiceNode): boolean {
  return canary || [...declarations.values()].some((about) => about.some(needsRequestRules));
}

function needsRequestRules({ requests, direction }: PeerDeclaration): boolean {
  return requests !== undefined && direction !== "outbound";
}

function add(index: Map<string, Set<string>>, key: string, value: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([value]));
  else known.add(value);
}

function drop(index: Map<string, Set<string>>, key: string, value: string): void {
  const known = index.get(key);
  known?.delete(value);
  if (known?.size === 0) index.delete(key);
}

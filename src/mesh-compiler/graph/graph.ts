/**
 * All nodes, and who mentions whom. A change says which services it touches, so that only their policies are made anew.
 *
 * What a service's policies say depends on itself, on those it mentions, and on whether these are there at all. So a change of one node
 * touches it and those that mention it: a handful, however large the mesh is.
 */
import { type PeerDeclaration, type ExternalNode, type MeshNode, type ServiceId, type ServiceNode, splitId } from "./node.ts";

export class ServiceGraph {
  readonly #nodes = new Map<ServiceId, MeshNode>();
  /** By what is mentioned: those who mention it. */
  readonly #mentions = new Map<ServiceId, Set<ServiceId>>();
  /** By namespace: its services. */
  readonly #services = new Map<string, Set<ServiceId>>();
  readonly #waypoints = new Map<string, number>();
  /** By namespace and host: external services that have it. */
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

  /** External services of a namespace that have a host, by id. */
  externalsAt(namespace: string, host: string): readonly ExternalNode[] {
    const ids = [...(this.#hosts.get(hostKey(namespace, host)) ?? [])].toSorted();
    return ids.flatMap((id) => {
      const node = this.#nodes.get(id);
      return node?.kind === "external" ? [node] : [];
    });
  }

  /** Some service of the namespace needs requests to be read. */
  needsWaypoint(namespace: string): boolean {
    return (this.#waypoints.get(namespace) ?? 0) > 0;
  }

  /** The services whose policies may differ now, itself included. */
  put(node: MeshNode): ReadonlySet<ServiceId> {
    const touched = this.#remove(node.id);
    this.#nodes.set(node.id, node);
    if (node.kind === "service") this.#link(node);
    else for (const key of hostKeysOf(node)) add(this.#hosts, key, node.id);
    this.#touch(touched, node);
    return touched;
  }

  remove(id: ServiceId): ReadonlySet<ServiceId> {
    return this.#remove(id);
  }

  #remove(id: ServiceId): Set<ServiceId> {
    const touched = new Set<ServiceId>([id]);
    const node = this.#nodes.get(id);
    if (node === undefined) return touched;
    this.#touch(touched, node);
    this.#nodes.delete(id);
    if (node.kind === "service") this.#unlink(node);
    else for (const key of hostKeysOf(node)) drop(this.#hosts, key, node.id);
    return touched;
  }

  #touch(touched: Set<ServiceId>, node: MeshNode): void {
    for (const other of this.mentioning(node.id)) touched.add(other);
    if (node.kind === "service") {
      for (const peer of node.declarations.keys()) if (this.service(peer) !== undefined) touched.add(peer);
      return;
    }
    for (const key of hostKeysOf(node)) for (const other of this.#hosts.get(key) ?? []) touched.add(other);
  }

  #link(node: ServiceNode): void {
    const { namespace } = splitId(node.id);
    add(this.#services, namespace, node.id);
    for (const peer of node.declarations.keys()) add(this.#mentions, peer, node.id);
    if (readsRequests(node)) this.#waypoints.set(namespace, (this.#waypoints.get(namespace) ?? 0) + 1);
  }

  #unlink(node: ServiceNode): void {
    const { namespace } = splitId(node.id);
    drop(this.#services, namespace, node.id);
    for (const peer of node.declarations.keys()) drop(this.#mentions, peer, node.id);
    if (readsRequests(node)) this.#waypoints.set(namespace, (this.#waypoints.get(namespace) ?? 0) - 1);
  }
}

function hostKey(namespace: string, host: string): string {
  return `${namespace} ${host}`;
}

function hostKeysOf({ id, endpoints }: ExternalNode): readonly string[] {
  const { namespace } = splitId(id);
  return [...new Set(endpoints.map(({ host }) => hostKey(namespace, host)))];
}

function readsRequests({ canary, declarations }: ServiceNode): boolean {
  return canary || [...declarations.values()].some((about) => about.some(needsReader));
}

function needsReader({ requests, direction }: PeerDeclaration): boolean {
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

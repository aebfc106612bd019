/**
 * The declarations of the mesh: the ports of each service, and the peers that it calls or accepts calls from. It contains no manifests, only
 * Kubernetes names.
 */

/** `namespace/name`. The same name in another namespace is another service. */
export type ServiceId = string;

export function serviceId(namespace: string, name: string): ServiceId {
  return `${namespace}/${name}`;
}

export function splitId(id: ServiceId): { readonly namespace: string; readonly name: string } {
  const slash = id.indexOf("/");
  return { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
}

export type Port = {
  readonly name: string;
  /** Of the Service. */
  readonly port: number;
  /** Of the pod. */
  readonly targetPort: number;
  readonly protocol: "TCP" | "UDP" | "SCTP";
};

/** The methods and paths that a request must match; only a proxy that reads requests can enforce them. */
export type RequestRules = { readonly methods: readonly string[]; readonly paths: readonly string[] };

export type Direction = "inbound" | "outbound" | "both";

export type PeerDeclaration = {
  /** The key in `spec.resources`: messages use this name. */
  readonly resource: string;
  readonly peer: ServiceId;
  readonly direction: Direction;
  /** Names or numbers of the callee's ports; undefined: all of them. */
  readonly ports: readonly (string | number)[] | undefined;
  readonly requests: RequestRules | undefined;
  /** The port of a database that need not be a Lattice service; its name is the peer's. */
  readonly managedPort: number | undefined;
};

export type ServiceNode = {
  readonly kind: "service";
  readonly id: ServiceId;
  readonly serviceAccount: string;
  readonly ports: readonly Port[];
  /** By peer. A map, because a service may have thousands of callers and each of them is looked up. */
  readonly declarations: ReadonlyMap<ServiceId, readonly PeerDeclaration[]>;
  /** Ports that a route publishes outside the cluster. */
  readonly routedPorts: readonly number[];
  /** Its traffic is split by request, which needs a waypoint. */
  readonly canary: boolean;
  /** Flagger analyses the canary by metrics, so its metrics server must be able to read them. */
  readonly measured: boolean;
};

/** A service without declarations: no calls, no callers and no ports. */
export function closedNode(id: ServiceId): ServiceNode {
  const { name } = splitId(id);
  const nothing = { ports: [], declarations: new Map(), routedPorts: [], canary: false, measured: false };
  return { kind: "service", id, serviceAccount: name, ...nothing };
}

export type ExternalEndpoint = { readonly name: string; readonly host: string; readonly port: number; readonly scheme: string };

export type ExternalNode = {
  readonly kind: "external";
  readonly id: ServiceId;
  readonly endpoints: readonly ExternalEndpoint[];
  /** Services that may call it; "*" matches every service of its namespace. */
  readonly requesters: ReadonlySet<ServiceId>;
  readonly resolution: "dns" | "static";
};

/** Whether a host is an IP address: it is not resolved by DNS, so rules by name never match it. */
export function isAddress(host: string): boolean {
  return host.includes(":") || /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(host);
}

export type MeshNode = ServiceNode | ExternalNode;

export function declarationsByPeer(declarations: Iterable<PeerDeclaration>): ReadonlyMap<ServiceId, readonly PeerDeclaration[]> {
  const byPeer = new Map<ServiceId, PeerDeclaration[]>();
  for (const declaration of declarations) {
    const known = byPeer.get(declaration.peer);
    if (known === undefined) byPeer.set(declaration.peer, [declaration]);
    else known.push(declaration);
  }
  return byPeer;
}

export function calls({ direction }: PeerDeclaration): boolean {
  return direction !== "inbound";
}

export function isCalled({ direction }: PeerDeclaration): boolean {
  return direction !== "outbound";
}

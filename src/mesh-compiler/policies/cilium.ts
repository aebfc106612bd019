/**
 * Layer 4: pairs of pods. Between pods of the mesh all traffic uses one port (HBONE), so Cilium can restrict the pair but not the port; the ports
 * of the service are listed for traffic outside the mesh. Istio's policies restrict the ports.
 */
import type { JsonObject, KubeObject } from "#kube";
import type { Agreement, Outgoing } from "../graph/agreements.ts";
import { isAddress, splitId, type ExternalNode, type Port, type ServiceNode } from "../graph/node.ts";
import { HBONE_PORT, METRICS_PORT_NAME, PROBE_CIDR, type GatewayIdentity } from "../settings.ts";
import { meshMetadata } from "./metadata.ts";
import { DNS_PODS, gatewayPods, managedPods, ownPods, podsIn, podsOf, waypointPods } from "./selectors.ts";

export type Neighbourhood = {
  readonly node: ServiceNode;
  readonly incoming: readonly Agreement[];
  readonly outgoing: Outgoing;
  /** Whether the namespace of the service has a waypoint. */
  readonly behindWaypoint: boolean;
  /** Namespaces of callees that have a waypoint. */
  readonly waypointsCalled: readonly string[];
  readonly gateway: GatewayIdentity;
  /** The namespace whose pods may read its metrics. */
  readonly scrapers: string | undefined;
};

/** Scrapers may read only the port named `metrics`. */
export function scrapedPorts({ node, scrapers }: Neighbourhood): readonly Port[] {
  if (scrapers === undefined) return [];
  return node.ports.filter(({ name, protocol }) => name === METRICS_PORT_NAME && protocol === "TCP");
}

export function ciliumPolicy(neighbourhood: Neighbourhood): KubeObject {
  const { namespace, name } = splitId(neighbourhood.node.id);
  return {
    apiVersion: "cilium.io/v2",
    kind: "CiliumNetworkPolicy",
    metadata: meshMetadata(namespace, name),
    spec: { endpointSelector: ownPods(name), ingress: ingressRules(neighbourhood), egress: egressRules(neighbourhood) },
  } as unknown as KubeObject;
}

/** Always allows probes; callers on their agreed ports; and the gateway, the waypoint and scrapers where they exist. */
function ingressRules(neighbourhood: Neighbourhood): readonly JsonObject[] {
  const { node, incoming, behindWaypoint, gateway, scrapers = "" } = neighbourhood;
  const { namespace } = splitId(node.id);
  const scraped = scrapedPorts(neighbourhood);
  const routed = node.ports.filter(({ port }) => node.routedPorts.includes(port));
  // the waypoint forwards allowed requests, and makes no calls of its own
  const passed = behindWaypoint && (incoming.length > 0 || routed.length > 0);
  return [
    PROBES,
    ...byPorts(incoming.map(({ caller, ports }) => ({ pods: podsOf(caller), ports }))).map(({ pods, ports }) => ({
      fromEndpoints: pods,
      toPorts: [{ ports }],
    })),
    ...(routed.length === 0 ? [] : [{ fromEndpoints: [gatewayPods(gateway)], toPorts: [{ ports: portList(routed) }] }]),
    ...(passed ? [{ fromEndpoints: [waypointPods(namespace)], toPorts: [{ ports: portList(node.ports) }] }] : []),
    ...(scraped.length === 0 ? [] : [{ fromEndpoints: [podsIn(scrapers)], toPorts: [{ ports: portList(scraped) }] }]),
  ];
}

export const PROBES: JsonObject = { fromCIDR: [PROBE_CIDR] };

const DNS_PORTS = [
  { port: "53", protocol: "UDP" },
  { port: "53", protocol: "TCP" },
];

/** DNS goes through Cilium's proxy, which learns the addresses of each name that way. */
export const DNS: JsonObject = { toEndpoints: [DNS_PODS], toPorts: [{ ports: DNS_PORTS, rules: { dns: [{ matchPattern: "*" }] } }] };

function egressRules({ outgoing, waypointsCalled }: Neighbourhood): readonly JsonObject[] {
  const { services, externals, managed } = outgoing;
  const hbone = { ports: [{ port: String(HBONE_PORT), protocol: "TCP" }] };
  return [
    DNS,
    ...byPorts(services.map(({ callee, ports }) => ({ pods: podsOf(callee), ports }))).map(({ pods, ports }) => ({
      toEndpoints: pods,
      toPorts: [{ ports }],
    })),
    ...managed.map(({ peer, port }) => ({
      toEndpoints: [managedPods(peer)],
      toPorts: [{ ports: portList([{ targetPort: port, protocol: "TCP" }]) }],
    })),
    ...(waypointsCalled.length === 0 ? [] : [{ toEndpoints: waypointsCalled.map(waypointPods), toPorts: [hbone] }]),
    ...externals.flatMap(externalRules),
  ];
}

type PortText = { readonly port: string; readonly protocol: string };
type Listed = Pick<Port, "targetPort" | "protocol">;

/** The HBONE port first. */
function portList(ports: readonly Listed[]): readonly PortText[] {
  const texts = new Map<string, PortText>([[`TCP/${HBONE_PORT}`, { port: String(HBONE_PORT), protocol: "TCP" }]]);
  for (const { targetPort, protocol } of ports) texts.set(`${protocol}/${targetPort}`, { port: String(targetPort), protocol });
  return [...texts.values()];
}

/** Peers with the same ports share a rule, so a service with thousands of callers has few rules. */
function byPorts(peers: readonly { readonly pods: JsonObject; readonly ports: readonly Listed[] }[]) {
  const groups = new Map<string, { readonly pods: JsonObject[]; readonly ports: readonly PortText[] }>();
  for (const { pods, ports } of peers) {
    const key =
      ports.length === 1 ? `${ports[0]?.protocol}/${ports[0]?.targetPort}` : ports.map((one) => `${one.protocol}/${one.targetPort}`).join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { pods: [pods], ports: portList(ports) });
    else group.pods.push(pods);
  }
  return [...groups.values()];
}

/** By DNS name, or by CIDR for an IP address. One rule per port, since not every host has every port. */
function externalRules({ endpoints }: ExternalNode): readonly JsonObject[] {
  const byPort = new Map<number, Set<string>>();
  for (const { host, port } of endpoints) {
    const hosts = byPort.get(port) ?? new Set<string>();
    byPort.set(port, hosts.add(host));
  }
  return [...byPort]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([port, hosts]) => {
      const toPorts = [{ ports: [{ port: String(port), protocol: "TCP" }] }];
      const sorted = [...hosts].toSorted();
      const [addresses, names] = [sorted.filter(isAddress), sorted.filter((host) => !isAddress(host))];
      return [
        ...(addresses.length === 0 ? [] : [{ toCIDR: addresses.map(cidrOf), toPorts }]),
        ...(names.length === 0 ? [] : [{ toFQDNs: names.map((host) => ({ matchName: host })), toPorts }]),
      ];
    });
}

export function cidrOf(host: string): string {
  const address = host.replace(/^\[|\]$/g, "");
  return address.includes(":") ? `${address}/128` : `${address}/32`;
}

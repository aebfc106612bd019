/**
 * The objects of every Lattice namespace: it is in the mesh, and all traffic is denied by default. Each namespace has its own pair of policies;
 * a cluster-wide one would also close namespaces that Lattice does not manage.
 */
import type { KubeObject } from "#kube";
import type { ServiceId } from "../graph/node.ts";
import { HBONE_PORT, PROXY_METRICS_PORT, WAYPOINT } from "../settings.ts";
import { DNS, PROBES } from "./cilium.ts";
import { meshMetadata } from "./metadata.ts";
import { GATEWAY_LABEL, gatewayPods, ISTIOD_PODS, podsIn, podsOf } from "./selectors.ts";
import type { GatewayIdentity } from "../settings.ts";

export const DEFAULT_DENY = "lattice-default-deny";

export function namespaceObject(name: string, waypoint: boolean, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      labels: {
        "app.kubernetes.io/managed-by": "lattice",
        "istio.io/dataplane-mode": "ambient",
        ...(waypoint ? { "istio.io/use-waypoint": WAYPOINT } : {}),
        ...labels,
      },
    },
  };
}

export function defaultDeny(namespace: string): readonly KubeObject[] {
  const metadata = meshMetadata(namespace, DEFAULT_DENY);
  return [
    // an empty list would deny nothing: a rule that allows no peer is required
    { apiVersion: "cilium.io/v2", kind: "CiliumNetworkPolicy", metadata, spec: { endpointSelector: {}, ingress: [{}], egress: [{}] } },
    { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata, spec: {} },
    { apiVersion: "security.istio.io/v1", kind: "PeerAuthentication", metadata, spec: { mtls: { mode: "STRICT" } } },
  ] as unknown as readonly KubeObject[];
}

export type WaypointTraffic = {
  readonly namespace: string;
  /** All callers of the services behind it. */
  readonly callers: readonly ServiceId[];
  /** The gateway, when a service behind it has a route. */
  readonly gateway: GatewayIdentity | undefined;
  /** Services behind it that have callers. */
  readonly services: readonly ServiceId[];
  /** The namespace whose pods may read the waypoint's metrics. */
  readonly scrapers: string | undefined;
};

/** The waypoint and the policies that allow its traffic: its pods are subject to the namespace's default deny too. */
export function waypointObjects({ namespace, callers, gateway, services, scrapers }: WaypointTraffic): readonly KubeObject[] {
  const hbone = [{ ports: [{ port: String(HBONE_PORT), protocol: "TCP" }] }];
  const from = [...callers.map(podsOf), ...(gateway === undefined ? [] : [gatewayPods(gateway)])];
  const istiod = { toEndpoints: [ISTIOD_PODS], toPorts: [{ ports: [{ port: "15012", protocol: "TCP" }] }] };
  // plain: a waypoint's own pods are not captured by the mesh
  const metrics = [{ ports: [{ port: String(PROXY_METRICS_PORT), protocol: "TCP" }] }];
  const scraping = scrapers === undefined ? [] : [{ fromEndpoints: [podsIn(scrapers)], toPorts: metrics }];
  const metadata = meshMetadata(namespace, WAYPOINT);
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { ...metadata, labels: { ...metadata.labels, "istio.io/waypoint-for": "service" } },
      spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: HBONE_PORT, protocol: "HBONE" }] },
    },
    {
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: meshMetadata(namespace, `${DEFAULT_DENY}-${WAYPOINT}`, WAYPOINT),
      spec: { targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: WAYPOINT }] },
    },
    {
      apiVersion: "cilium.io/v2",
      kind: "CiliumNetworkPolicy",
      metadata,
      spec: {
        endpointSelector: { matchLabels: { [GATEWAY_LABEL]: WAYPOINT } },
        ingress: [PROBES, ...(from.length === 0 ? [] : [{ fromEndpoints: from, toPorts: hbone }]), ...scraping],
        egress: [DNS, istiod, ...(services.length === 0 ? [] : [{ toEndpoints: services.map(podsOf), toPorts: hbone }])],
      },
    },
  ] as unknown as readonly KubeObject[];
}

/** Random meshes for tests: services in a few namespaces with and without declarations, and external services. */
import { declarationsByPeer, serviceId, type PeerDeclaration, type ExternalNode, type MeshNode, type ServiceNode } from "./graph/node.ts";
import type { MeshSettings } from "./settings.ts";

type Random = () => number;

export const PLAIN_SETTINGS: MeshSettings = {
  trustDomain: () => "cluster.local",
  gateway: () => ({ namespace: "istio-ingress", name: "gateway", serviceAccount: "gateway-istio" }),
  waypointWanted: () => false,
};

const NAMESPACES = ["dev", "prod", "payments"];

function pick<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)];
}

export type WorldShape = { readonly services: number; readonly externals: number; readonly requests: boolean };

export function randomNodes(random: Random, { services, externals, requests }: WorldShape): readonly MeshNode[] {
  // the same names in several namespaces, so that a selector without a namespace is detected
  const ids = Array.from({ length: services }, (_, at) => serviceId(NAMESPACES[at % 3] ?? "dev", `s${Math.floor(at / 3)}`));
  const outside = Array.from({ length: externals }, (_, at) => serviceId(NAMESPACES[at % 3] ?? "dev", `x${at}`));
  return [
    ...ids.map((id) => randomService(random, id, { ids, outside, requests })),
    ...outside.map((id, at) => randomExternal(random, id, { ids, at })),
  ];
}

type Known = { readonly ids: readonly string[]; readonly outside: readonly string[]; readonly requests: boolean };

export function randomService(random: Random, id: string, { ids, outside, requests }: Known): ServiceNode {
  const declarations = Array.from({ length: Math.floor(random() * 12) }, (_, at): PeerDeclaration => {
    const external = random() < 0.15;
    const direction = external ? "outbound" : (pick(random, ["inbound", "outbound", "both"] as const) ?? "both");
    return {
      resource: `r${at}`,
      peer: pick(random, external && outside.length > 0 ? outside : ids) ?? id,
      direction,
      ports: random() < 0.25 ? [pick(random, ["http", "admin", 9000] as const) ?? "http"] : undefined,
      requests: requests && random() < 0.1 ? { methods: ["GET"], paths: random() < 0.5 ? ["/api/*"] : [] } : undefined,
      managedPort: undefined,
    };
  });
  const ports = [
    { name: "admin", port: 9000, targetPort: 9001, protocol: "TCP" as const },
    { name: "http", port: 80, targetPort: 8080, protocol: "TCP" as const },
  ];
  const node = {
    kind: "service" as const,
    id,
    serviceAccount: id.slice(id.indexOf("/") + 1),
    ports: random() < 0.15 ? [] : random() < 0.5 ? ports : ports.slice(1),
    declarations: declarationsByPeer(declarations),
    routedPorts: random() < 0.1 ? [80] : [],
    canary: requests && random() < 0.05,
  };
  return { ...node, measured: node.canary };
}

function randomExternal(random: Random, id: string, { ids, at }: { readonly ids: readonly string[]; readonly at: number }): ExternalNode {
  const requesters = ids.filter(() => random() < 0.3);
  return {
    kind: "external",
    id,
    endpoints: [{ name: "default", host: at % 2 === 0 ? `x${at}.example.com` : `203.0.113.${at}`, port: 443, scheme: "https" }],
    requesters: new Set(random() < 0.2 ? ["*"] : requesters),
    resolution: at % 2 === 0 ? "dns" : "static",
  };
}

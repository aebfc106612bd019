/** ServiceEntries: one per namespace and host, since Istio takes only the oldest of several. They belong to the external service. */
import { sha256Hex } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { splitId, type Endpoint, type ExternalNode } from "../graph/node.ts";
import { cidrOf } from "./cilium.ts";
import { meshMetadata } from "./metadata.ts";

const LABELS = {
  // an address that Istio makes up would be answered by ztunnel, and Cilium would never learn the real one
  "networking.istio.io/enable-autoallocate-ip": "false",
  // the namespace's waypoint is for its services
  "istio.io/use-waypoint": "none",
};

export function serviceEntries(node: ExternalNode): readonly KubeObject[] {
  const { namespace, name } = splitId(node.id);
  const byHost = new Map<string, Endpoint[]>();
  for (const endpoint of node.endpoints) byHost.set(endpoint.host, [...(byHost.get(endpoint.host) ?? []), endpoint]);
  const hosts = [...byHost].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hosts.map(([host, endpoints]) => {
    const entry = hosts.length === 1 ? name : `${name}-${slugOf(host)}`;
    return {
      apiVersion: "networking.istio.io/v1",
      kind: "ServiceEntry",
      metadata: meshMetadata(namespace, entry, name, LABELS),
      spec: entrySpec(node, host, endpoints),
    } as unknown as KubeObject;
  });
}

const LONGEST_SLUG = 40;

function slugOf(host: string): string {
  const slug = host
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, LONGEST_SLUG);
  return `${slug.replace(/-+$/, "")}-${sha256Hex(host).slice(0, 8)}`;
}

/** A host that is an address needs a name all the same, which nobody calls. */
function entrySpec({ id, resolution }: ExternalNode, host: string, endpoints: readonly Endpoint[]): JsonObject {
  const { namespace, name } = splitId(id);
  const ports = portsOf(endpoints);
  if (resolution === "dns") return { hosts: [host], location: "MESH_EXTERNAL", resolution: "DNS", ports };
  const address = host.replace(/^\[|\]$/g, "");
  return {
    hosts: [`${slugOf(host)}.${name}.${namespace}.external`],
    addresses: [cidrOf(host)],
    location: "MESH_EXTERNAL",
    resolution: "STATIC",
    ports,
    endpoints: [{ address }],
  };
}

const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ["http", "HTTP"],
  ["https", "TLS"],
  ["grpc", "GRPC"],
  ["mongodb", "MONGO"],
]);

function portsOf(endpoints: readonly Endpoint[]): readonly JsonObject[] {
  const byPort = new Map(endpoints.map((endpoint) => [endpoint.port, endpoint]));
  return [...byPort.values()]
    .toSorted((a, b) => a.port - b.port)
    .map(({ port, scheme }) => {
      const protocol = PROTOCOLS.get(scheme) ?? "TCP";
      return { number: port, name: `${protocol.toLowerCase()}-${port}`, protocol };
    });
}

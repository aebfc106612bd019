/**
 * ServiceEntries: one per namespace and host, since Istio uses only the oldest of several. An entry is owned by the first external service by
 * name with this host, and has the ports of all of them.
 */
import { sha256Hex } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { isAddress, splitId, type ExternalEndpoint, type ExternalNode } from "../graph/node.ts";
import { cidrOf } from "./cilium.ts";
import { meshMetadata } from "./metadata.ts";

const LABELS = {
  // ztunnel would answer DNS with an address that Istio allocates, and Cilium would never learn the real one
  "networking.istio.io/enable-autoallocate-ip": "false",
  // the namespace's waypoint handles services of the namespace only
  "istio.io/use-waypoint": "none",
};

/** `sharing`: the external services of the namespace with a host, including this one, sorted by id. */
export function serviceEntries(node: ExternalNode, sharing: (host: string) => readonly ExternalNode[]): readonly KubeObject[] {
  const { namespace, name } = splitId(node.id);
  const hosts = [...new Set(node.endpoints.map(({ host }) => host))].toSorted();
  return hosts.flatMap((host) => {
    const all = sharing(host);
    if (all[0] !== node) return [];
    const entry = hosts.length === 1 ? name : `${name}-${slugOf(host)}`;
    const endpoints = all.flatMap((one) => one.endpoints.filter((endpoint) => endpoint.host === host));
    return [
      {
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: meshMetadata(namespace, entry, name, LABELS),
        spec: entrySpec(node, host, endpoints),
      } as unknown as KubeObject,
    ];
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

/** An entry for an IP address needs a host name too; no caller uses it. */
function entrySpec({ id }: ExternalNode, host: string, endpoints: readonly ExternalEndpoint[]): JsonObject {
  const { namespace, name } = splitId(id);
  const ports = portsOf(endpoints);
  if (!isAddress(host)) return { hosts: [host], location: "MESH_EXTERNAL", resolution: "DNS", ports };
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

function portsOf(endpoints: readonly ExternalEndpoint[]): readonly JsonObject[] {
  // of several endpoints with the same port the first sets the protocol
  const byPort = new Map(endpoints.toReversed().map((endpoint) => [endpoint.port, endpoint]));
  return [...byPort.values()]
    .toSorted((a, b) => a.port - b.port)
    .map(({ port, scheme }) => {
      const protocol = PROTOCOLS.get(scheme) ?? "TCP";
      return { number: port, name: `${protocol.toLowerCase()}-${port}`, protocol };
    });
}

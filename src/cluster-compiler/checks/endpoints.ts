/** `spec.endpoints`: whether children can reach the cell at that host, as far as the spec shows it. */
import type { LatticeCluster } from "#crds";
import { parseDnsSubdomain } from "#kube";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterContext } from "../input.ts";
import { contains, parseAddress, parseNetwork, type HostAddress } from "../networks.ts";
import { dockerBackend } from "../providers/docker.ts";

const PATH = "spec.endpoints.host";

export function checkEndpoints(cluster: LatticeCluster, context: ClusterContext): readonly ClusterSpecError[] {
  const host = cluster.spec.endpoints?.host;
  if (host === undefined) return [];
  const address = parseAddress(host);
  if (address === undefined && !isHostName(host)) return [invalid(host)];
  const problem =
    unspecified(host, address) ??
    loopback(cluster, host, address) ??
    linkLocal(address) ??
    insideOf(context, address) ??
    noPool(cluster, address);
  return problem === undefined ? [] : [problem];
}

/** A name whose last label is a number is an address with a mistake. */
export function isHostName(host: string): boolean {
  return parseDnsSubdomain(host.toLowerCase()).ok && !/(^|\.)[0-9]+$/.test(host);
}

function invalid(host: string): ClusterSpecError {
  return { reason: "EndpointInvalid", path: PATH, message: `"${host}" is neither a DNS name nor an IP address; correct it` };
}

function unreachable(message: string): ClusterSpecError {
  return { reason: "EndpointUnreachable", path: PATH, message };
}

function unspecified(host: string, address: HostAddress | undefined): ClusterSpecError | undefined {
  return address?.value === 0n ? unreachable(`${host} is no address of a host; give the address that children connect to`) : undefined;
}

/** On one machine, loopback is the same for the cell and its children. */
function loopback(cluster: LatticeCluster, host: string, address: HostAddress | undefined): ClusterSpecError | undefined {
  const { type } = cluster.spec.provider;
  if (type === "local" || (type === "docker" && dockerBackend(cluster) === "inMemory")) return undefined;
  const isLoopback =
    address === undefined ? /(^|\.)localhost$/i.test(host) : isWithin("127.0.0.0/8", address) || isWithin("::1/128", address);
  if (!isLoopback) return undefined;
  return unreachable(
    `${host} is the machine itself on every machine, so children cannot reach the cell there; give an address that they can route to`,
  );
}

function linkLocal(address: HostAddress | undefined): ClusterSpecError | undefined {
  if (address === undefined || !(isWithin("169.254.0.0/16", address) || isWithin("fe80::/10", address))) return undefined;
  return unreachable("is a link-local address, which other networks cannot route to; give an address that children can route to");
}

function isWithin(cidr: string, address: HostAddress): boolean {
  const network = parseNetwork(cidr);
  return network !== undefined && contains(network, address);
}

function insideOf({ pods, services }: ClusterContext, address: HostAddress | undefined): ClusterSpecError | undefined {
  if (address === undefined) return undefined;
  const inside = isWithin(pods, address) ? `pod network ${pods}` : isWithin(services, address) ? `service network ${services}` : undefined;
  if (inside === undefined) return undefined;
  return unreachable(`is inside the ${inside}, which only this cluster can reach; give an address outside of it`);
}

/** Docker has no load balancers: a Service gets its address from the pool. */
function noPool(cluster: LatticeCluster, address: HostAddress | undefined): ClusterSpecError | undefined {
  const { provider, endpoints, networking } = cluster.spec;
  if (provider.type !== "docker" || dockerBackend(cluster) === "inMemory" || endpoints?.service.type !== "LoadBalancer") return undefined;
  const pool = networking?.default === undefined ? undefined : parseNetwork(networking.default.cidr);
  if (pool === undefined) {
    const message =
      "is LoadBalancer, and docker assigns no addresses: the Service would wait for ever; add networking.default.cidr, or use NodePort";
    return { reason: "LoadBalancerWithoutPool", path: "spec.endpoints.service.type", message };
  }
  if (address === undefined || contains(pool, address)) return undefined;
  return unreachable(`is not in networking.default.cidr ${pool.text}, which the Service gets its address from; choose an address of it`);
}

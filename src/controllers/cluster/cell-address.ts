/** Whether Service lattice-cell leads to the address that children connect to. Pure. */
import type { LatticeClusterSpec } from "#crds";
import type { Node, Service } from "#kube";
import { CELL_SERVICE } from "./names.ts";
import type { ClusterProblem } from "./observed.ts";

type Endpoints = NonNullable<LatticeClusterSpec["endpoints"]>;

/**
 * Only addresses are compared: a name may lead anywhere. A Service of type ClusterIP has an entrance that its administrator made, and loopback
 * addresses are those of the fleet on one machine.
 */
export function cellAddressProblem(endpoints: Endpoints, service: Service | undefined, nodes: readonly Node[]): ClusterProblem | undefined {
  const { host } = endpoints;
  const { type } = endpoints.service;
  if (type === "ClusterIP" || !isAddress(host) || isLoopback(host)) return undefined;
  const addresses = type === "NodePort" ? nodes.flatMap(addressesOfNode) : ingressOf(service);
  if (addresses.length === 0) {
    const message = `Service ${CELL_SERVICE} of type ${type} has no address yet; a load balancer (Cilium LB-IPAM: spec.networking.default) must give it ${host}`;
    return { reason: "CellAddressPending", message, terminal: false };
  }
  if (addresses.includes(host)) return undefined;
  const what = type === "NodePort" ? "the nodes have" : `Service ${CELL_SERVICE} has`;
  const message = `spec.endpoints.host: is ${host}, and ${what} ${addresses.slice(0, 5).join(", ")}; children cannot connect until both are the same`;
  return { reason: "CellAddressMismatch", message, terminal: false };
}

function ingressOf(service: Service | undefined): readonly string[] {
  return (service?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
}

function addressesOfNode({ status }: Node): readonly string[] {
  return (status?.addresses ?? []).filter(({ type }) => type !== "Hostname").map(({ address }) => address);
}

function isAddress(host: string): boolean {
  return /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(host) || host.includes(":");
}

function isLoopback(host: string): boolean {
  return host.startsWith("127.") || host === "::1";
}

/** The objects that an operator applies for its own cluster. Pure. */
import { apiVersionOf, ciliumL2AnnouncementPolicies, ciliumLoadBalancerIpPools, type KubeObject, type Service } from "#kube";
import type { LatticeCluster } from "#crds";
import { CELL_SERVICE } from "./names.ts";

/** Only the leader's Pod has it: a stream that ends at a standby is useless, because its writes are refused. */
const LEADER_LABEL = "lattice.dev/leader";
const POOL = "lattice-default";
/** The range that an API server gives node ports from by default. */
const NODE_PORTS = { first: 30_000, last: 32_767 };

/** The Service in front of the three listeners of a cell; none for a cluster that is no cell. */
export function cellService({ spec: { endpoints } }: LatticeCluster, namespace: string): readonly Service[] {
  if (endpoints === undefined) return [];
  const { host, grpcPort, bootstrapPort, proxyPort } = endpoints;
  const { type } = endpoints.service;
  const port = (name: string, number: number) => ({
    name,
    port: number,
    targetPort: number,
    protocol: "TCP",
    ...(type === "NodePort" && number >= NODE_PORTS.first && number <= NODE_PORTS.last ? { nodePort: number } : {}),
  });
  const wantsAddress = type === "LoadBalancer" && /^[0-9.]+$|:/.test(host);
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: CELL_SERVICE,
        namespace,
        labels: { "app.kubernetes.io/managed-by": "lattice" },
        ...(wantsAddress ? { annotations: { "lbipam.cilium.io/ips": host } } : {}),
      },
      spec: {
        type,
        selector: { [LEADER_LABEL]: "true" },
        ports: [port("grpc", grpcPort), port("bootstrap", bootstrapPort), port("proxy", proxyPort)],
      },
    },
  ];
}

/** The pool of `spec.networking.default`. Docker has no router that would learn the addresses, so there the nodes announce them. */
export function addressPoolObjects({ spec: { networking, provider } }: LatticeCluster): readonly KubeObject[] {
  const cidr = networking?.default?.cidr;
  if (cidr === undefined) return [];
  const metadata = { name: POOL, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  const pool = {
    apiVersion: apiVersionOf(ciliumLoadBalancerIpPools),
    kind: ciliumLoadBalancerIpPools.kind,
    metadata,
    spec: { blocks: [{ cidr }] },
  };
  const announcement = {
    apiVersion: apiVersionOf(ciliumL2AnnouncementPolicies),
    kind: ciliumL2AnnouncementPolicies.kind,
    metadata,
    spec: { loadBalancerIPs: true, externalIPs: true },
  };
  return provider.type === "docker" ? [pool, announcement] : [pool];
}

/** The objects that an operator applies for its own cluster. Pure. */
import { apiVersionOf, ciliumL2AnnouncementPolicies, ciliumLoadBalancerIpPools, type KubeObject, type Service } from "#kube";
import type { LatticeCluster } from "#crds";
import { CELL_SERVICE } from "./names.ts";
import type { EndpointsSpec, ServedEndpoints } from "./served-endpoints.ts";

/** Only the leader's Pod has it: a stream that ends at a standby is useless, because its writes are refused. */
const LEADER_LABEL = "lattice.dev/leader";
const POOL = "lattice-default";
/** The range that an API server gives node ports from by default. */
const NODE_PORTS = { first: 30_000, last: 32_767 };

/** The Service in front of the listeners of a cell; none for a cluster that is no cell. */
export function cellService(endpoints: ServedEndpoints | undefined, namespace: string): readonly Service[] {
  if (endpoints === undefined) return [];
  const { current, former } = endpoints;
  const { type } = current.service;
  const port = (name: string, number: number) => ({
    name,
    port: number,
    targetPort: number,
    protocol: "TCP",
    ...(type === "NodePort" && number >= NODE_PORTS.first && number <= NODE_PORTS.last ? { nodePort: number } : {}),
  });
  const addresses = [...new Set([current, ...former].map(({ host }) => host))].filter((host) => /^[0-9.]+$|:/.test(host));
  const wantsAddress = type === "LoadBalancer" && addresses.length > 0;
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: CELL_SERVICE,
        namespace,
        labels: { "app.kubernetes.io/managed-by": "lattice" },
        ...(wantsAddress ? { annotations: { "lbipam.cilium.io/ips": addresses.join(",") } } : {}),
      },
      spec: {
        type,
        selector: { [LEADER_LABEL]: "true" },
        ports: portsOf(endpoints).map(([name, number]) => port(name, number)),
      },
    },
  ];
}

/** A number occurs once in a Service. */
function portsOf({ current, former }: ServedEndpoints): readonly (readonly [name: string, port: number])[] {
  const named = (suffix: string, { grpcPort, bootstrapPort, proxyPort }: EndpointsSpec) =>
    [
      [`grpc${suffix}`, grpcPort],
      [`bootstrap${suffix}`, bootstrapPort],
      [`proxy${suffix}`, proxyPort],
    ] as const;
  const all = [...named("", current), ...former.flatMap((one, at) => named(`-former-${at + 1}`, one))];
  return all.filter(([, number], at) => all.findIndex(([, other]) => other === number) === at);
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

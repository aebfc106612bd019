/** The networks of a cluster: sizes, and that none of them overlaps another or the network of the machines. */
import type { LatticeCluster } from "#crds";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterContext } from "../input.ts";
import { DEFAULT_PODS, DEFAULT_SERVICES, overlaps, parseNetwork, reservedFor, WIDTH, type IpNetwork } from "../networks.ts";
import { mostNodes } from "../pools.ts";
import { GCP_DEFAULT_NETWORK } from "../providers/gcp.ts";

/** `given`: the spec has it. */
type NamedNetwork = { readonly path: string; readonly what: string; readonly network: IpNetwork; readonly given: boolean };

/** Each node gets a network of this size: the default of the controller manager. */
const NODE_BITS = { 4: 24, 6: 64 } as const;
/** Limits of the API server. */
const MOST_SERVICE_BITS = 20;
const FEWEST_SERVICE_BITS = 3;
/** Limit of the controller manager: bits of the number of a node. */
const MOST_NODE_NUMBER_BITS = 16;

export function checkNetworks(cluster: LatticeCluster, context: ClusterContext): readonly ClusterSpecError[] {
  const named = networksOf(cluster, context);
  const [pods, services] = [parseNetwork(context.pods), parseNetwork(context.services)];
  return [
    ...named.flatMap(checkReserved),
    ...checkOverlaps(named, machineNetworks(cluster)),
    ...(pods === undefined ? [] : checkPods(pods, mostNodes(cluster.spec.nodes, context.pools))),
    ...(services === undefined ? [] : checkServices(services)),
    ...(pods === undefined || services === undefined ? [] : checkFamilies(pods, services)),
  ];
}

function networksOf({ spec: { networking } }: LatticeCluster, { pods, services }: ClusterContext): readonly NamedNetwork[] {
  const rows = [
    { field: "pods", name: "pod network", cidr: pods, given: networking?.pods !== undefined },
    { field: "services", name: "service network", cidr: services, given: networking?.services !== undefined },
    { field: "default", name: "load balancer pool", cidr: networking?.default?.cidr, given: true },
  ] as const;
  return rows.flatMap(({ field, name, cidr, given }) => {
    const network = cidr === undefined ? undefined : parseNetwork(cidr);
    if (network === undefined) return [];
    return [{ path: `spec.networking.${field}.cidr`, what: `the ${name} ${network.text}${given ? "" : " (the default)"}`, network, given }];
  });
}

/** Networks that the providers make for machines when the spec names none. */
function machineNetworks({ spec: { provider } }: LatticeCluster): readonly NamedNetwork[] {
  const made: readonly string[] =
    provider.type === "aws" && provider.aws?.vpcId === undefined
      ? ["10.0.0.0/16"]
      : provider.type === "azure"
        ? ["10.0.0.0/16", "10.1.0.0/16"]
        : provider.type === "gcp" && (provider.gcp?.network ?? GCP_DEFAULT_NETWORK) === GCP_DEFAULT_NETWORK
          ? ["10.128.0.0/9"]
          : [];
  return made.flatMap((cidr) => {
    const network = parseNetwork(cidr);
    return network === undefined ? [] : [{ path: "", what: `the network ${cidr} of the machines`, network, given: false }];
  });
}

function checkOverlaps(own: readonly NamedNetwork[], machines: readonly NamedNetwork[]): readonly ClusterSpecError[] {
  return own.flatMap((network, at) =>
    [...own.slice(at + 1), ...machines].flatMap((other): readonly ClusterSpecError[] => {
      if (!overlaps(network.network, other.network)) return [];
      const message = `overlaps: ${network.what} and ${other.what} share addresses; give one of them another network`;
      return [{ reason: "NetworksOverlap", path: !network.given && other.given ? other.path : network.path, message }];
    }),
  );
}

function checkReserved({ path, network }: NamedNetwork): readonly ClusterSpecError[] {
  const what = reservedFor(network);
  if (what === undefined) return [];
  const message = `${network.text} contains addresses that are reserved (${what}); use a private network, such as ${path.includes("services") ? DEFAULT_SERVICES : DEFAULT_PODS}`;
  return [{ reason: "NetworkReserved", path, message }];
}

function checkPods({ text, family, bits }: IpNetwork, nodes: number): readonly ClusterSpecError[] {
  const path = "spec.networking.pods.cidr";
  const number = NODE_BITS[family] - bits;
  if (number > MOST_NODE_NUMBER_BITS) {
    const message = `${text} is too large: with /${NODE_BITS[family]} per node, Kubernetes allows at most /${NODE_BITS[family] - MOST_NODE_NUMBER_BITS}`;
    return [{ reason: "NetworkTooLarge", path, message }];
  }
  const room = number < 0 ? 0 : 2 ** number;
  if (room >= nodes) return [];
  const needed = NODE_BITS[family] - Math.ceil(Math.log2(nodes));
  const message = `${text} has room for ${room} nodes (/${NODE_BITS[family]} each), and a rollout of this cluster needs ${nodes}; use a network of at least /${needed}`;
  return [{ reason: "NetworkTooSmall", path, message }];
}

function checkServices({ text, family, bits }: IpNetwork): readonly ClusterSpecError[] {
  const path = "spec.networking.services.cidr";
  const [least, most] = [WIDTH[family] - MOST_SERVICE_BITS, WIDTH[family] - FEWEST_SERVICE_BITS];
  if (bits < least) {
    return [{ reason: "NetworkTooLarge", path, message: `${text} is too large: the API server allows at most /${least}` }];
  }
  if (bits <= most) return [];
  return [
    { reason: "NetworkTooSmall", path, message: `${text} is too small: the API server needs at least 8 addresses; use /${most} or larger` },
  ];
}

function checkFamilies(pods: IpNetwork, services: IpNetwork): readonly ClusterSpecError[] {
  if (pods.family === services.family) return [];
  const message = `is IPv${services.family}, and the pod network is IPv${pods.family}; give both networks addresses of one family`;
  return [{ reason: "NetworkFamiliesDiffer", path: "spec.networking.services.cidr", message }];
}

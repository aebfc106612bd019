/** The desired endpoints of a Service, grouped by ports: a named port may have another number on each Pod. Pure. */
import { canonicalJson, type AddressType, type EndpointPort, type Node, type Pod, type Service, type SliceEndpoint } from "#kube";
import { isPodReady } from "../pods/pod-status.ts";
import { hasAddress } from "./services.ts";
import { belongsInEndpoints, findPort, hostnameOf, isIPv6, podAddresses, targetOf } from "./pod-endpoints.ts";

export type PortGroup = { readonly ports: readonly EndpointPort[]; readonly endpoints: ReadonlyMap<string, SliceEndpoint> };

export type Desired = {
  /** By `portsKey`. */
  readonly groups: ReadonlyMap<string, PortGroup>;
  /** Messages about Pods that are left out because their node is not known. */
  readonly skipped: readonly string[];
};

export type ServiceWorld = {
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly nodeOf: (name: string) => Node | undefined;
};

const ZONE_LABEL = "topology.kubernetes.io/zone";
const CLOSE = new Set(["PreferClose", "PreferSameZone", "PreferSameNode"]);

export function desiredEndpoints({ service, pods, nodeOf }: ServiceWorld, addressType: AddressType): Desired {
  const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: Map<string, SliceEndpoint> }>();
  const skipped: string[] = [];
  const { namespace, name } = service.metadata;
  for (const pod of pods) {
    if (!belongsInEndpoints(pod, { withTerminating: true })) continue;
    const ports = portsOf(service, pod);
    const group = groups.get(portsKey(ports)) ?? { ports, endpoints: new Map<string, SliceEndpoint>() };
    groups.set(portsKey(ports), group);
    const { nodeName = "" } = pod.spec ?? {};
    const node = nodeOf(nodeName);
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      skipped.push(`skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`);
      continue;
    }
    const endpoint = endpointOf(pod, { service, node, addressType });
    if (endpoint.addresses.length > 0) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups, skipped };
}

/** The same Pod at the same addresses; any other difference is a change of this endpoint. */
export function endpointKey({ addresses, hostname = "", targetRef }: SliceEndpoint): string {
  return JSON.stringify([addresses.toSorted(ascending), hostname, targetRef?.namespace ?? "", targetRef?.name ?? ""]);
}

/** Independent of the order of ports. */
export function portsKey(ports: readonly EndpointPort[]): string {
  const texts = ports.map(({ name = "", port, protocol = "TCP", appProtocol }) => canonicalJson({ name, port, protocol, appProtocol }));
  return texts.toSorted(ascending).join(";");
}

export function addressTypesOf(service: Service): readonly AddressType[] {
  const families = (service.spec?.ipFamilies ?? []).filter((family): family is AddressType => family === "IPv4" || family === "IPv6");
  if (families.length > 0) return families;
  if (!hasAddress(service)) return ["IPv4", "IPv6"];
  return [isIPv6(service.spec?.clusterIP ?? "") ? "IPv6" : "IPv4"];
}

function portsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    const port = findPort(pod, servicePort);
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

type EndpointWorld = { readonly service: Service; readonly node: Node | undefined; readonly addressType: AddressType };

function endpointOf(pod: Pod, { service, node, addressType }: EndpointWorld): SliceEndpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { nodeName = "" } = pod.spec ?? {};
  const zone = node?.metadata.labels?.[ZONE_LABEL] ?? "";
  const hostname = hostnameOf(pod, service);
  const hints = ready ? hintsOf(service, zone, nodeName) : {};
  return {
    addresses: podAddresses(pod).filter((address) => isIPv6(address) === (addressType === "IPv6")),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === "" ? {} : { nodeName }),
    ...(zone === "" ? {} : { zone }),
    targetRef: targetOf(pod),
    ...(Object.keys(hints).length === 0 ? {} : { hints }),
  };
}

/** Topology hints of the endpoint, if the Service prefers close endpoints. */
function hintsOf({ spec }: Service, zone: string, nodeName: string): NonNullable<SliceEndpoint["hints"]> {
  const distribution = spec?.trafficDistribution ?? "";
  if (!CLOSE.has(distribution)) return {};
  return {
    ...(zone === "" ? {} : { forZones: [{ name: zone }] }),
    ...(nodeName === "" || distribution !== "PreferSameNode" ? {} : { forNodes: [{ name: nodeName }] }),
  };
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The subsets of a Service's Endpoints: ports with the same addresses share a subset. Pure. */
import { canonicalJson, jsonEqual, type EndpointAddress, type EndpointPort, type EndpointSubset, type Pod, type Service } from "#kube";
import { isPodReady } from "../pods/pod-status.ts";
import { hasAddress } from "./services.ts";
import { belongsInEndpoints, findPort, hostnameOf, isIPv6, podAddresses, targetOf } from "./pod-endpoints.ts";

type Known = { readonly address: EndpointAddress; readonly ready: boolean };

/** The limit of Endpoints. */
export const MAX_ADDRESSES = 1_000;

export function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const withTerminating = service.spec?.publishNotReadyAddresses === true;
  const byPort = new Map<string, { readonly port: EndpointPort | undefined; readonly known: Map<string, Known> }>();
  for (const pod of pods) {
    const address = belongsInEndpoints(pod, { withTerminating }) ? addressOf(service, pod) : undefined;
    if (address === undefined) continue;
    const ready = withTerminating || isPodReady(pod);
    for (const port of portsOf(service, pod)) {
      const text = canonicalJson(port ?? null);
      const entry = byPort.get(text) ?? { port, known: new Map<string, Known>() };
      byPort.set(text, entry);
      entry.known.set(`${address.ip} ${address.targetRef?.uid}`, { address, ready });
    }
  }
  const bySet = new Map<string, { readonly ports: EndpointPort[]; readonly known: readonly Known[] }>();
  for (const { port, known } of byPort.values()) {
    const sorted = [...known.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1));
    // a Pod has one address here, for all ports
    const text = sorted.map(([name, { ready }]) => `${name} ${ready}`).join();
    const entry = bySet.get(text) ?? { ports: [], known: sorted.map(([, value]) => value) };
    bySet.set(text, entry);
    if (port !== undefined) entry.ports.push(port);
  }
  return inOrder([...bySet.values()].map(({ ports, known }) => subsetOf(ports, known)));
}

export function sameSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
  return jsonEqual(inOrder(a), inOrder(b));
}

/** At most a thousand addresses; not ready ones are left out first. Undefined: all fit. */
export function truncated(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] | undefined {
  const count = (of: "addresses" | "notReadyAddresses") => subsets.reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0);
  const [ready, notReady] = [count("addresses"), count("notReadyAddresses")];
  if (ready + notReady <= MAX_ADDRESSES) return undefined;
  const cutReady = ready > MAX_ADDRESSES;
  const [cut, total, room] = cutReady
    ? (["addresses", ready, MAX_ADDRESSES] as const)
    : (["notReadyAddresses", notReady, MAX_ADDRESSES - ready] as const);
  let left = room;
  return subsets.map((subset) => {
    const share = Math.min(left, Math.ceil(((subset[cut]?.length ?? 0) / total) * room));
    const kept = (subset[cut] ?? []).slice(0, share);
    left -= kept.length;
    const { addresses: _ready, notReadyAddresses: _notReady, ...rest } = subset;
    const before = cutReady || subset.addresses === undefined ? {} : { addresses: subset.addresses };
    return { ...rest, ...before, ...(kept.length === 0 ? {} : { [cut]: kept }) };
  });
}

function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const addresses = podAddresses(pod);
  const wantsIPv6 = familyOf(service, addresses) === "IPv6";
  const ip = addresses.find((address) => isIPv6(address) === wantsIPv6);
  const hostname = hostnameOf(pod, service);
  if (ip === undefined) return undefined;
  return { ip, ...(hostname === undefined ? {} : { hostname }), nodeName: pod.spec?.nodeName ?? "", targetRef: targetOf(pod) };
}

function familyOf(service: Service, addresses: readonly string[]): string {
  const [first] = service.spec?.ipFamilies ?? [];
  if (first !== undefined) return first;
  const telling = hasAddress(service) ? (service.spec?.clusterIP ?? "") : (addresses[0] ?? "");
  return isIPv6(telling) ? "IPv6" : "IPv4";
}

/** A headless Service may have no ports: its addresses are in a subset without ports. */
function portsOf({ spec }: Service, pod: Pod): readonly (EndpointPort | undefined)[] {
  const ports = spec?.ports ?? [];
  if (ports.length === 0) return spec?.clusterIP === "None" ? [undefined] : [];
  return ports.flatMap((servicePort) => {
    const { name, protocol = "TCP", appProtocol } = servicePort;
    const port = findPort(pod, servicePort);
    const named = name === undefined || name === "" ? {} : { name };
    return port === undefined ? [] : [{ ...named, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function subsetOf(ports: readonly EndpointPort[], known: readonly Known[]): EndpointSubset {
  const of = (ready: boolean) => known.filter((one) => one.ready === ready).map(({ address }) => address);
  const [addresses, notReadyAddresses] = [of(true), of(false)];
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}

function sorted<T>(values: readonly T[]): readonly T[] {
  // usually there is one subset, of up to a thousand addresses, and its text is long
  if (values.length <= 1) return values;
  const withText = values.map((value) => [canonicalJson(value), value] as const);
  return withText.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

function inOrder(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  return sorted(subsets.map((subset) => (subset.ports === undefined ? subset : { ...subset, ports: sorted(subset.ports) })));
}

/** IP networks and addresses as numbers: containment and overlap. Host bits of a network are ignored, as Kubernetes does. */
import { isIpv4, isIpv6 } from "#crds";

export type IpFamily = 4 | 6;
export type HostAddress = { readonly family: IpFamily; readonly value: bigint };
export type IpNetwork = {
  readonly text: string;
  readonly family: IpFamily;
  readonly bits: number;
  readonly first: bigint;
  readonly last: bigint;
};

/** Networks of a cluster that names none: those of kubeadm and of the published templates of the providers. */
export const DEFAULT_PODS = "192.168.0.0/16";
export const DEFAULT_SERVICES = "10.96.0.0/12";

export const WIDTH: Readonly<Record<IpFamily, number>> = { 4: 32, 6: 128 };

export function parseAddress(text: string): HostAddress | undefined {
  if (isIpv4(text)) return { family: 4, value: text.split(".").reduce((value, octet) => value * 256n + BigInt(octet), 0n) };
  if (!isIpv6(text)) return undefined;
  const [head = "", tail] = text.split("::");
  const [left, right] = [groupsOf(head), groupsOf(tail ?? "")];
  const gap = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => 0n);
  return { family: 6, value: [...left, ...gap, ...right].reduce((value, group) => value * 65_536n + group, 0n) };
}

function groupsOf(text: string): bigint[] {
  return text === "" ? [] : text.split(":").map((group) => BigInt(`0x${group}`));
}

export function parseNetwork(text: string): IpNetwork | undefined {
  const slash = text.lastIndexOf("/");
  const address = parseAddress(text.slice(0, Math.max(slash, 0)));
  const bits = Number(text.slice(slash + 1));
  if (address === undefined || !Number.isInteger(bits) || bits < 0 || bits > WIDTH[address.family]) return undefined;
  const size = 1n << BigInt(WIDTH[address.family] - bits);
  const first = (address.value / size) * size;
  return { text, family: address.family, bits, first, last: first + size - 1n };
}

export function overlaps(a: IpNetwork, b: IpNetwork): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

export function contains(network: IpNetwork, address: HostAddress): boolean {
  return network.family === address.family && network.first <= address.value && address.value <= network.last;
}

/** Networks that a host cannot reach from another host, or that are not for hosts. */
const RESERVED: readonly (readonly [cidr: string, what: string])[] = [
  ["0.0.0.0/8", "this host"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local addresses"],
  ["224.0.0.0/3", "multicast and reserved addresses"],
  ["::/127", "loopback"],
  ["fe80::/10", "link-local addresses"],
  ["ff00::/8", "multicast"],
];

/** What a reserved network that overlaps `network` is for. */
export function reservedFor(network: IpNetwork): string | undefined {
  return RESERVED.find(([cidr]) => {
    const reserved = parseNetwork(cidr);
    return reserved !== undefined && overlaps(reserved, network);
  })?.[1];
}

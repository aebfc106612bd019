/**
 * Addresses and ports that Services are given. A port, because what is free depends on what is stored; `serviceAddresses` fills it from
 * a list of Services.
 */
import type { KubeObject } from "#kube";
import { numberAt, objectsAt, textsAt } from "./draft.ts";

export type ServiceAddresses = {
  readonly freeClusterIP: () => string | undefined;
  readonly isClusterIPTaken: (address: string) => boolean;
  /** Of all Services, now. A Service may have thousands of ports: ask once for all of them. */
  readonly takenNodePorts: () => ReadonlySet<number>;
  /** The range, for messages: "10.0.0.0/24". */
  readonly range: string;
  readonly holds: (address: string) => boolean;
};

const [FIRST_PORT, LAST_PORT] = [30_000, 32_767];

/** The lowest free ones. IPv4 only. */
export function serviceAddresses(range: string, services: () => Iterable<KubeObject>): ServiceAddresses {
  const { base, size } = parseRange(range);
  const taken = () => new Set([...services()].flatMap((service) => textsAt(service, "spec", "clusterIPs")));
  return {
    range,
    freeClusterIP() {
      const used = taken();
      for (let offset = 1; offset < size - 1; offset += 1) if (!used.has(textOf(base + offset))) return textOf(base + offset);
      return undefined;
    },
    isClusterIPTaken: (address) => taken().has(address),
    takenNodePorts: () => new Set([...services()].flatMap(nodePortsOf)),
    holds: (address) => numberOf(address) > base && numberOf(address) < base + size - 1,
  };
}

/** Lowest first, without those that are taken. */
export function* freeNodePorts(taken: ReadonlySet<number>): Generator<number, void> {
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) if (!taken.has(port)) yield port;
}

function nodePortsOf(service: KubeObject): readonly number[] {
  const health = numberAt(service, "spec", "healthCheckNodePort");
  const ports = objectsAt(service, "spec", "ports").map((port) => numberAt(port, "nodePort") ?? 0);
  return [...ports, health ?? 0].filter((port) => port !== 0);
}

function parseRange(range: string): { readonly base: number; readonly size: number } {
  const [address = "", bits = "32"] = range.split("/");
  const size = 2 ** (32 - Number(bits));
  return { base: Math.floor(numberOf(address) / size) * size, size };
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

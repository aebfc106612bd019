/**
 * The addresses at which a cell serves its children. Pure.
 *
 * A child knows only the address that it was made with. A cell goes on serving a former one, and all of them after `spec.endpoints` was removed, until no child uses it.
 * What was served is kept in ConfigMap `lattice-cell-endpoints`.
 */
import { memoizeByObject } from "#base";
import type { LatticeClusterSpec } from "#crds";
import { field, isJsonObject, jsonEqual, parseJson, type ConfigMap, type Json } from "#kube";
import type { ChildLink } from "./ports.ts";

export type EndpointsSpec = NonNullable<LatticeClusterSpec["endpoints"]>;

export type ServedEndpoints = {
  readonly current: EndpointsSpec;
  /** The newest first. */
  readonly former: readonly EndpointsSpec[];
  /** `spec.endpoints` is gone, and there are children. */
  readonly isRemoved: boolean;
};

/** Each has a port that is served, and a name in the certificate. */
const MOST_FORMER = 5;
const KEY = "endpoints";

export function servedEndpoints(wanted: EndpointsSpec | undefined, recorded: readonly EndpointsSpec[], hasChildren: () => boolean) {
  if (wanted === undefined && recorded.length === 0) return undefined;
  const others = recorded.filter((one) => wanted === undefined || !isSameAddress(one, wanted));
  const kept = others.length > 0 && hasChildren() ? others.slice(0, MOST_FORMER) : [];
  const [current = wanted, ...former] = wanted === undefined ? kept : [wanted, ...kept];
  return current === undefined ? undefined : { current, former, isRemoved: wanted === undefined };
}

/** What an agent that has this address reports. */
export function addressesOf({ host, grpcPort, bootstrapPort }: EndpointsSpec): readonly string[] {
  const text = host.includes(":") ? `[${host}]` : host;
  return [`${text}:${grpcPort}`, `https://${text}:${bootstrapPort}`];
}

/** Those that are not known to have the current address: a child that is not connected, or whose agent is older, may have another one. */
export function childrenWithFormerAddress(
  children: readonly string[],
  { current }: ServedEndpoints,
  link: Pick<ChildLink, "agents"> | undefined,
): readonly string[] {
  const addresses = [...addressesOf(current)];
  return children.filter((name) => {
    const agent = link?.agents().get(name);
    const reported = agent?.connected === true ? agent.health?.parentAddresses : undefined;
    return reported === undefined || !jsonEqual([...reported], addresses);
  });
}

function isSameAddress(a: EndpointsSpec, b: EndpointsSpec): boolean {
  return a.host === b.host && a.grpcPort === b.grpcPort && a.bootstrapPort === b.bootstrapPort && a.proxyPort === b.proxyPort;
}

export function endpointsText({ host, grpcPort, bootstrapPort, proxyPort }: EndpointsSpec): string {
  return `${host.includes(":") ? `[${host}]` : host}, ports ${grpcPort}, ${bootstrapPort} and ${proxyPort}`;
}

export const recordedEndpoints = memoizeByObject(({ data }: ConfigMap): readonly EndpointsSpec[] => {
  const parsed = parseJson(data?.[KEY] ?? "[]");
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.flatMap((one) => readEndpoints(one) ?? []) : [];
});

export function endpointsData({ current, former }: ServedEndpoints): Readonly<Record<string, string>> {
  return { [KEY]: JSON.stringify([current, ...former]) };
}

const SERVICE_TYPES = ["LoadBalancer", "NodePort", "ClusterIP"] as const;

function readEndpoints(value: Json): EndpointsSpec | undefined {
  if (!isJsonObject(value)) return undefined;
  const [host, wantedType] = [field(value, "host"), field(field(value, "service"), "type")];
  const type = SERVICE_TYPES.find((one) => one === wantedType);
  const [grpcPort, bootstrapPort, proxyPort] = ["grpcPort", "bootstrapPort", "proxyPort"].map((name) => field(value, name)).filter(isPort);
  if (typeof host !== "string" || type === undefined || grpcPort === undefined || bootstrapPort === undefined || proxyPort === undefined)
    return undefined;
  return { host, grpcPort, bootstrapPort, proxyPort, service: { type } };
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
}

/** Converts a service or an external service to a node of the mesh. */
import type { LatticeExternalService, LatticeService } from "#crds";
import type { KubeObject } from "#kube";
import {
  declarationsByPeer,
  serviceId,
  type PeerDeclaration,
  type ExternalEndpoint,
  type ExternalNode,
  type MeshNode,
  type ServiceNode,
} from "#mesh-compiler";
import {
  compileRoutes,
  entriesOf,
  portOfRoute,
  resolveDeclarations,
  type AgreementParams,
  type ResourceResolution,
  type ResourceEntry,
  type ServiceInput,
} from "#service-compiler";

export function meshNodeOf(input: ServiceInput): ServiceNode {
  const { service, namespace } = input;
  const resolution = resolveDeclarations(input);
  const ports = Object.entries(service.spec.service?.ports ?? {}).map(([name, { port, targetPort = port, protocol }]) => ({
    name,
    port,
    targetPort,
    protocol,
  }));
  const sorted = ports.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    kind: "service",
    id: serviceId(namespace, service.metadata.name),
    serviceAccount: service.metadata.name,
    ports: sorted,
    declarations: declarationsByPeer(entriesOf(input).flatMap((entry) => declarationOf(entry, resolution))),
    routedPorts: routedPorts(resolution, service),
    canary: service.spec.deploy?.strategy === "canary",
    measured: isMeasured(service),
  };
}

/** The node of a service in patch mode: the Deployment has the identity, and Flagger is not configured. */
export function patchedNode(node: ServiceNode, serviceAccount: string | undefined): ServiceNode {
  const own = { ...node, canary: false, measured: false };
  // without an identity nothing is open; the ports stay, since templates of callers read them
  return serviceAccount === undefined ? { ...own, declarations: new Map(), routedPorts: [] } : { ...own, serviceAccount };
}

/** The HTTPRoutes of the valid route resources of the service. */
export function routesOf(input: ServiceInput): readonly KubeObject[] {
  return compileRoutes(input, resolveDeclarations(input)).routes.map(({ object }) => object);
}

/** Names of resources with errors, except errors about Secrets. */
export function erroneousResources(input: ServiceInput): ReadonlySet<string> {
  return new Set(resolveDeclarations(input).errors.flatMap((error) => (error.kind === "circular-dependency" ? error.path : [error.name])));
}

/** Flagger analyses metrics, unless the canary has an empty list of them. */
function isMeasured({ spec: { deploy } }: LatticeService): boolean {
  return deploy?.strategy === "canary" && deploy.canary?.metrics?.length !== 0;
}

/** Routes and volumes are not peers. A resource of an unknown type declares no call until the error is fixed. */
const CALLED_BY_NAME = new Set(["service", "external-service"]);

function declarationOf(entry: ResourceEntry, { provisioned, agreements }: ResourceResolution): readonly PeerDeclaration[] {
  const { peer: behind, callee } = provisioned.get(entry.name) ?? {};
  const address =
    behind?.address ?? callee?.address ?? (CALLED_BY_NAME.has(entry.type) || entry.direction === "inbound" ? entry.address : undefined);
  if (address === undefined) return [];
  return [
    {
      resource: entry.name,
      peer: serviceId(address.namespace, address.name),
      direction: entry.direction,
      ...narrowedBy(agreements.get(entry.name)),
      managedPort: behind?.port,
    },
  ];
}

/** Invalid params open nothing, so that a mistake on this side does not widen the valid declaration of the other side. */
function narrowedBy(agreement: AgreementParams | undefined): Pick<PeerDeclaration, "ports" | "requests"> {
  if (agreement === undefined) return { ports: [], requests: undefined };
  const { ports, methods, paths } = agreement;
  return { ports, requests: methods === undefined && paths === undefined ? undefined : { methods: methods ?? [], paths: paths ?? [] } };
}

/** The same port as the HTTPRoute. */
function routedPorts({ provisioned }: ResourceResolution, { spec }: LatticeService): readonly number[] {
  const ports = spec.service?.ports ?? {};
  const chosen = [...provisioned.values()].flatMap(({ route }) => (route === undefined ? [] : (portOfRoute(route, ports) ?? [])));
  return [...new Set(chosen)];
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/]*)(?::([0-9]{1,5}))?(?:\/|$)/;
const WELL_KNOWN: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
]);

export function externalNodeOf({ metadata, spec }: LatticeExternalService, namespace: string): ExternalNode {
  const { name } = metadata;
  const endpoints = Object.entries(spec.endpoints).flatMap(([endpoint, url]): readonly ExternalEndpoint[] => {
    const [, scheme = "", host = "", port] = URL_PARTS.exec(url) ?? [];
    const number = port === undefined ? WELL_KNOWN.get(scheme) : Number(port);
    return number === undefined ? [] : [{ name: endpoint, scheme, host: host.toLowerCase(), port: number }];
  });
  const requesters = (spec.allowedRequesters ?? []).map((one) => (one === "*" || one.includes("/") ? one : serviceId(namespace, one)));
  return {
    kind: "external",
    id: serviceId(namespace, name),
    endpoints: endpoints.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    requesters: new Set(requesters),
    resolution: spec.resolution,
  };
}

/** Whether both nodes compile to the same policies. */
export function sameNode(one: MeshNode, other: MeshNode): boolean {
  return textOf(one) === textOf(other);
}

function textOf(node: MeshNode): string {
  return JSON.stringify(node, (_, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value));
}

/** Builds small meshes, and their objects with workloads as a cluster would contain them. Only for tests. */
import type { KubeObject } from "#kube";
import {
  declarationsByPeer,
  splitId,
  type PeerDeclaration,
  type ExternalNode,
  type MeshNode,
  type Port,
  type ServiceId,
  type ServiceNode,
} from "./graph/node.ts";
import { Mesh } from "./mesh.ts";
import { PLAIN_SETTINGS } from "./random-worlds.test-support.ts";
import type { MeshSettings } from "./settings.ts";

export const HTTP: Port = { name: "http", port: 80, targetPort: 8080, protocol: "TCP" };
export const ADMIN: Port = { name: "admin", port: 9000, targetPort: 9000, protocol: "TCP" };

type DeclarationOptions = Partial<Omit<PeerDeclaration, "peer" | "resource">> & { readonly peer: ServiceId };

/** A service with one port, and with declarations if given. */
export function service(
  id: ServiceId,
  declares: readonly DeclarationOptions[] = [],
  more: Partial<Omit<ServiceNode, "declarations">> = {},
): ServiceNode {
  const declarations = declares.map((one): PeerDeclaration => ({
    resource: splitId(one.peer).name,
    direction: "outbound",
    ports: undefined,
    requests: undefined,
    managedPort: undefined,
    ...one,
  }));
  return {
    kind: "service",
    id,
    serviceAccount: splitId(id).name,
    ports: [HTTP],
    routedPorts: [],
    canary: false,
    measured: false,
    ...more,
    declarations: declarationsByPeer(declarations),
  };
}

export function external(id: ServiceId, requesters: readonly string[], ...urls: readonly string[]): ExternalNode {
  const endpoints = urls.map((url, at) => {
    const [, scheme = "", host = "", port] = /^(\w+):\/\/(\[[^\]]*\]|[^:/]*)(?::(\d+))?/.exec(url) ?? [];
    return { name: `e${at}`, scheme, host, port: port === undefined ? (scheme === "http" ? 80 : 443) : Number(port) };
  });
  return { kind: "external", id, requesters: new Set(requesters), endpoints, resolution: "dns" };
}

export const calls = (peer: ServiceId, more: Partial<DeclarationOptions> = {}): DeclarationOptions => ({
  peer,
  direction: "outbound",
  ...more,
});
export const allows = (peer: ServiceId, more: Partial<DeclarationOptions> = {}): DeclarationOptions => ({
  peer,
  direction: "inbound",
  ...more,
});

export function meshOf(nodes: readonly MeshNode[], settings: Partial<MeshSettings> = {}): Mesh {
  const mesh = new Mesh({ ...PLAIN_SETTINGS, ...settings });
  for (const node of nodes) mesh.put(node);
  return mesh;
}

export function deploymentOf({ id, serviceAccount, ports }: ServiceNode): readonly KubeObject[] {
  const { namespace, name } = splitId(id);
  const labels = { "app.kubernetes.io/name": name, "lattice.dev/service": name };
  const metadata = { name, namespace };
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { template: { metadata: { labels }, spec: { serviceAccountName: serviceAccount } } },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { ports: ports.map(({ port, targetPort, protocol }) => ({ port, targetPort, protocol })) },
    },
  ] as unknown as readonly KubeObject[];
}

export function gatewayObjects(): readonly KubeObject[] {
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-ingress" } },
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "gateway", namespace: "istio-ingress" },
      spec: { gatewayClassName: "istio" },
    },
  ] as unknown as readonly KubeObject[];
}

/** Policies only. */
export function policiesIn(mesh: Mesh): readonly KubeObject[] {
  const namespaces = [...mesh.graph.namespaces()].toSorted();
  const ids = [...mesh.graph.nodes()].map(({ id }) => id).toSorted();
  return [...namespaces.flatMap((namespace) => mesh.namespaceObjects(namespace)), ...ids.flatMap((id) => mesh.policiesOf(id))];
}

export function clusterOf(mesh: Mesh): readonly KubeObject[] {
  const workloads = [...mesh.graph.nodes()].flatMap((node) => (node.kind === "service" ? deploymentOf(node) : []));
  return [...gatewayObjects(), ...workloads, ...policiesIn(mesh)];
}

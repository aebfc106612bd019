/** The objects of a mesh with workloads to go with them: what a cluster would have. Only for tests. */
import type { KubeObject } from "#kube";
import { splitId, type ServiceNode } from "./graph/node.ts";
import type { Mesh } from "./mesh.ts";

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

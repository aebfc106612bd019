/** The inventory of clusterctl: one Provider per component, each in the namespace where the component would run. `clusterctl move` requires them. */
import type { KubeObject } from "#kube";

export type ReducedProvider = "docker" | "local";

type Component = {
  readonly name: string;
  readonly namespace: string;
  readonly providerName: string;
  readonly type: string;
  readonly version: string;
};

const CORE: readonly Component[] = [
  { name: "cluster-api", namespace: "capi-system", providerName: "cluster-api", type: "CoreProvider", version: "v1.14.2" },
  {
    name: "bootstrap-kubeadm",
    namespace: "capi-kubeadm-bootstrap-system",
    providerName: "kubeadm",
    type: "BootstrapProvider",
    version: "v1.14.2",
  },
  {
    name: "control-plane-kubeadm",
    namespace: "capi-kubeadm-control-plane-system",
    providerName: "kubeadm",
    type: "ControlPlaneProvider",
    version: "v1.14.2",
  },
];

const INFRASTRUCTURE: Readonly<Record<ReducedProvider, Component>> = {
  docker: {
    name: "infrastructure-docker",
    namespace: "capd-system",
    providerName: "docker",
    type: "InfrastructureProvider",
    version: "v1.14.0",
  },
  local: {
    name: "infrastructure-local",
    namespace: "capl-system",
    providerName: "local",
    type: "InfrastructureProvider",
    version: "v0.1.0",
  },
};

/** Namespaces and Providers of core, kubeadm and one infrastructure provider, in the order of applying. */
export function providerInventory(provider: ReducedProvider): readonly KubeObject[] {
  const components = [...CORE, INFRASTRUCTURE[provider]];
  return [...components.map(namespaceOf), ...components.map(providerOf)];
}

function labelsOf({ name }: Component) {
  return { "clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": name };
}

function namespaceOf(component: Component): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: component.namespace, labels: labelsOf(component) } };
}

function providerOf(component: Component): KubeObject {
  const { name, namespace, providerName, type, version } = component;
  const labels = { ...labelsOf(component), "clusterctl.cluster.x-k8s.io/core": "inventory" };
  const inventory = { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3", kind: "Provider", metadata: { name, namespace, labels } };
  return Object.assign(inventory, { providerName, type, version });
}

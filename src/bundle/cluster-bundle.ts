/**
 * The part of a bundle that one cluster gets: Cluster API, kubeadm and one infrastructure provider, the inventory of clusterctl, Cilium.
 *
 * Clusters of provider `local` need no folder: their machines are processes and their controllers are simulated, so CRDs and inventory suffice.
 */
import { ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import {
  bundleError,
  CLUSTER_API_COMPONENTS,
  isInfrastructure,
  NETWORK_COMPONENT,
  type Bundle,
  type BundleComponent,
  type BundleError,
} from "./bundle.ts";

export type ClusterBundle = {
  readonly providers: readonly BundleComponent[];
  /** Provider objects of clusterctl, and what they need besides the components. */
  readonly inventory: readonly KubeObject[];
  readonly network?: BundleComponent;
};

/** From `reduced-capi/`. */
export type ReducedClusterApi = { readonly crds: readonly KubeObject[]; readonly inventory: readonly KubeObject[] };

/** The built-in bundle of `local` clusters. */
export function localClusterBundle({ crds, inventory }: ReducedClusterApi): ClusterBundle {
  return { providers: [{ name: "reduced-capi", version: "built-in", objects: crds, images: [] }], inventory };
}

/** `inventoryCrd`: the CRD of kind Provider, which `clusterctl init` would install. */
export function clusterBundle(bundle: Bundle | undefined, provider: string, inventoryCrd: KubeObject): Result<ClusterBundle, BundleError> {
  if (bundle === undefined) {
    return bundleError(
      "missing",
      `clusters of provider ${provider} need a bundle; make one with lattice bundle and name its folder in the settings`,
    );
  }
  const providers: BundleComponent[] = [];
  for (const name of [...CLUSTER_API_COMPONENTS, `infrastructure-${provider}`]) {
    const component = bundle.components.get(name);
    if (component === undefined) {
      const present = [...bundle.components.keys()].filter(isInfrastructure).join(", ");
      return bundleError("missing", `the bundle has no component ${name}, which clusters of provider ${provider} need; it has ${present}`);
    }
    providers.push(component);
  }
  const network = bundle.components.get(NETWORK_COMPONENT);
  const hasCrd = providers.some(({ objects }) => objects.some(({ metadata }) => metadata.name === inventoryCrd.metadata.name));
  const inventory = [...(hasCrd ? [] : [inventoryCrd]), ...providers.flatMap(inventoryOf)];
  return ok({ providers, inventory, ...(network === undefined ? {} : { network }) });
}

function inventoryOf({ name, version, objects }: BundleComponent): readonly KubeObject[] {
  const namespace = objects.find(({ kind }) => kind === "Namespace")?.metadata.name ?? "default";
  const labels = {
    "clusterctl.cluster.x-k8s.io": "",
    "clusterctl.cluster.x-k8s.io/core": "inventory",
    "cluster.x-k8s.io/provider": name,
  };
  const provider = { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3", kind: "Provider", metadata: { name, namespace, labels } };
  return [Object.assign(provider, { providerName: providerNameOf(name), type: providerTypeOf(name), version })];
}

function providerNameOf(component: string): string {
  return component.replace(/^(bootstrap|control-plane|infrastructure)-/, "");
}

function providerTypeOf(component: string): string {
  if (component.startsWith("bootstrap-")) return "BootstrapProvider";
  if (component.startsWith("control-plane-")) return "ControlPlaneProvider";
  return isInfrastructure(component) ? "InfrastructureProvider" : "CoreProvider";
}

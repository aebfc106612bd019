/**
 * A bundle: the manifests that a new cluster gets besides Lattice's own, one component each, pinned by version and digest.
 *
 * Nothing is fetched at run time. A bundle is a folder that `lattice bundle` writes from local files; `local` clusters need none.
 */
import { err, type Result } from "#base";
import type { KubeObject } from "#kube";

export type BundleError = {
  /**
   * "source": input of `lattice bundle`. "folder": a bundle that was changed or cannot be read. "missing": a component that a provider needs.
   * "manifests": objects that cannot be applied as one stream.
   */
  readonly kind: "source" | "folder" | "missing" | "manifests";
  readonly message: string;
};

export type BundleComponent = {
  readonly name: string;
  readonly version: string;
  readonly objects: readonly KubeObject[];
  /** Sorted, each once. */
  readonly images: readonly string[];
};

export type Bundle = { readonly components: ReadonlyMap<string, BundleComponent> };

export const CLUSTER_API_COMPONENTS: readonly string[] = ["cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm"];
export const NETWORK_COMPONENT = "cilium";
const INFRASTRUCTURE = /^infrastructure-[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/;

export function isInfrastructure(name: string): boolean {
  return INFRASTRUCTURE.test(name);
}

/** Components of Cluster API; the others are not labelled for clusterctl. */
export function isProviderComponent(name: string): boolean {
  return CLUSTER_API_COMPONENTS.includes(name) || isInfrastructure(name);
}

/** Undefined: the name of a component. */
export function componentNameFault(name: string): string | undefined {
  if (isProviderComponent(name) || name === NETWORK_COMPONENT) return undefined;
  return `"${name}" is not a component; there are ${[...CLUSTER_API_COMPONENTS, "infrastructure-PROVIDER", NETWORK_COMPONENT].join(", ")}`;
}

/** The first component that is missing in a complete bundle. */
export function missingComponent(names: Iterable<string>): string | undefined {
  const present = new Set(names);
  const missing = [...CLUSTER_API_COMPONENTS, NETWORK_COMPONENT].find((name) => !present.has(name));
  if (missing !== undefined) return missing;
  return [...present].some(isInfrastructure) ? undefined : "infrastructure-PROVIDER";
}

export function bundleError(kind: BundleError["kind"], message: string): Result<never, BundleError> {
  return err({ kind, message });
}

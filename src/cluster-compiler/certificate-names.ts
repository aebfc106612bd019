/**
 * The names in the certificate of the API servers. Pure.
 *
 * They are a part of `kubeadmConfigSpec`, so that a change of them replaces all control-plane machines. `kubernetes.certSANs` has no other purpose, and a change of
 * it is applied. `endpoints` says where the children of a cell connect, which is not the API server: the host of the creation stays, and a later one is not added.
 */
import type { LatticeCluster } from "#crds";
import { fieldAt, type KubeObject } from "#kube";

/** On a KubeadmControlPlane: `spec.endpoints.host` of its creation. */
export const ENDPOINTS_HOST_ANNOTATION = "lattice.dev/endpoints-host";

export type CertificateNames = {
  readonly names: readonly string[];
  /** Among them by `spec.endpoints`. */
  readonly host: string | undefined;
};

/** `controlPlane`: the KubeadmControlPlane that exists. */
export function certificateNames(cluster: LatticeCluster, controlPlane: KubeObject | undefined): CertificateNames {
  const present = presentNames(controlPlane);
  const host = hostOf(cluster, controlPlane, present);
  const own = host === undefined ? [] : [host];
  const names = [...new Set([...own, ...(cluster.spec.provider.kubernetes.certSANs ?? []), "127.0.0.1", "localhost"])];
  // another order would replace the machines, too
  const isEqual = present.length === names.length && names.every((name) => present.includes(name));
  return { names: isEqual ? present : names, host };
}

/** kubeadm refuses upper case. */
function hostOf({ spec }: LatticeCluster, controlPlane: KubeObject | undefined, present: readonly string[]): string | undefined {
  const host = spec.endpoints?.host.toLowerCase();
  if (controlPlane === undefined) return host;
  const first = controlPlane.metadata.annotations?.[ENDPOINTS_HOST_ANNOTATION];
  // one that an earlier release has made has no annotation
  return first ?? (host !== undefined && present.includes(host) ? host : undefined);
}

function presentNames(controlPlane: KubeObject | undefined): readonly string[] {
  const names = fieldAt(controlPlane, "spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "certSANs");
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/**
 * What a child gets when it registers: everything of the bundle, and an operator like this one. The Deployment of this operator is copied, so that a
 * child runs the same image, from the same mirror, with the same flags.
 */
import { err, mapErr, ok, sensitive, type Clock, type Result } from "#base";
import {
  bootstrapManifests,
  clusterBundle,
  localClusterBundle,
  providerInventory,
  reducedCapiCrds,
  type Bundle,
  type BundleComponent,
  type ClusterBundle,
} from "#bundle";
import type { CacheReader } from "#controller-runtime";
import { reducedMeshCrds } from "#controllers";
import { latticeClusters, type LatticeClusterSpec } from "#crds";
import type { BootstrapManifests } from "#http";
import { deployments, type Deployment, type KubeObject } from "#kube";
import type { KubeReader } from "#kube-client";
import { WebhookCertificates } from "./webhook-certificates.ts";

export type ChildManifestsOptions = {
  readonly cache: CacheReader;
  readonly client: KubeReader;
  readonly clock: Clock;
  /** The operator's namespace. */
  readonly home: string;
  readonly cell: string;
  readonly endpoints: NonNullable<LatticeClusterSpec["endpoints"]>;
  readonly trustBundle: () => string;
  /** Namespace, ServiceAccount and roles of an operator. */
  readonly rbac: readonly KubeObject[];
  /** For an operator that is not run by a Deployment. */
  readonly deployment: Deployment;
  /** Absent: only clusters of provider local can be bootstrapped. */
  readonly bundle: Bundle | undefined;
};

export function childManifests(options: ChildManifestsOptions): BootstrapManifests {
  const { cache, cell, endpoints, trustBundle, rbac } = options;
  const webhooks = new WebhookCertificates(options.clock);
  return async (cluster, csrToken) => {
    const provider = cache.get(latticeClusters, { name: cluster })?.spec.provider.type;
    if (provider === undefined) return err(`LatticeCluster ${cluster} does not exist`);
    const bundle = clusterBundleFor(provider, options.bundle);
    if (!bundle.ok) return bundle;
    const webhookCertificates = webhooks.for(cluster, bundle.value);
    if (!webhookCertificates.ok) return webhookCertificates;
    const host = endpoints.host.includes(":") ? `[${endpoints.host}]` : endpoints.host;
    const parent = {
      cell,
      endpoint: `${host}:${endpoints.grpcPort}`,
      bootstrap: `https://${host}:${endpoints.bootstrapPort}`,
      caBundle: trustBundle(),
      csrToken: sensitive(csrToken),
    };
    const operator = { rbac, deployment: await ownDeployment(options) };
    const input = { cluster, parent, operator, bundle: bundle.value, webhookCertificates: webhookCertificates.value };
    return mapErr(bootstrapManifests(input), ({ message }) => message);
  };
}

/** What a cluster of a provider gets. `bundle` absent: only `local` can be used. */
export function clusterBundleFor(provider: string, bundle: Bundle | undefined): Result<ClusterBundle, string> {
  const crds = reducedCapiCrds("local");
  if (provider === "local") return ok({ ...localClusterBundle({ crds, inventory: providerInventory("local") }), network: reducedMesh() });
  const inventoryCrd = crds.find(({ metadata }) => metadata.name === "providers.clusterctl.cluster.x-k8s.io");
  if (inventoryCrd === undefined) return err("the bundle has no CRD of kind Provider");
  return mapErr(clusterBundle(bundle, provider, inventoryCrd), ({ message }) => message);
}

/** In place of Cilium, Istio and others: policies are stored, and services start. */
function reducedMesh(): BundleComponent {
  return { name: "reduced-mesh", version: "built-in", objects: reducedMeshCrds(), images: [] };
}

async function ownDeployment({ client, home, deployment }: ChildManifestsOptions): Promise<Deployment> {
  const { name } = deployment.metadata;
  const live = await client.get(deployments, { namespace: home, name });
  if (!live.ok || live.value.spec === undefined) return deployment;
  const { replicas: _replicas, ...spec } = live.value.spec;
  return { ...deployment, spec };
}

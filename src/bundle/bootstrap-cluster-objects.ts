/**
 * What a cluster gets for the time in which it is a bootstrap cluster: Lattice's kinds and permissions, and Cluster API as a child gets it. Its own network stays, its
 * operator is a process elsewhere, and its webhook certificates outlive the installation. Pure.
 */
import { ok, type Result } from "#base";
import { latticeKinds } from "#crds";
import type { KubeObject } from "#kube";
import { bundleError, type BundleError } from "./bundle.ts";
import type { ClusterBundle } from "./cluster-bundle.ts";
import { streamFault } from "./stream-check.ts";
import { withWebhookCertificates, type WebhookCertificate } from "./webhook-certificates.ts";

export type BootstrapClusterInput = {
  /** Namespace, ServiceAccount and roles of an operator. */
  readonly rbac: readonly KubeObject[];
  readonly bundle: ClusterBundle;
  readonly webhookCertificates: readonly WebhookCertificate[];
};

/** Keys of webhooks are among them: they are never logged. Provider objects are last. */
export function bootstrapClusterObjects(input: BootstrapClusterInput): Result<readonly KubeObject[], BundleError> {
  const { rbac, bundle, webhookCertificates } = input;
  const provided = withWebhookCertificates(
    bundle.providers.flatMap(({ objects }) => objects),
    webhookCertificates,
  );
  if (!provided.ok) return bundleError("manifests", provided.error);
  const objects = [...latticeKinds.map(({ crd }) => crd()), ...rbac, ...provided.value.objects, ...bundle.inventory];
  const fault = streamFault(objects);
  return fault === undefined ? ok(objects) : bundleError("manifests", fault);
}

/** Without components that a cluster has already, by their names. */
export function withoutProviders(bundle: ClusterBundle, present: ReadonlySet<string>): ClusterBundle {
  const isMissing = ({ kind, metadata }: KubeObject) => kind !== "Provider" || !present.has(metadata.name);
  return {
    ...bundle,
    providers: bundle.providers.filter(({ name }) => !present.has(name)),
    inventory: bundle.inventory.filter(isMissing),
  };
}

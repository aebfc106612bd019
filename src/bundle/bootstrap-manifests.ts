/**
 * All that a new cluster gets, as one YAML stream for `kubectl apply`: the answer to its registration.
 *
 * The stream can be applied again at any time. CRDs and namespaces come first, the operator's Deployment last. Objects of kinds that the stream
 * defines, such as Provider, are deferred: the operator applies them.
 */
import { base64OfText, ok, reveal, type Result, type Sensitive } from "#base";
import { latticeKinds } from "#crds";
import { formatYamlDocuments, type KubeObject } from "#kube";
import { bundleError, type BundleError } from "./bundle.ts";
import type { ClusterBundle } from "./cluster-bundle.ts";
import { deferCustomObjects } from "./deferred-objects.ts";
import { kubeadmPermissions } from "./kubeadm-permissions.ts";
import { completeStreamFault } from "./stream-check.ts";
import { withWebhookCertificates, type WebhookCertificate } from "./webhook-certificates.ts";
import { webhookInventoryObjects } from "./webhook-inventory.ts";

const NAMESPACE = "lattice-system";
const OPERATOR_ACCOUNT = { namespace: NAMESPACE, serviceAccount: "lattice-operator" };

export type ParentSettings = {
  /** Name of the parent. */
  readonly cell: string;
  /** `host:port` of gRPC. */
  readonly endpoint: string;
  /** `https://host:port` */
  readonly bootstrap: string;
  /** PEM bundle of the cell's authorities. */
  readonly caBundle: string;
  readonly csrToken: Sensitive<string>;
};

export type BootstrapManifestsInput = {
  readonly cluster: string;
  /** Absent: the cluster has no parent. */
  readonly parent?: ParentSettings;
  readonly operator: {
    /** Namespace, ServiceAccount and roles. */
    readonly rbac: readonly KubeObject[];
    readonly deployment: KubeObject;
  };
  readonly bundle: ClusterBundle;
  readonly webhookCertificates?: readonly WebhookCertificate[];
};

/** The text contains the CSR token and keys of webhooks: it is never logged. */
export function bootstrapManifests(input: BootstrapManifestsInput): Result<string, BundleError> {
  const { operator, bundle, parent, webhookCertificates = [] } = input;
  const providers = withWebhookCertificates(
    bundle.providers.flatMap(({ objects }) => objects),
    webhookCertificates,
  );
  if (!providers.ok) return bundleError("manifests", providers.error);
  const objects: readonly KubeObject[] = [
    ...latticeKinds.map(({ crd }) => crd()),
    ...operator.rbac,
    ...kubeadmPermissions,
    identityOf(input.cluster),
    ...(parent === undefined ? [] : [parentConfigOf(parent)]),
    ...providers.value.objects,
    ...webhookInventoryObjects(providers.value.inventory, OPERATOR_ACCOUNT),
    ...bundle.inventory,
    ...(bundle.network?.objects ?? []),
  ];
  const fault = completeStreamFault([...objects, operator.deployment]);
  if (fault !== undefined) return bundleError("manifests", fault);
  const appliable = deferCustomObjects(objects, OPERATOR_ACCOUNT);
  if (!appliable.ok) return bundleError("manifests", appliable.error);
  return ok(formatYamlDocuments(inApplyOrder([...appliable.value, operator.deployment]).map(withOwnField)));
}

/**
 * An object that is only a name, such as a Namespace, has no field that its applier owns. A server then forgets who applied it, and the second
 * server-side apply changes it.
 */
function withOwnField(object: KubeObject): KubeObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object;
  const { name: _name, namespace: _namespace, ...described } = metadata;
  if (Object.keys(rest).length > 0 || Object.keys(described).length > 0) return object;
  return { ...object, metadata: { ...metadata, labels: { "app.kubernetes.io/managed-by": "lattice" } } };
}

/** Stable: within a rank the order of the input is kept. */
function inApplyOrder(objects: readonly KubeObject[]): readonly KubeObject[] {
  const rank = ({ kind }: KubeObject) => (kind === "CustomResourceDefinition" ? 0 : kind === "Namespace" ? 1 : 2);
  return objects.toSorted((one, other) => rank(one) - rank(other));
}

function identityOf(cluster: string): KubeObject {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: NAMESPACE } };
  return Object.assign(map, { data: { cluster } });
}

function parentConfigOf({ cell, endpoint, bootstrap, caBundle, csrToken }: ParentSettings): KubeObject {
  const texts = { cell, endpoint, bootstrap, "ca.crt": caBundle, "csr-token": reveal(csrToken) };
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64OfText(text)]));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: NAMESPACE } };
  return Object.assign(secret, { type: "Opaque", data });
}

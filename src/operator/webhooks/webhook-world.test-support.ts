/** A cluster with the webhooks of one provider as its manifests deliver them: a Secret, webhook configurations and a definition with a conversion. */
import { base64OfText, expectOk, reveal } from "#base";
import { webhookInventoryObjects, type WebhookInventoryEntry } from "#bundle";
import type { FixtureObject } from "#embedded-cluster";
import { createCertificateAuthority, issueCertificate } from "#pki";

export const HOME = "lattice-system";
export const SECRET = { namespace: "capi-system", name: "capi-webhook-service-cert" };
export const CLIENTS: WebhookInventoryEntry["clients"] = [
  { kind: "MutatingWebhookConfiguration", name: "capi-mutating" },
  { kind: "ValidatingWebhookConfiguration", name: "capi-validating" },
  { kind: "CustomResourceDefinition", name: "clusters.cluster.x-k8s.io" },
];
const DNS_NAMES = ["capi-webhook-service.capi-system.svc", "capi-webhook-service.capi-system.svc.cluster.local"];
const service = { name: "capi-webhook-service", namespace: SECRET.namespace, path: "/x" };

export const inventory: WebhookInventoryEntry = {
  namespace: SECRET.namespace,
  secretName: SECRET.name,
  dnsNames: DNS_NAMES,
  clients: CLIENTS,
};

/** As they were issued at this time. */
export function deliveredWebhooks(issued: number): readonly FixtureObject[] {
  const [notBefore, notAfter] = [new Date(issued - 7_200_000), new Date(issued + 365 * 86_400_000)];
  const authority = expectOk(createCertificateAuthority({ commonName: "delivered", notBefore, notAfter }));
  const leaf = expectOk(issueCertificate(authority, { commonName: "capi", dnsNames: DNS_NAMES, notBefore, notAfter, usages: ["server"] }));
  const caBundle = base64OfText(authority.certificate);
  const webhook = (name: string) => ({
    name,
    clientConfig: { service, caBundle },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    rules: [{ apiGroups: ["nothing.dev"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nothings"] }],
  });
  const configuration = (kind: string, name: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name },
    webhooks: [webhook("a.x-k8s.io"), webhook("b.x-k8s.io")],
  });
  const data = {
    "tls.crt": base64OfText(leaf.certificate),
    "tls.key": base64OfText(reveal(leaf.key)),
    "ca.crt": caBundle,
  };
  return [
    ...[HOME, SECRET.namespace].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
    { apiVersion: "v1", kind: "Secret", metadata: SECRET, type: "kubernetes.io/tls", data },
    configuration("MutatingWebhookConfiguration", "capi-mutating"),
    configuration("ValidatingWebhookConfiguration", "capi-validating"),
    convertedDefinition(caBundle),
    ...webhookInventoryObjects([inventory], { namespace: HOME, serviceAccount: "lattice-operator" }),
  ];
}

function convertedDefinition(caBundle: string): FixtureObject {
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: { service, caBundle } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "clusters.cluster.x-k8s.io" },
    spec: {
      group: "cluster.x-k8s.io",
      scope: "Namespaced",
      names: { plural: "clusters", singular: "cluster", kind: "Cluster", listKind: "ClusterList" },
      conversion: { strategy: "Webhook", webhook },
      versions: [version("v1beta1", false), version("v1beta2", true)],
    },
  };
}

/**
 * Certificates of the webhooks of Cluster API's providers. Their manifests expect cert-manager, which a new cluster does not have: its
 * Certificates and Issuers are replaced by Secrets whose content the caller issued, and the CA is written where cert-manager would inject it.
 */
import { base64OfText, err, ok, reveal, type Result, type Sensitive } from "#base";
import { describeObject, field, fieldAt, isJsonObject, keyText, type Json, type KubeObject } from "#kube";
import type { BundleComponent } from "./bundle.ts";
import { isClientKind, type WebhookClient, type WebhookInventoryEntry } from "./webhook-inventory.ts";

/** What to issue: a server certificate for these names. */
export type WebhookCertificateNeed = { readonly namespace: string; readonly secretName: string; readonly dnsNames: readonly string[] };

export type WebhookCertificate = Pick<WebhookCertificateNeed, "namespace" | "secretName"> & {
  readonly certificate: string;
  readonly key: Sensitive<string>;
  /** PEM of the authority. */
  readonly ca: string;
};

export function webhookCertificateNeeds(components: readonly BundleComponent[]): readonly WebhookCertificateNeed[] {
  return components.flatMap(({ objects }) =>
    objects.filter(isCertificate).map((object) => {
      return { namespace: object.metadata.namespace ?? "", secretName: secretNameOf(object), dnsNames: dnsNamesOf(object) };
    }),
  );
}

/** The objects without cert-manager's, and the inventory from which the operator of the cluster renews the certificates. */
export type CertifiedWebhooks = { readonly objects: readonly KubeObject[]; readonly inventory: readonly WebhookInventoryEntry[] };

export function withWebhookCertificates(
  objects: readonly KubeObject[],
  certificates: readonly WebhookCertificate[],
): Result<CertifiedWebhooks, string> {
  const inventory = inventoryOf(objects);
  const authorities = new Map<string, string>();
  const secrets: KubeObject[] = [];
  for (const object of objects.filter(isCertificate)) {
    const [namespace, secretName] = [object.metadata.namespace ?? "", secretNameOf(object)];
    const issued = certificates.find((one) => one.namespace === namespace && one.secretName === secretName);
    if (issued === undefined) return err(`${describeObject(object)}: no certificate was issued for Secret ${namespace}/${secretName}`);
    authorities.set(keyText(object.metadata), base64OfText(issued.ca));
    secrets.push(secretOf(issued, object));
  }
  const changed: KubeObject[] = [];
  for (const object of objects.filter((one) => !isCertManager(one))) {
    const injected = injectAuthority(object, authorities);
    if (!injected.ok) return injected;
    changed.push(injected.value);
  }
  return ok({ objects: [...secrets, ...changed], inventory });
}

function inventoryOf(objects: readonly KubeObject[]): readonly WebhookInventoryEntry[] {
  return objects.filter(isCertificate).map((certificate) => ({
    namespace: certificate.metadata.namespace ?? "",
    secretName: secretNameOf(certificate),
    dnsNames: dnsNamesOf(certificate),
    clients: objects.flatMap((object) => clientsIn(object, keyText(certificate.metadata))),
  }));
}

function clientsIn({ kind, metadata: { name, annotations } }: KubeObject, certificate: string): readonly WebhookClient[] {
  return isClientKind(kind) && annotations?.[INJECT] === certificate ? [{ kind, name }] : [];
}

const INJECT = "cert-manager.io/inject-ca-from";

function injectAuthority(object: KubeObject, authorities: ReadonlyMap<string, string>): Result<KubeObject, string> {
  const { [INJECT]: source, ...annotations } = object.metadata.annotations ?? {};
  if (source === undefined) return ok(object);
  const ca = authorities.get(source);
  if (ca === undefined) return err(`${describeObject(object)}: annotation ${INJECT} names ${source}, and there is no such Certificate`);
  const withCa = { ...object, metadata: { ...object.metadata, annotations } };
  const webhooks = field(object, "webhooks");
  if (Array.isArray(webhooks)) return ok(Object.assign(withCa, { webhooks: webhooks.map((webhook) => withCaBundle(webhook, ca)) }));
  const [spec, conversion] = [field(object, "spec"), fieldAt(object, "spec", "conversion")];
  const webhook = field(conversion, "webhook");
  if (!isJsonObject(spec) || !isJsonObject(conversion) || webhook === undefined) return ok(withCa);
  return ok(Object.assign(withCa, { spec: { ...spec, conversion: { ...conversion, webhook: withCaBundle(webhook, ca) } } }));
}

function withCaBundle(webhook: Json, ca: string): Json {
  const config = field(webhook, "clientConfig");
  return isJsonObject(webhook) && isJsonObject(config) ? { ...webhook, clientConfig: { ...config, caBundle: ca } } : webhook;
}

function secretOf({ namespace, secretName, certificate, key, ca }: WebhookCertificate, { metadata: { labels } }: KubeObject): KubeObject {
  const data = { "ca.crt": base64OfText(ca), "tls.crt": base64OfText(certificate), "tls.key": base64OfText(reveal(key)) };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secretName, namespace, ...(labels === undefined ? {} : { labels }) },
  };
  return Object.assign(secret, { type: "kubernetes.io/tls", data });
}

function isCertManager({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion.startsWith("cert-manager.io/") && (kind === "Certificate" || kind === "Issuer");
}

function isCertificate(object: KubeObject): boolean {
  return isCertManager(object) && object.kind === "Certificate";
}

function dnsNamesOf(object: KubeObject): readonly string[] {
  const names = fieldAt(object, "spec", "dnsNames");
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

function secretNameOf(object: KubeObject): string {
  const name = fieldAt(object, "spec", "secretName");
  return typeof name === "string" ? name : "";
}

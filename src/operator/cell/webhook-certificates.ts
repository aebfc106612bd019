/**
 * The certificates of Cluster API's webhooks in a child, which its manifests carry. They have an authority of their own, whose key is not kept: a new
 * registration brings a new authority with all certificates, and the API server of the child is told about it in the same manifests.
 */
import { andThen, mapErr, ok, type Result } from "#base";
import { webhookCertificateNeeds, type BundleComponent, type WebhookCertificate } from "#bundle";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority } from "#pki";

const HOUR_MS = 3_600_000;
/** Nothing renews them before an upgrade of Cluster API brings new manifests. */
const LIFE_MS = 10 * 365 * 24 * HOUR_MS;

export function issueWebhookCertificates(
  components: readonly BundleComponent[],
  now: number,
): Result<readonly WebhookCertificate[], string> {
  const needs = webhookCertificateNeeds(components);
  if (needs.length === 0) return ok([]);
  const [notBefore, notAfter] = [new Date(now - HOUR_MS), new Date(now + LIFE_MS)];
  const authority = mapErr(createCertificateAuthority({ commonName: "lattice-webhooks", notBefore, notAfter }), ({ message }) => message);
  return andThen(authority, (made) => issueAll(made, needs, { notBefore, notAfter }));
}

function issueAll(
  authority: CertificateAuthority,
  needs: ReturnType<typeof webhookCertificateNeeds>,
  validity: { readonly notBefore: Date; readonly notAfter: Date },
): Result<readonly WebhookCertificate[], string> {
  const issued: WebhookCertificate[] = [];
  for (const { namespace, secretName, dnsNames } of needs) {
    const request = { commonName: "webhook", usages: ["server"], dnsNames, ...validity } as const;
    const pair = mapErr(issueCertificate(authority, request), ({ message }) => `Secret ${namespace}/${secretName}: ${message}`);
    if (!pair.ok) return pair;
    issued.push({ namespace, secretName, ...pair.value, ca: authority.certificate });
  }
  return ok(issued);
}

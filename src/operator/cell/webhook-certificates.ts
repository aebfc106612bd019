/**
 * Certificates for the webhooks of Cluster API in a child, which has no cert-manager. Each child has an authority of its own for them, whose key is
 * forgotten at once. The operator of the child replaces the certificates before they expire, with authorities of its own (`operator/webhooks`).
 *
 * They are kept for a while, so that a child that asks again gets the same manifests.
 */
import { boundedMap, mapErr, ok, type BoundedMap, type Clock, type Result } from "#base";
import { webhookCertificateNeeds, type ClusterBundle, type WebhookCertificate } from "#bundle";
import { createCertificateAuthority, issueCertificate, WEBHOOK_CERTIFICATE_LIFE } from "#pki";

const AUTHORITY_LIFE_MS = 10 * 365 * 86_400_000;
const BACKDATE_MS = 2 * 3_600_000;
const CHILDREN = 128;

export class WebhookCertificates {
  readonly #clock: Clock;
  readonly #issued: BoundedMap<string, readonly WebhookCertificate[]> = boundedMap({ limit: CHILDREN });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  for(cluster: string, { providers }: ClusterBundle): Result<readonly WebhookCertificate[], string> {
    const needs = webhookCertificateNeeds(providers);
    const known = this.#issued.get(cluster);
    if (needs.length === 0 || known !== undefined) return ok(known ?? []);
    const now = this.#clock.now();
    const validFor = (life: number) => ({ notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + life) });
    const authority = mapErr(
      createCertificateAuthority({ commonName: `${cluster} webhooks`.slice(0, 64), ...validFor(AUTHORITY_LIFE_MS) }),
      ({ message }) => message,
    );
    if (!authority.ok) return authority;
    const certificates: WebhookCertificate[] = [];
    for (const { namespace, secretName, dnsNames } of needs) {
      const names = { commonName: (dnsNames[0] ?? secretName).slice(0, 64), dnsNames };
      const request = { ...names, ...validFor(WEBHOOK_CERTIFICATE_LIFE), usages: ["server"] as const };
      const issued = mapErr(issueCertificate(authority.value, request), ({ message }) => message);
      if (!issued.ok) return issued;
      certificates.push({ namespace, secretName, ...issued.value, ca: authority.value.certificate });
    }
    this.#issued.set(cluster, certificates);
    return ok(certificates);
  }
}

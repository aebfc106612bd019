/**
 * When the certificate of a webhook is replaced, and which authorities its clients have to trust meanwhile. No request fails during a change, because of the order:
 * first all clients trust the new authority, then it signs the certificate, and the old one stays trusted until every process serves the new certificate.
 *
 * The first certificates of a cluster come with its manifests, and the key of their authority does not exist any more. They stay as they are until they are due, so that
 * the manifests can be applied again meanwhile; their authority is trusted until they are replaced.
 */
import { X509Certificate } from "node:crypto";
import { mapErr, type Result } from "#base";
import { CERTIFICATE_BACKDATE, certificateValidity, renewalTime } from "./agent-identity.ts";
import { bundleHasIssuer, bundleIncludes, combineBundles } from "./certificate-bundle.ts";
import { trustBundle, type CellAuthorities } from "./cell-authorities.ts";
import { issueCertificate } from "./certificate.ts";
import { readCertificate, type KeyPairPem } from "./key-pair.ts";

const DAY = 86_400_000;
export const WEBHOOK_CERTIFICATE_LIFE = 365 * DAY;
/** A Secret reaches the processes that mount it within minutes. */
const SERVED_AFTER = DAY;
/** So long all clients must have trusted an authority before it signs. API servers read a changed configuration within seconds. */
const TRUSTED_FOR = 3_600_000;

export type WebhookTrustState = {
  readonly authorities: CellAuthorities;
  /** PEM of the certificate that is served; undefined: there is none. */
  readonly served: string | undefined;
  readonly dnsNames: readonly string[];
  /** Absent: none. */
  readonly ipAddresses?: readonly string[];
  /** `caBundle` of every client as PEM; empty: none. */
  readonly clients: readonly string[];
  /** `ca.crt` beside the served certificate as PEM; empty: none. */
  readonly servedAuthority: string;
  /** Since when all clients have been seen with the current authority; undefined: not yet. */
  readonly trustedSince: number | undefined;
  readonly now: number;
};

export type WebhookRenewal = {
  /** What every client has to trust now, as PEM; undefined: what it trusts already. */
  readonly trust: string | undefined;
  /** All clients trust the current authority already. */
  readonly trusted: boolean;
  /** The certificate has to be replaced. */
  readonly due: boolean;
  /** It may be replaced now. */
  readonly issue: boolean;
};

export function decideWebhookRenewal(state: WebhookTrustState): WebhookRenewal {
  const { authorities, clients, servedAuthority, trustedSince, now } = state;
  const own = trustBundle(authorities);
  const served = parsed(state.served);
  if (served !== undefined && isDelivered(served, own) && now < renewalOf(served))
    return { trust: undefined, trusted: true, due: false, issue: false };
  const trusted = clients.every((bundle) => bundleIncludes(bundle, authorities.current.certificate));
  const waited = trustedSince !== undefined && now - trustedSince >= TRUSTED_FOR;
  // nothing can fail any more that does not fail already
  const useless = served === undefined || served.validToDate.getTime() <= now;
  const due = isDue(state, served);
  return {
    trust: isSettled(served, own, now) ? own : withOthers(own, [...clients, servedAuthority], now),
    trusted,
    due,
    // another certificate of an authority that is in use needs no wait
    issue: due && trusted && (waited || useless || isSignedBy(served, authorities)),
  };
}

/** Whether a certificate of another authority, or none, has to be replaced: before that, no authority is needed. */
export function isDeliveredDue(pem: string | undefined, now: number): boolean {
  const served = parsed(pem);
  return served === undefined || now >= renewalOf(served);
}

/** For the certificate of a webhook: its dates, and its new key. */
export function issueWebhookCertificate(
  { current }: CellAuthorities,
  { dnsNames, ipAddresses = [] }: Pick<WebhookTrustState, "dnsNames" | "ipAddresses">,
  now: number,
): Result<KeyPairPem, string> {
  const commonName = (dnsNames[0] ?? "webhook").slice(0, 64);
  const validity = certificateValidity(current, now, WEBHOOK_CERTIFICATE_LIFE);
  const request = { commonName, dnsNames, ipAddresses, ...validity, usages: ["server"] as const };
  return mapErr(issueCertificate(current, request), ({ message }) => message);
}

function parsed(pem: string | undefined): X509Certificate | undefined {
  const read = pem === undefined ? undefined : readCertificate(pem);
  return read?.ok === true ? read.value : undefined;
}

/** It was signed by an authority of ours so long ago that no process serves an older one. */
function isSettled(served: X509Certificate | undefined, own: string, now: number): boolean {
  if (served === undefined) return false;
  const signed = served.validFromDate.getTime() + CERTIFICATE_BACKDATE;
  return now - signed >= SERVED_AFTER && !isDelivered(served, own);
}

/** It is of another authority. */
function isDelivered(served: X509Certificate, own: string): boolean {
  return !bundleHasIssuer(own, served);
}

function renewalOf({ validFromDate: notBefore, validToDate: notAfter }: X509Certificate): number {
  return renewalTime({ notBefore, notAfter });
}

function isDue(state: WebhookTrustState, served: X509Certificate | undefined): boolean {
  const { authorities, dnsNames, ipAddresses = [], now } = state;
  if (served === undefined || !isSignedBy(served, authorities)) return true;
  if (!dnsNames.every((name) => served.checkHost(name) !== undefined)) return true;
  if (!ipAddresses.every((address) => served.checkIP(address) !== undefined)) return true;
  return now >= renewalOf(served);
}

function isSignedBy(served: X509Certificate | undefined, { current }: CellAuthorities): boolean {
  return served !== undefined && bundleHasIssuer(current.certificate, served);
}

/** Bundles that are not readable trust nothing, so there is nothing to keep. */
function withOthers(own: string, bundles: readonly string[], now: number): string {
  return bundles.reduce((all, bundle) => {
    const combined = combineBundles(all, bundle, now);
    return combined.ok ? combined.value : all;
  }, own);
}

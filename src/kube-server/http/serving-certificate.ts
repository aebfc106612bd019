/** The certificate with which a server on this machine identifies itself, and the authority that issues it. */
import { andThen, map, mapErr, ok, type Clock, type Result, type Sensitive } from "#base";
import {
  checkCertificate,
  createCertificateAuthority,
  issueCertificate,
  type CertificateAuthority,
  type KeyPairPem,
  type PkiError,
} from "#pki";

export type ServingCertificate = {
  readonly server: KeyPairPem;
  /** PEM of the authority's certificate: clients that trust it trust the server. */
  readonly authority: string;
  readonly ca: CertificateAuthority;
};

const DAY_MS = 24 * 3_600_000;
const TEN_YEARS_MS = 10 * 365 * DAY_MS;
/** Certificates are valid from an hour ago: clocks of clients differ. */
const HOUR_MS = 3_600_000;
/** A certificate that expires sooner is replaced at the next start. */
const RENEWAL_MS = 30 * DAY_MS;
const LOOPBACK = ["127.0.0.1", "::1"];
const DNS_NAMES = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/** A new authority and a certificate of it. `addresses`: in addition to loopback. */
export function certificateFor(addresses: string | readonly string[], clock: Clock): Result<ServingCertificate, string> {
  const issued = andThen(createServerAuthority(clock), (ca) => issueServingCertificate({ ca, addresses, clock }));
  return mapErr(issued, ({ message }) => message);
}

/** `key`: PEM of an existing key, for which only the certificate is created. */
export function createServerAuthority(clock: Clock, key?: Sensitive<string>): Result<CertificateAuthority, PkiError> {
  const period = { notBefore: new Date(clock.now() - HOUR_MS), notAfter: new Date(clock.now() + TEN_YEARS_MS) };
  return createCertificateAuthority({ commonName: "lattice-api-server-ca", ...period, ...(key === undefined ? {} : { key }) });
}

export type ServingRequest = {
  readonly ca: CertificateAuthority;
  /** In addition to loopback. */
  readonly addresses: string | readonly string[];
  readonly clock: Clock;
  /** PEM of an existing key. Default: a new key. */
  readonly key?: Sensitive<string>;
};

export function issueServingCertificate({ ca, addresses, clock, key }: ServingRequest): Result<ServingCertificate, PkiError> {
  const issued = issueCertificate(ca, {
    commonName: "lattice-api-server",
    notBefore: new Date(clock.now() - HOUR_MS),
    notAfter: ca.notAfter,
    usages: ["server"],
    dnsNames: DNS_NAMES,
    ipAddresses: withLoopback(addresses),
    ...(key === undefined ? {} : { key }),
  });
  return map(issued, (server) => ({ server, authority: ca.certificate, ca }));
}

/** Undefined: a new certificate must be issued, because the authority or an address is another, or because it soon expires. */
export function reuseServingCertificate(
  stored: KeyPairPem,
  { ca, addresses, clock }: Omit<ServingRequest, "key">,
): Result<ServingCertificate | undefined, PkiError> {
  const checked = checkCertificate(stored, { issuer: ca, dnsNames: DNS_NAMES, ipAddresses: withLoopback(addresses) });
  return andThen(checked, ({ fits, notAfter }) => {
    const expiresSoon = notAfter.getTime() - clock.now() < RENEWAL_MS && notAfter < ca.notAfter;
    return ok(fits && !expiresSoon ? { server: stored, authority: ca.certificate, ca } : undefined);
  });
}

function withLoopback(addresses: string | readonly string[]): readonly string[] {
  return [...new Set([addresses, LOOPBACK].flat())];
}

/** The certificate with which a server on this machine identifies itself, and the authority that issues it. */
import { err, ok, type Clock, type Result } from "#base";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority, type KeyPairPem } from "#pki";

export type ServingCertificate = {
  readonly server: KeyPairPem;
  /** PEM of the authority's certificate: clients that trust it trust the server. */
  readonly authority: string;
  readonly ca: CertificateAuthority;
};

const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
/** Certificates are valid from an hour ago: clocks of clients differ. */
const HOUR_MS = 3_600_000;
const LOOPBACK = ["127.0.0.1", "::1"];

/** `addresses`: in addition to loopback. `from`: an authority that exists already. */
export function certificateFor(
  addresses: string | readonly string[],
  clock: Clock,
  from?: CertificateAuthority,
): Result<ServingCertificate, string> {
  const period = { notBefore: new Date(clock.now() - HOUR_MS), notAfter: new Date(clock.now() + TEN_YEARS_MS) };
  const authority = from === undefined ? createCertificateAuthority({ commonName: "lattice-api-server-ca", ...period }) : ok(from);
  if (!authority.ok) return err(authority.error.message);
  const issued = issueCertificate(authority.value, {
    commonName: "lattice-api-server",
    notBefore: period.notBefore,
    notAfter: authority.value.notAfter,
    usages: ["server"],
    dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
    ipAddresses: [...new Set([addresses, LOOPBACK].flat())],
  });
  if (!issued.ok) return err(issued.error.message);
  return ok({ server: issued.value, authority: authority.value.certificate, ca: authority.value });
}

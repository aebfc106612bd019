/** Whether a stored certificate can still be used by a server, or its authority must issue a new one. */
import { X509Certificate } from "node:crypto";
import { map, type Result } from "#base";
import { bundleHasIssuer } from "./certificate-bundle.ts";
import type { CertificateAuthority } from "./certificate.ts";
import { BOTH_CURVES, readKeyPair, type KeyPairPem, type PkiError } from "./key-pair.ts";

export type CertificateUse = {
  readonly issuer: CertificateAuthority;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
};

export type CertificateState = {
  /** Issued by this authority, for all of these names and addresses. */
  readonly fits: boolean;
  readonly notAfter: Date;
};

/** An error: the files are damaged. */
export function checkCertificate(stored: KeyPairPem, use: CertificateUse): Result<CertificateState, PkiError> {
  return map(readKeyPair(stored, BOTH_CURVES), (certificate) => {
    const authority = new X509Certificate(use.issuer.certificate);
    const issued = certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
    const named = use.dnsNames.every((name) => certificate.checkHost(name) !== undefined);
    const addressed = use.ipAddresses.every((address) => certificate.checkIP(address) !== undefined);
    return { fits: issued && named && addressed, notAfter: certificate.validToDate };
  });
}

/** Whether the files are usable and an authority of the bundle has issued the certificate. Dates and names are not considered. */
export function isIssuedWithin(stored: KeyPairPem, bundle: string): boolean {
  const read = readKeyPair(stored, BOTH_CURVES);
  return read.ok && bundleHasIssuer(bundle, read.value);
}

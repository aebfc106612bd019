/**
 * Certificate signing requests (PKCS #10, RFC 2986): creation by an agent, and the certificate that an authority signs for one.
 *
 * A request carries a public key and proves possession of its private key, nothing more: `signCsr` takes every name, usage and date
 * from its caller. The reader is `read-csr.ts`.
 */
import { createPublicKey, sign, X509Certificate } from "node:crypto";
import { err, map, ok, type Result, type Sensitive } from "#base";
import { certifyKey, type CertificateAuthority, type CertificateRequest } from "./certificate.ts";
import { requireCurve } from "./curves.ts";
import * as der from "./der.ts";
import { BOTH_CURVES, readPrivateKey, type PkiError } from "./key-pair.ts";
import type { CsrContent } from "./read-csr.ts";
import * as x509 from "./x509.ts";

/** A request as PEM, signed by `key` (PKCS #8 PEM, P-256 or P-384). The authority ignores the common name; people who read the request do not. */
export function createCsr(key: Sensitive<string>, { commonName }: { readonly commonName: string }): Result<string, PkiError> {
  if (commonName === "" || commonName.length > 64) {
    return err({ kind: "invalid-request", message: `"${commonName}" must have 1 to 64 characters to stand in a request` });
  }
  const privateKey = readPrivateKey(key, BOTH_CURVES);
  if (!privateKey.ok) return privateKey;
  const { digest, signatureOid } = requireCurve(privateKey.value);
  const info = der.sequence(
    der.integer(0n),
    x509.distinguishedName(commonName, []),
    x509.publicKeyInfo(createPublicKey(privateKey.value)),
    der.explicitTag(0, Buffer.alloc(0)),
  );
  const signature = sign(digest, info, { key: privateKey.value, dsaEncoding: "der" });
  return ok(x509.pem("CERTIFICATE REQUEST", der.sequence(info, der.sequence(der.oid(signatureOid)), der.bitString(signature))));
}

export type CsrSigning = Pick<CertificateRequest, "commonName" | "dnsNames" | "uriNames" | "notBefore" | "notAfter" | "usages">;

/** A certificate and what a cell records about it. */
export type SignedCertificate = {
  readonly certificate: string;
  /** Upper-case hexadecimal, as in `readAgentIdentity`. */
  readonly serial: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly notAfter: number;
  /** SHA-256 of the public key. */
  readonly keyHash: string;
};

export function signCsr(authority: CertificateAuthority, csr: CsrContent, signing: CsrSigning): Result<SignedCertificate, PkiError> {
  return map(certifyKey(authority, signing, csr.publicKey), (certificate) => {
    const { serialNumber, validToDate } = new X509Certificate(certificate);
    return { certificate, serial: serialNumber, notAfter: validToDate.getTime(), keyHash: csr.keyHash };
  });
}

/**
 * A certificate and its key as PEM, and their parsing. Every key is ECDSA P-256.
 *
 * Messages of OpenSSL are never passed on: they could contain a part of the key.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { err, fromThrowing, ok, reveal, type Result, type Sensitive } from "#base";

export type PkiError = {
  /** "mismatch": the key is not the certificate's. */
  readonly kind: "invalid-request" | "invalid-certificate" | "invalid-key" | "mismatch";
  readonly message: string;
};

export type KeyPairPem = {
  readonly certificate: string;
  /** PKCS #8 PEM. */
  readonly key: Sensitive<string>;
};

export function readPrivateKey(pem: Sensitive<string>): Result<KeyObject, PkiError> {
  const key = fromThrowing<KeyObject, PkiError>(
    () => createPrivateKey(reveal(pem)),
    () => ({ kind: "invalid-key", message: "the key is not readable PEM" }),
  );
  if (key.ok && key.value.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    return err({ kind: "invalid-key", message: "the key is not an ECDSA P-256 key" });
  }
  return key;
}

/** The certificate, if the key is its own. */
export function readKeyPair(pair: KeyPairPem): Result<X509Certificate, PkiError> {
  const certificate = fromThrowing<X509Certificate, PkiError>(
    () => new X509Certificate(pair.certificate),
    () => ({ kind: "invalid-certificate", message: "the certificate is not readable PEM" }),
  );
  if (!certificate.ok) return certificate;
  const key = readPrivateKey(pair.key);
  if (!key.ok) return key;
  if (!certificate.value.checkPrivateKey(key.value)) return err({ kind: "mismatch", message: "the key is not the certificate's" });
  return ok(certificate.value);
}

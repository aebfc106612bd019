/**
 * A certificate and its key as PEM, and their parsing. Keys are ECDSA P-256, or P-384 where the caller accepts it.
 *
 * Messages of OpenSSL are never passed on: they could contain a part of the key.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import { err, fromThrowing, ok, reveal, sensitive, type Result, type Sensitive } from "#base";
import { curveOf, type CurveName } from "./curves.ts";

export type PkiError = {
  /** "mismatch": the key is not the certificate's. */
  readonly kind: "invalid-request" | "invalid-certificate" | "invalid-key" | "invalid-csr" | "mismatch";
  readonly message: string;
};

export type KeyPairPem = {
  readonly certificate: string;
  /** PKCS #8 PEM. */
  readonly key: Sensitive<string>;
};

export const BOTH_CURVES: readonly CurveName[] = ["P-256", "P-384"];
const ONLY_P256: readonly CurveName[] = ["P-256"];

/** A new private key as PKCS #8 PEM. */
export function createPrivateKeyPem(curve: CurveName = "P-256"): Sensitive<string> {
  return keyPem(generateKeyPairSync("ec", { namedCurve: curve }).privateKey);
}

export function keyPem(key: KeyObject): Sensitive<string> {
  return sensitive(key.export({ type: "pkcs8", format: "pem" }).toString());
}

export function readPrivateKey(pem: Sensitive<string>, accepted = ONLY_P256): Result<KeyObject, PkiError> {
  const key = fromThrowing<KeyObject, PkiError>(
    () => createPrivateKey(reveal(pem)),
    () => ({ kind: "invalid-key", message: "the key is not readable PEM" }),
  );
  if (!key.ok) return key;
  const curve = curveOf(key.value);
  if (curve !== undefined && accepted.includes(curve.name)) return key;
  return err({ kind: "invalid-key", message: `the key is not an ECDSA ${accepted.join(" or ")} key` });
}

/** The certificate, if the key is its own. */
export function readKeyPair(pair: KeyPairPem, accepted = ONLY_P256): Result<X509Certificate, PkiError> {
  const certificate = readCertificate(pair.certificate);
  if (!certificate.ok) return certificate;
  const key = readPrivateKey(pair.key, accepted);
  if (!key.ok) return key;
  if (!certificate.value.checkPrivateKey(key.value)) return err({ kind: "mismatch", message: "the key is not the certificate's" });
  return ok(certificate.value);
}

/** The first certificate of a PEM text, or one as DER. */
export function readCertificate(encoded: string | Uint8Array): Result<X509Certificate, PkiError> {
  return fromThrowing<X509Certificate, PkiError>(
    () => new X509Certificate(encoded),
    () => ({ kind: "invalid-certificate", message: "the certificate is not readable PEM" }),
  );
}

/**
 * Certificate authorities and the certificates they issue.
 *
 * Keys are exported only as `Sensitive` PEM. A certificate never outlives its authority: every verifier would reject it after the
 * authority has expired, although its own dates are valid.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { andThen, err, map, ok, reveal, type Result, type Sensitive } from "#base";
import { subjectOf } from "./certificate-fields.ts";
import type { CurveName } from "./curves.ts";
import { keyPem, readKeyPair, readPrivateKey, type KeyPairPem, type PkiError } from "./key-pair.ts";
import { subjectNames, type RequestedNames } from "./subject-names.ts";
import * as x509 from "./x509.ts";

export type CertificateAuthority = KeyPairPem & {
  /** Its name as DER: exactly the issuer field of the certificates it issues. */
  readonly subject: Uint8Array;
  readonly notAfter: Date;
};

export type AuthorityRequest = {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Of a new key, or the one that `key` must have. Default: P-256. */
  readonly curve?: CurveName;
  /** PKCS #8 PEM of an existing key. Default: a new key. */
  readonly key?: Sensitive<string>;
};

export type CertificateRequest = AuthorityRequest & RequestedNames & { readonly usages: readonly x509.Usage[] };

export function createCertificateAuthority(request: AuthorityRequest): Result<CertificateAuthority, PkiError> {
  const fault = faultOf(request);
  if (fault !== undefined) return invalid(fault);
  const keys = keysOf(request);
  if (!keys.ok) return keys;
  const { publicKey, privateKey } = keys.value;
  const subject = x509.distinguishedName(request.commonName, request.organizations ?? []);
  const extensions = [
    x509.basicConstraints({ pathLength: 0 }),
    x509.keyUsage([x509.KEY_USAGE.digitalSignature, x509.KEY_USAGE.keyCertSign, x509.KEY_USAGE.cRLSign]),
    x509.subjectKeyIdentifier(publicKey),
    x509.authorityKeyIdentifier(publicKey),
  ];
  const { notBefore, notAfter } = request;
  const certificate = x509.signCertificate({ issuer: subject, subject, notBefore, notAfter, publicKey, extensions }, privateKey);
  return ok({ certificate, key: keyPem(privateKey), subject, notAfter });
}

export function issueCertificate(ca: CertificateAuthority, request: CertificateRequest): Result<KeyPairPem, PkiError> {
  return andThen(keysOf(request), ({ publicKey, privateKey }) =>
    map(certifyKey(ca, request, publicKey), (certificate) => ({ certificate, key: keyPem(privateKey) })),
  );
}

/** The certificate as PEM for a public key whose private key is elsewhere. */
export function certifyKey(
  ca: CertificateAuthority,
  request: Omit<CertificateRequest, "key" | "curve">,
  publicKey: KeyObject,
): Result<string, PkiError> {
  const fault = faultOf(request) ?? leafFaultOf(ca, request);
  if (fault !== undefined) return invalid(fault);
  const names = subjectNames(request);
  if (!names.ok) return invalid(names.error);
  const issuerKey = createPrivateKey(reveal(ca.key));
  const { dnsNames, uriNames, addresses } = names.value;
  const extensions = [
    x509.basicConstraints(undefined),
    x509.keyUsage([x509.KEY_USAGE.digitalSignature]),
    x509.extendedKeyUsage(request.usages),
    x509.subjectKeyIdentifier(publicKey),
    x509.authorityKeyIdentifier(createPublicKey(issuerKey)),
    ...(dnsNames.length + uriNames.length + addresses.length > 0 ? [x509.subjectAltName(names.value)] : []),
  ];
  const subject = x509.distinguishedName(request.commonName, request.organizations ?? []);
  const { notBefore, notAfter } = request;
  return ok(x509.signCertificate({ issuer: ca.subject, subject, notBefore, notAfter, publicKey, extensions }, issuerKey));
}

/** An authority from stored PEM. */
export function loadCertificateAuthority(stored: KeyPairPem, curve: CurveName = "P-256"): Result<CertificateAuthority, PkiError> {
  return andThen(readKeyPair(stored, [curve]), (certificate) => {
    if (!certificate.ca) return err({ kind: "invalid-certificate", message: "the certificate is not a certificate authority's" });
    const subject = subjectOf(certificate.raw);
    if (!subject.ok) return err({ kind: "invalid-certificate", message: subject.error });
    return ok({ ...stored, subject: subject.value, notAfter: certificate.validToDate });
  });
}

type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

function keysOf({ key, curve = "P-256" }: AuthorityRequest): Result<Keys, PkiError> {
  if (key === undefined) return ok(generateKeyPairSync("ec", { namedCurve: curve }));
  return map(readPrivateKey(key, [curve]), (privateKey) => ({ privateKey, publicKey: createPublicKey(privateKey) }));
}

/** RFC 5280 limits names to 64 characters. */
const MAX_NAME = 64;

function faultOf(request: AuthorityRequest): string | undefined {
  for (const name of [request.commonName, ...(request.organizations ?? [])]) {
    if (name === "" || name.length > MAX_NAME) return `"${name}" must have 1 to ${MAX_NAME} characters to stand in a certificate`;
  }
  if (!(request.notBefore.getTime() < request.notAfter.getTime())) return "notAfter must be later than notBefore";
  return undefined;
}

function leafFaultOf(ca: CertificateAuthority, request: Pick<CertificateRequest, "usages" | "notAfter">): string | undefined {
  if (request.usages.length === 0) return "a certificate needs at least one usage";
  if (request.notAfter.getTime() > ca.notAfter.getTime()) return "the certificate would outlive its authority";
  return undefined;
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-request", message });
}

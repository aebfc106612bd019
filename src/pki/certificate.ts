/**
 * Certificate authorities and the certificates they issue.
 *
 * Keys are exported only as `Sensitive` PEM. A certificate never outlives its authority: every verifier would reject it after the
 * authority has expired, although its own dates are valid.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { andThen, err, map, ok, reveal, sensitive, type Result, type Sensitive } from "#base";
import { readChildren, readElement } from "./der-reader.ts";
import { ipAddressBytes } from "./ip-address.ts";
import { readKeyPair, readPrivateKey, type KeyPairPem, type PkiError } from "./key-pair.ts";
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
  /** PKCS #8 PEM of an existing P-256 key. Default: a new key. */
  readonly key?: Sensitive<string>;
};

export type CertificateRequest = AuthorityRequest & {
  readonly usages: readonly x509.Usage[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
};

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
  const fault = faultOf(request) ?? leafFaultOf(ca, request);
  if (fault !== undefined) return invalid(fault);
  const names = subjectNames(request);
  if (!names.ok) return invalid(names.error);
  const issuerKey = createPrivateKey(reveal(ca.key));
  const keys = keysOf(request);
  if (!keys.ok) return keys;
  const { publicKey, privateKey } = keys.value;
  const { dnsNames, addresses } = names.value;
  const extensions = [
    x509.basicConstraints(undefined),
    x509.keyUsage([x509.KEY_USAGE.digitalSignature]),
    x509.extendedKeyUsage(request.usages),
    x509.subjectKeyIdentifier(publicKey),
    x509.authorityKeyIdentifier(createPublicKey(issuerKey)),
    ...(dnsNames.length + addresses.length > 0 ? [x509.subjectAltName(dnsNames, addresses)] : []),
  ];
  const subject = x509.distinguishedName(request.commonName, request.organizations ?? []);
  const { notBefore, notAfter } = request;
  const certificate = x509.signCertificate({ issuer: ca.subject, subject, notBefore, notAfter, publicKey, extensions }, issuerKey);
  return ok({ certificate, key: keyPem(privateKey) });
}

/** An authority from stored PEM. */
export function loadCertificateAuthority(stored: KeyPairPem): Result<CertificateAuthority, PkiError> {
  return andThen(readKeyPair(stored), (certificate) => {
    if (!certificate.ca) return err({ kind: "invalid-certificate", message: "the certificate is not a certificate authority's" });
    const subject = subjectOf(certificate.raw);
    if (!subject.ok) return err({ kind: "invalid-certificate", message: subject.error });
    return ok({ ...stored, subject: subject.value, notAfter: certificate.validToDate });
  });
}

/** Certificate → TBSCertificate → version, serial, algorithm, issuer, validity, subject. */
function subjectOf(raw: Uint8Array): Result<Uint8Array, string> {
  const certificate = readElement(raw);
  if (!certificate.ok) return certificate;
  const signed = readElement(certificate.value.content);
  if (!signed.ok) return signed;
  const parts = readChildren(signed.value.content);
  if (!parts.ok) return parts;
  const subject = parts.value[5];
  return subject === undefined ? err("the certificate has no subject") : ok(subject.whole);
}

type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

function keysOf({ key }: AuthorityRequest): Result<Keys, PkiError> {
  if (key === undefined) return ok(generateKeyPairSync("ec", { namedCurve: "P-256" }));
  return map(readPrivateKey(key), (privateKey) => ({ privateKey, publicKey: createPublicKey(privateKey) }));
}

function keyPem(key: KeyObject): Sensitive<string> {
  return sensitive(key.export({ type: "pkcs8", format: "pem" }).toString());
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

function leafFaultOf(ca: CertificateAuthority, request: CertificateRequest): string | undefined {
  if (request.usages.length === 0) return "a certificate needs at least one usage";
  if (request.notAfter.getTime() > ca.notAfter.getTime()) return "the certificate would outlive its authority";
  return undefined;
}

/** A host name with or without a leading wildcard; IPs are listed separately, because verifiers never match them as names. */
const DNS_NAME = /^(\*\.)?[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*$/;

function subjectNames(request: CertificateRequest): Result<{ dnsNames: readonly string[]; addresses: Uint8Array[] }, string> {
  const dnsNames = request.dnsNames ?? [];
  const badName = dnsNames.find((name) => name.length > 253 || !DNS_NAME.test(name) || ipAddressBytes(name) !== undefined);
  if (badName !== undefined) return err(`"${badName}" is not a DNS name`);
  const addresses: Uint8Array[] = [];
  for (const address of request.ipAddresses ?? []) {
    const bytes = ipAddressBytes(address);
    if (bytes === undefined) return err(`"${address}" is not an IP address`);
    addresses.push(bytes);
  }
  return ok({ dnsNames, addresses });
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-request", message });
}

/**
 * The parts of an X.509 certificate as DER (RFC 5280), and their signature: ECDSA P-256 with SHA-256 or P-384 with SHA-384.
 *
 * Key identifiers are the first 160 bits of the SHA-256 of the public key (RFC 7093, method 1): the older method uses
 * SHA-1, which a FIPS module rejects.
 */
import { createHash, randomBytes, sign, type KeyObject } from "node:crypto";
import { requireCurve } from "./curves.ts";
import * as der from "./der.ts";
import type { SubjectNames } from "./subject-names.ts";

const OIDS = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

export type Usage = "server" | "client";
const USAGE_OIDS = { server: OIDS.serverAuth, client: OIDS.clientAuth } as const;
/** Bits of keyUsage. */
export const KEY_USAGE = { digitalSignature: 0, keyCertSign: 5, cRLSign: 6 } as const;

export type TbsCertificate = {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
};

/** The signed certificate as PEM. */
export function signCertificate(tbs: TbsCertificate, issuerKey: KeyObject): string {
  const { digest, signatureOid } = requireCurve(issuerKey);
  const algorithm = der.sequence(der.oid(signatureOid));
  const content = der.sequence(
    der.explicitTag(0, der.integer(2n)),
    der.integer(randomSerial()),
    algorithm,
    tbs.issuer,
    der.sequence(der.time(tbs.notBefore), der.time(tbs.notAfter)),
    tbs.subject,
    publicKeyInfo(tbs.publicKey),
    der.explicitTag(3, der.sequence(...tbs.extensions)),
  );
  const signature = sign(digest, content, { key: issuerKey, dsaEncoding: "der" });
  return pem("CERTIFICATE", der.sequence(content, algorithm, der.bitString(signature)));
}

/** 127 random bits with the highest set: positive, never zero, always 16 bytes. */
function randomSerial(): bigint {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return BigInt(`0x${bytes.toString("hex")}`);
}

export function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

/** The digest of the key itself, without its algorithm identifier: the point at the end. */
export function keyIdentifier(key: KeyObject): Buffer {
  const point = publicKeyInfo(key).subarray(-requireCurve(key).pointBytes);
  return createHash("sha256").update(point).digest().subarray(0, 20);
}

/** Organisations first, then the common name: the order of kubeadm and Go. */
export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (type: string, text: string) => der.setOfOne(der.sequence(der.oid(type), der.utf8String(text)));
  return der.sequence(...organizations.map((name) => attribute(OIDS.organization, name)), attribute(OIDS.commonName, commonName));
}

export function basicConstraints(authority: { readonly pathLength: number } | undefined): Buffer {
  const content = authority === undefined ? [] : [der.boolean(true), der.integer(BigInt(authority.pathLength))];
  return extension(OIDS.basicConstraints, true, der.sequence(...content));
}

export function keyUsage(bits: readonly number[]): Buffer {
  return extension(OIDS.keyUsage, true, der.namedBits(bits));
}

export function extendedKeyUsage(usages: readonly Usage[]): Buffer {
  return extension(OIDS.extendedKeyUsage, false, der.sequence(...usages.map((usage) => der.oid(USAGE_OIDS[usage]))));
}

export function subjectKeyIdentifier(key: KeyObject): Buffer {
  return extension(OIDS.subjectKeyIdentifier, false, der.octetString(keyIdentifier(key)));
}

export function authorityKeyIdentifier(key: KeyObject): Buffer {
  return extension(OIDS.authorityKeyIdentifier, false, der.sequence(der.implicitTag(0, keyIdentifier(key))));
}

export function subjectAltName({ dnsNames, uriNames, addresses }: SubjectNames): Buffer {
  const names = dnsNames.map((name) => der.implicitTag(2, Buffer.from(name, "ascii")));
  const uris = uriNames.map((name) => der.implicitTag(6, Buffer.from(name, "ascii")));
  const ips = addresses.map((address) => der.implicitTag(7, address));
  return extension(OIDS.subjectAltName, false, der.sequence(...names, ...uris, ...ips));
}

/** A verifier that does not support a critical extension must reject the certificate. */
function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

export function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

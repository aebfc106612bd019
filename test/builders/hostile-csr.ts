/** Certificate requests as an attacker writes them: correctly signed, with parts that no agent sends. */
import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import * as der from "../../src/pki/der.ts";
import * as x509 from "../../src/pki/x509.ts";

export type RequestParts = {
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly version?: Buffer;
  readonly attributes?: Buffer;
  readonly keyInfo?: Buffer;
  readonly subject?: Buffer;
};

export const csrPem = (bytes: Uint8Array): string => x509.pem("CERTIFICATE REQUEST", bytes);

/** A request with a correct signature whose other parts can be replaced. */
export function requestWith(parts: RequestParts): string {
  return csrPem(requestBytes(parts));
}

export function requestBytes(parts: RequestParts): Buffer {
  const { publicKey, privateKey } = parts.keys ?? generateKeyPairSync("ec", { namedCurve: "P-256" });
  const info = der.sequence(
    parts.version ?? der.integer(0n),
    parts.subject ?? x509.distinguishedName("east", []),
    parts.keyInfo ?? x509.publicKeyInfo(publicKey),
    der.explicitTag(0, parts.attributes ?? Buffer.alloc(0)),
  );
  const signature = sign("sha256", info, { key: privateKey, dsaEncoding: "der" });
  return der.sequence(info, der.sequence(der.oid("1.2.840.10045.4.3.2")), der.bitString(signature));
}

/** The attribute extensionRequest. */
export const extensionRequest = (...extensions: Buffer[]): Buffer =>
  der.sequence(der.oid("1.2.840.113549.1.9.14"), der.setOfOne(der.sequence(...extensions)));

/** As bytes: a FIPS provider creates no such keys. */
export const RSA_1024 = der.sequence(
  der.sequence(der.oid("1.2.840.113549.1.1.1"), Buffer.from("0500", "hex")),
  der.bitString(der.sequence(der.integer(BigInt(`0x${"c5".repeat(128)}`)), der.integer(65_537n))),
);

export const P_224 = der.sequence(
  der.sequence(der.oid("1.2.840.10045.2.1"), der.oid("1.3.132.0.33")),
  der.bitString(Buffer.concat([Buffer.of(4), Buffer.alloc(56, 7)])),
);

/**
 * A key that signs texts: ECDSA P-256 with SHA-256, which JSON Web Tokens call ES256. The private key is exported only as
 * `Sensitive` PEM.
 *
 * Signatures are the two numbers concatenated (64 bytes), as in JOSE, not the DER of certificates.
 */
import { createHash, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from "node:crypto";
import { map, sensitive, type Result, type Sensitive } from "#base";
import { readPrivateKey, type PkiError } from "./key-pair.ts";

/** A public key in the format of RFC 7517. */
export type PublicJwk = {
  readonly use: "sig";
  readonly kty: "EC";
  readonly kid: string;
  readonly crv: "P-256";
  readonly alg: "ES256";
  readonly x: string;
  readonly y: string;
};

export type SigningKey = {
  readonly algorithm: "ES256";
  /** A digest of the public key, by which a verifier selects the key. */
  readonly id: string;
  readonly publicKey: PublicJwk;
  /** PKCS #8 PEM, for storage. */
  readonly pem: Sensitive<string>;
  readonly sign: (text: string) => Uint8Array;
  readonly verify: (text: string, signature: Uint8Array) => boolean;
};

export function createSigningKey(): SigningKey {
  return signingKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
}

/** A key from stored PEM. */
export function loadSigningKey(pem: Sensitive<string>): Result<SigningKey, PkiError> {
  return map(readPrivateKey(pem), signingKeyOf);
}

function signingKeyOf(key: KeyObject): SigningKey {
  const publicKey = createPublicKey(key);
  const id = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return {
    algorithm: "ES256",
    id,
    publicKey: { use: "sig", kty: "EC", kid: id, crv: "P-256", alg: "ES256", x, y },
    pem: sensitive(key.export({ type: "pkcs8", format: "pem" }).toString()),
    sign: (text) => sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }),
    verify: (text, signature) => verify("sha256", Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, signature),
  };
}

/**
 * The two elliptic curves of Lattice: P-256 for leaves and embedded clusters, P-384 for the authorities of cells.
 *
 * The digest of a signature follows the curve of the key that signs, not the curve of the key that is certified.
 */
import type { KeyObject } from "node:crypto";

export type CurveName = "P-256" | "P-384";

export type KeyCurve = {
  readonly name: CurveName;
  /** Digest of signatures by keys of this curve. */
  readonly digest: "sha256" | "sha384";
  readonly signatureOid: string;
  /** An uncompressed point: 0x04 and two coordinates. */
  readonly pointBytes: number;
  /** SubjectPublicKeyInfo up to the point: algorithm, named curve, header of the bit string. */
  readonly keyInfoPrefix: Buffer;
};

const P256: KeyCurve = {
  name: "P-256",
  digest: "sha256",
  signatureOid: "1.2.840.10045.4.3.2",
  pointBytes: 65,
  keyInfoPrefix: Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex"),
};

const P384: KeyCurve = {
  name: "P-384",
  digest: "sha384",
  signatureOid: "1.2.840.10045.4.3.3",
  pointBytes: 97,
  keyInfoPrefix: Buffer.from("3076301006072a8648ce3d020106052b81040022036200", "hex"),
};

export const CURVES: readonly KeyCurve[] = [P256, P384];

/** Undefined: not a key of one of the two curves. */
export function curveOf(key: KeyObject): KeyCurve | undefined {
  switch (key.asymmetricKeyDetails?.namedCurve) {
    case "prime256v1":
      return P256;
    case "secp384r1":
      return P384;
    default:
      return undefined;
  }
}

/** For keys that were created or parsed by this folder. */
export function requireCurve(key: KeyObject): KeyCurve {
  const curve = curveOf(key);
  if (curve === undefined) throw new Error("a key of another curve was passed to a function of pki");
  return curve;
}

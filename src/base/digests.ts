/** SHA-2 digests and HMACs. The only hashing in Lattice; `npm run check` rejects md5 and sha1 everywhere. */
import { createHash, createHmac, hash, timingSafeEqual } from "node:crypto";

export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

export function hmacSha256Hex(key: string | Uint8Array, data: string | Uint8Array): string {
  return createHmac("sha256", key).update(data).digest("hex");
}

/** Compares digests in constant time. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = createHash("sha256").update(a).digest();
  const right = createHash("sha256").update(b).digest();
  return timingSafeEqual(left, right);
}

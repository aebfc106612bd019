/** Whether OpenSSL's FIPS provider does the cryptography of this process. */
import { createHash, getFips } from "node:crypto";

/** A hash that FIPS does not approve, and Lattice does not use. */
const NOT_APPROVED = "blake2s256";

/**
 * By behaviour too: the setting alone is also on in a process in which no provider was loaded, where every operation fails, and the provider may be
 * loaded beside one that answers everything.
 */
export function isFipsActive(): boolean {
  return getFips() === 1 && works("sha256") && !works(NOT_APPROVED);
}

function works(algorithm: string): boolean {
  try {
    createHash(algorithm).update("").digest();
    return true;
  } catch {
    return false; // the error differs between versions of OpenSSL
  }
}

/**
 * Checks that FIPS is enabled in this process by its behaviour: a hash that FIPS forbids must fail and one that it allows must work.
 *
 * As a program it exits with 0 or 1; as a module it is vitest's setup file of the FIPS lane, so that no test file can run in a worker
 * without the setting.
 */
import { createHash, getFips } from "node:crypto";

if (getFips() !== 1 || !refuses("md5") || refuses("sha256")) throw new Error("this process does not run under the OpenSSL FIPS provider");

function refuses(algorithm: string): boolean {
  try {
    createHash(algorithm).update("probe").digest();
    return false;
  } catch {
    return true; // the error differs between OpenSSL versions; any error counts
  }
}

/**
 * Whether the cache has the last write. For controllers that decide by a status they wrote themselves: with an older copy they
 * would count too few Pods, and create too many.
 *
 * Versions that are not numbers cannot be compared; then nothing is waited for, and a conflict is detected by the server.
 */
import type { KubeObject } from "#kube";

export class WrittenVersions {
  /** By uid. */
  readonly #written = new Map<string, bigint>();

  wrote({ metadata: { uid = "", resourceVersion } }: KubeObject): void {
    const version = numberOf(resourceVersion);
    if (version !== undefined) this.#written.set(uid, version);
  }

  /** Whether this copy, from the cache, is at least as new as what was last written. */
  isCurrent({ metadata: { uid = "", resourceVersion } }: KubeObject): boolean {
    const written = this.#written.get(uid);
    const seen = numberOf(resourceVersion);
    if (written !== undefined && seen !== undefined && seen < written) return false;
    this.#written.delete(uid);
    return true;
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}

function numberOf(version: string | undefined): bigint | undefined {
  return version !== undefined && /^[0-9]{1,20}$/.test(version) ? BigInt(version) : undefined;
}

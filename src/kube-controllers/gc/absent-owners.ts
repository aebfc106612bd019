/**
 * Owners that are known not to exist. Uids are never reused, so an entry stays correct; old entries are removed to bound the memory.
 *
 * Two generations instead of one set whose oldest entry is removed: finding the oldest entry of a set with many deletions is slow.
 */
import { identityKey, type Identity } from "./identity.ts";

const GENERATION = 10_000;

export class AbsentOwners {
  #young = new Set<string>();
  #old = new Set<string>();

  add(identity: Identity): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(identityKey(identity));
  }

  has(identity: Identity): boolean {
    const key = identityKey(identity);
    return this.#young.has(key) || this.#old.has(key);
  }
}

/**
 * Owners that are known not to exist. Uids never come back, so an entry never becomes wrong; old ones are forgotten all the same.
 *
 * Two generations instead of one set whose oldest entry goes: finding the oldest of a set that forgets all the time is slow.
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

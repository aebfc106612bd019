/**
 * Creations and deletions of a controller that are not in its cache yet. Until they are, a pass would create or
 * delete the same Pods again.
 *
 * Expectations are recorded before the requests: the watch event may arrive before the response. One that is never met (a watch
 * that broke, an object that was created and deleted) is dropped after five minutes.
 */
import type { Clock } from "#base";

const FORGET_AFTER_MS = 300_000;

type Expected = { creations: number; readonly deletions: Set<string>; readonly since: number };

export class Expectations {
  readonly #clock: Clock;
  readonly #byOwner = new Map<string, Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  expectCreations(owner: string, count: number): void {
    this.#expect(owner).creations += count;
  }

  expectDeletions(owner: string, keys: readonly string[]): void {
    const { deletions } = this.#expect(owner);
    for (const key of keys) deletions.add(key);
  }

  /** A Pod of this owner was observed, or its creation failed. */
  created(owner: string, count = 1): void {
    const expected = this.#byOwner.get(owner);
    if (expected !== undefined) expected.creations = Math.max(0, expected.creations - count);
  }

  deleted(owner: string, key: string): void {
    this.#byOwner.get(owner)?.deletions.delete(key);
  }

  satisfied(owner: string): boolean {
    const expected = this.#byOwner.get(owner);
    if (expected === undefined) return true;
    const over = expected.creations === 0 && expected.deletions.size === 0;
    if (!over && this.#clock.monotonic() - expected.since <= FORGET_AFTER_MS) return false;
    this.#byOwner.delete(owner);
    return true;
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }

  #expect(owner: string): Expected {
    const known = this.#byOwner.get(owner);
    if (known !== undefined) return known;
    const expected = { creations: 0, deletions: new Set<string>(), since: this.#clock.monotonic() };
    this.#byOwner.set(owner, expected);
    return expected;
  }
}

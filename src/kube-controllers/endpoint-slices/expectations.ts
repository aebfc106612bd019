/**
 * Writes that are not in the cache yet. A plan made from a cache that lacks our own last writes would create the same slices twice.
 *
 * The watch event may arrive before the response of the write; then nothing is expected. It may also never arrive (another client deleted
 * the slice before our response), so an expectation times out.
 */
import type { Clock } from "#base";
import type { CacheChange } from "#controller-runtime";
import type { EndpointSlice } from "#kube";

type Expected = { readonly resourceVersion: string; readonly until: number };

const EXPECTATION_TIMEOUT_MS = 30_000;
/** For a deletion: no version of the slice is new enough. */
const GONE = "gone";

export class SliceExpectations {
  readonly #clock: Clock;
  /** By Service, then by the slice's name. */
  readonly #expected = new Map<string, Map<string, Expected>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `seen`: the slice in the cache. */
  written(service: string, { metadata }: EndpointSlice, seen: EndpointSlice | undefined): void {
    const { name, resourceVersion = "" } = metadata;
    if (seen === undefined || isOlder(seen.metadata.resourceVersion ?? "", resourceVersion)) this.#expect(service, name, resourceVersion);
  }

  removed(service: string, { metadata }: EndpointSlice, seen: EndpointSlice | undefined): void {
    if (seen !== undefined) this.#expect(service, metadata.name, GONE);
  }

  /** How long the Service has to wait for the cache; 0: it is up to date. */
  behindMs(service: string): number {
    const now = this.#clock.monotonic();
    const ofService = this.#expected.get(service);
    for (const [name, { until }] of ofService ?? []) if (until <= now) ofService?.delete(name);
    if (ofService?.size === 0) this.#expected.delete(service);
    return Math.max(0, ...[...(ofService?.values() ?? [])].map(({ until }) => until - now));
  }

  forget(service: string): void {
    this.#expected.delete(service);
  }

  /** Whether the change is the event of our own write. */
  isOurs(service: string, { key, after }: CacheChange<EndpointSlice>): boolean {
    const ofService = this.#expected.get(service);
    const expected = ofService?.get(key.name);
    if (ofService === undefined || expected === undefined) return false;
    const version = after?.metadata.resourceVersion ?? "";
    if (after !== undefined && (expected.resourceVersion === GONE || isOlder(version, expected.resourceVersion))) return true;
    ofService.delete(key.name);
    if (ofService.size === 0) this.#expected.delete(service);
    return after === undefined ? expected.resourceVersion === GONE : version === expected.resourceVersion;
  }

  #expect(service: string, name: string, resourceVersion: string): void {
    const ofService = this.#expected.get(service) ?? new Map<string, Expected>();
    ofService.set(name, { resourceVersion, until: this.#clock.monotonic() + EXPECTATION_TIMEOUT_MS });
    this.#expected.set(service, ofService);
  }
}

/** Compared as text: resource versions may exceed the precision of a number. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/**
 * Limits per address and per cluster, as token buckets on the clock.
 *
 * Clients whose token is wrong are limited by address, others by cluster. Children behind one address (NAT) thus do not suffer from a neighbour with a
 * wrong token, and a cluster is not blocked by requests that only name it.
 */
import { boundedMap, type BoundedMap, type Clock } from "#base";
import { TokenBucket, type Rate } from "#controller-runtime";

/** Of 10,000 addresses or clusters the least recently used are forgotten. */
const MAX_BUCKETS = 10_000;

export class RateLimit {
  readonly #rate: Rate;
  readonly #clock: Clock;
  readonly #buckets: BoundedMap<string, TokenBucket>;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#buckets = boundedMap({ limit: MAX_BUCKETS });
  }

  /** 0: the request may go on. Otherwise the milliseconds until the next one may. */
  take(key: string): number {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(key) ?? this.#buckets.set(key, new TokenBucket(this.#rate, now));
    const waitMs = bucket.waitMs(now);
    if (waitMs === 0) bucket.take(now);
    return waitMs;
  }
}

/** One client may have all addresses of an IPv6 network of 64 bits. */
export function clientAddress(remote: string | undefined): string {
  const address = (remote ?? "unknown").replace(/^::ffff:(?=[0-9.]+$)/i, "").replace(/%.*$/, "");
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const missing = address.includes("::") ? 8 - groups.length - (tail === "" ? 0 : tail.split(":").length) : 0;
  const all = [...groups, ...Array.from({ length: missing }, () => "0"), ...(tail === "" ? [] : tail.split(":"))];
  return `${all.slice(0, 4).join(":")}::/64`;
}

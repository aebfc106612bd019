/** A token bucket: `burst` at once, `perSecond` on average. Times are passed in, so that it needs no clock. */
export type Rate = { readonly perSecond: number; readonly burst: number };

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    if (!(rate.perSecond > 0) || !(rate.burst >= 1)) throw new Error("a rate needs perSecond above 0 and a burst of at least 1");
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#at = now;
  }

  /** How long until there is a token; 0 when there is one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1_000) / this.#rate.perSecond);
  }

  take(now: number): void {
    this.#fill(now);
    this.#tokens -= 1;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + ((now - this.#at) * this.#rate.perSecond) / 1_000);
    this.#at = now;
  }
}

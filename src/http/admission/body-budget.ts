/** The memory that the bodies of all requests may use together. */
import type { HttpRequest } from "#listener";

export class BodyBudget {
  readonly #most: number;
  readonly #mostOfOne: number;
  #used = 0;

  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** Reserves the declared length of a body, or the longest one; the returned function frees it. Undefined: there is no room. */
  reserve({ headers }: HttpRequest): (() => void) | undefined {
    const declared = headers["content-length"] ?? "";
    const bytes = /^[0-9]{1,15}$/.test(declared) ? Math.min(Number(declared), this.#mostOfOne) : this.#mostOfOne;
    if (this.#used + bytes > this.#most) return undefined;
    this.#used += bytes;
    return () => {
      this.#used -= bytes;
    };
  }
}

/**
 * Renewal of an expired certificate until it succeeds, with growing waits: when a parent returns after weeks, thousands of agents ask it, and some of
 * them for ever, because they were revoked.
 *
 * It waits while the agent is connected: the stream renews then, and a certificate that the stream has just delivered would be withdrawn.
 */
import { backoffDelay, type Clock, type Logger } from "#base";
import type { AgentLink } from "#link";
import type { AgentCertificate } from "./agent-certificate.ts";

export type ExpiredRenewalOptions = {
  readonly certificate: Pick<AgentCertificate, "isExpired" | "renewExpired">;
  readonly link: Pick<AgentLink, "status" | "credentialsChanged">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
};

const BACKOFF = { initialMs: 2_000, maxMs: 300_000, factor: 2 };
const WARN_EVERY_MS = 3_600_000;

export class ExpiredRenewal {
  readonly #options: ExpiredRenewalOptions;
  #failures = 0;
  #nextAttempt = Number.NEGATIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(options: ExpiredRenewalOptions) {
    this.#options = options;
  }

  /** Why the certificate, which has expired, is not renewed yet. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async renewIfExpired(): Promise<void> {
    const { certificate, link, clock, random } = this.#options;
    if (!certificate.isExpired(clock.now()) || link.status().connected) return this.#reset();
    if (clock.monotonic() < this.#nextAttempt) return;
    const renewed = await certificate.renewExpired();
    if (renewed.ok) {
      this.#reset();
      return link.credentialsChanged();
    }
    this.#failures += 1;
    const now = clock.monotonic();
    this.#nextAttempt = now + backoffDelay(BACKOFF, this.#failures, random);
    if (now - this.#warnedAt >= WARN_EVERY_MS || this.#problem !== renewed.error.message) this.#warn(renewed.error.message, now);
  }

  #warn(reason: string, now: number): void {
    this.#problem = reason;
    this.#warnedAt = now;
    this.#options.logger.warn("the expired certificate of the agent was not renewed, and is tried again", { reason });
  }

  #reset(): void {
    this.#failures = 0;
    this.#nextAttempt = Number.NEGATIVE_INFINITY;
    this.#warnedAt = Number.NEGATIVE_INFINITY;
    this.#problem = undefined;
  }
}

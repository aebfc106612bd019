/**
 * One line in the log and one count for every request: endpoint, cluster, address, outcome. Never a token, a body or a header.
 *
 * Requests beyond the limit of an address are counted, and have one line in a minute: a flood must not fill the log.
 */
import { type Clock, type Counter, type Logger, type Metrics } from "#base";
import { parseDnsLabel } from "#kube";
import type { BootstrapAnswer } from "./answers.ts";
import { RateLimit } from "./rate-limits.ts";

export type AuditedRequest = {
  readonly endpoint: string;
  /** As the client names it. */
  readonly cluster: string | undefined;
  readonly address: string;
};

const ONE_IN_A_MINUTE = { perSecond: 1 / 60, burst: 1 };

export class BootstrapAudit {
  readonly #logger: Logger;
  readonly #requests: Counter;
  readonly #limitedLines: RateLimit;
  #suppressed = 0;

  constructor({ logger, metrics, clock }: { readonly logger: Logger; readonly metrics: Metrics; readonly clock: Clock }) {
    this.#logger = logger;
    this.#requests = metrics.counter("lattice_bootstrap_requests_total", "Requests to the bootstrap server by endpoint and outcome.");
    this.#limitedLines = new RateLimit(ONE_IN_A_MINUTE, clock);
  }

  record({ endpoint, cluster, address }: AuditedRequest, { outcome, status, reason }: BootstrapAnswer): void {
    this.#requests.add(1, { endpoint, outcome });
    if (outcome === "limited" && this.#limitedLines.take(address) > 0) {
      this.#suppressed += 1;
      return;
    }
    const fields = {
      endpoint,
      address,
      outcome,
      status,
      // other texts are not names of clusters, and have no place in a log
      ...(cluster !== undefined && parseDnsLabel(cluster).ok ? { cluster } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(this.#suppressed === 0 ? {} : { suppressed: this.#suppressed }),
    };
    this.#suppressed = 0;
    if (outcome === "ok") this.#logger.info("bootstrap request", fields);
    else this.#logger.warn("bootstrap request", fields);
  }
}

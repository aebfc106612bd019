/** Limits of the bootstrap server. Each is checked before the work that it bounds. */
import type { Rate } from "#controller-runtime";
import { LISTENER_LIMITS, type ListenerLimits } from "#listener";

export type BootstrapLimits = {
  /** Failed and invalid requests, per address. Beyond it they get 429; valid ones are not affected. */
  readonly failures: Rate;
  /** Authenticated requests, per cluster. */
  readonly requests: Rate;
  /** Reports of failed steps, per cluster. Each is a write. */
  readonly reports: Rate;
  /** Renewals, per address: their signature is checked before the client is known. */
  readonly renewals: Rate;
  /** Requests in progress at a time, after their bodies arrived. */
  readonly concurrent: number;
  readonly csrBytes: number;
  readonly renewalBytes: number;
  readonly reportBytes: number;
  readonly listener: ListenerLimits;
};

const KIB = 1_024;

export const BOOTSTRAP_LIMITS: BootstrapLimits = {
  failures: { perSecond: 1, burst: 50 },
  requests: { perSecond: 1, burst: 20 },
  reports: { perSecond: 0.1, burst: 5 },
  // after weeks without the cell, all agents of a site renew at once, from one address
  renewals: { perSecond: 50, burst: 200 },
  concurrent: 256,
  csrBytes: 16 * KIB,
  renewalBytes: 48 * KIB,
  reportBytes: 8 * KIB,
  listener: {
    ...LISTENER_LIMITS,
    headerBytes: 8 * KIB,
    headersMs: 5_000,
    requestMs: 10_000,
    idleMs: 10_000,
    connections: 1_024,
    streamsPerConnection: 4,
  },
};

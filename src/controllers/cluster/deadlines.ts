/**
 * How long a phase may last. A phase that lasts longer ends in Failed with its own reason, and continues by itself when its cause is gone.
 *
 * The clock of a phase is the last transition of the condition Provisioning: it survives restarts of the operator, and a change of the spec
 * after a failure starts it again.
 */
import type { ClusterReason } from "./reasons.ts";

export type PhaseDeadline = {
  /** Without progress. */
  readonly ms: number;
  /** With progress: a machine that is replaced for ever makes progress for ever. */
  readonly limitMs: number;
  readonly reason: ClusterReason;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const PHASE_DEADLINES = {
  Pending: { ms: HOUR_MS, limitMs: HOUR_MS, reason: "PendingTimedOut" },
  /** Clouds take up to 20 minutes for a load balancer, and a machine up to 10. */
  Provisioning: { ms: 45 * MINUTE_MS, limitMs: 6 * HOUR_MS, reason: "ProvisioningTimedOut" },
  Pivoting: { ms: 30 * MINUTE_MS, limitMs: 6 * HOUR_MS, reason: "PivotTimedOut" },
  /** Unless spec.deletion.timeout is set. */
  Unpivoting: { ms: 2 * HOUR_MS, limitMs: 2 * HOUR_MS, reason: "UnpivotTimedOut" },
} as const satisfies Record<string, PhaseDeadline>;

export type PhaseClock = {
  /** When the phase began, in milliseconds. */
  readonly since: number;
  /** When something last advanced in it; absent: never. */
  readonly progressAt?: number | undefined;
};

/** When the phase ends unless something advances. */
export function deadlineAt({ ms, limitMs }: PhaseDeadline, { since, progressAt = since }: PhaseClock): number {
  return Math.min(Math.max(since, progressAt) + ms, since + limitMs);
}

/** Stale after 90 seconds, and the first retries of an agent come within 30. */
export const LINK_IS_NEW_MS = 90_000;

/**
 * The Lease object as data: who may acquire it, and what to write.
 *
 * The timestamps in it are informative. Clocks of different processes are never compared: a candidate measures, on its own monotonic
 * clock, how long the object has not changed. Clocks that differ by minutes do no harm.
 */
import { field, type Lease, type LeaseSpec } from "#kube";
import { microTime } from "../events/event.ts";

export type LeaseTimes = {
  /** A candidate takes over within this time after the last renewal of a dead leader. */
  readonly leaseDurationMs: number;
  /** How long after its last renewal a leader may still write. The difference to the candidates' wait is for requests under way. */
  readonly renewDeadlineMs: number;
  /** How often a candidate reads. A leader repeats a failed renewal at least as soon. */
  readonly retryMs: number;
};

export const DEFAULT_LEASE_TIMES: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 8_000, retryMs: 1_500 };

/** Of the lease, for a short one. A renewal wakes two processes, of which many may share a machine, so it should not be frequent. */
const SHORT_DEADLINE = 2 / 3;
const LONGEST_SHORT_MS = 10_000;
/** Of the deadline. */
const RENEWAL_PAUSE = 0.6;
const LONGEST_PAUSE_MS = 2_000;

/**
 * The times of a lease of this duration: those of the default in proportion, with two exceptions. A leader with a short lease may write for a
 * larger part of it, so that it need not renew it all the time. A long one is read as often as the default, because it may be released at any
 * time.
 */
export function leaseTimesFor(leaseDurationMs: number): LeaseTimes {
  const scaled = (ms: number) => (ms * leaseDurationMs) / DEFAULT_LEASE_TIMES.leaseDurationMs;
  return {
    leaseDurationMs,
    renewDeadlineMs: Math.max(scaled(DEFAULT_LEASE_TIMES.renewDeadlineMs), SHORT_DEADLINE * Math.min(leaseDurationMs, LONGEST_SHORT_MS)),
    retryMs: Math.min(scaled(DEFAULT_LEASE_TIMES.retryMs), DEFAULT_LEASE_TIMES.retryMs),
  };
}

/** Several attempts fit into a deadline: one request that hangs must not lose the lease. */
export function callLimitMs({ renewDeadlineMs }: LeaseTimes): number {
  return renewDeadlineMs / 4;
}

/** How long a leader waits after a renewal: never so long that there is no time for a second attempt after one that hangs until its limit. */
export function renewalPauseMs({ renewDeadlineMs }: LeaseTimes): number {
  return Math.min(RENEWAL_PAUSE * renewDeadlineMs, LONGEST_PAUSE_MS);
}

/** How long it waits after a renewal that failed: shorter with less time left, so that a further attempt fits in. */
export function retryPauseMs({ retryMs }: LeaseTimes, remainingMs: number): number {
  return Math.min(retryMs, Math.max(retryMs / 5, remainingMs / 4));
}

/**
 * How long a candidate waits on a lease that does not change: shorter than the lease by the time it may take to observe the last
 * renewal and to acquire it, so that it leads within the lease duration and not later.
 */
export function patienceMs(leaseDurationMs: number, { retryMs }: LeaseTimes): number {
  return leaseDurationMs - 2 * retryMs;
}

/** A candidate's observation: the lease's version (none: no lease), since when (monotonic), and whether it ever observed another. */
export type Sighting = { readonly version: string | undefined; readonly since: number; readonly first: boolean };

export function sight(previous: Sighting | undefined, lease: Lease | undefined, now: number): Sighting {
  const version = lease?.metadata.resourceVersion;
  if (previous === undefined) return { version, since: now, first: true };
  return previous.version === version ? previous : { version, since: now, first: false };
}

/**
 * When this candidate may acquire it: at once when it is free or already ours, else when it has not changed for as long as both
 * our and its holder's lease durations. A lease that was deleted while it was observed is
 * not free: the last holder may still be writing.
 */
export function mayTakeAt(lease: Lease | undefined, sighting: Sighting, me: string, times: LeaseTimes): number {
  if (lease === undefined) return sighting.first ? sighting.since : sighting.since + patienceMs(times.leaseDurationMs, times);
  const holder = holderOf(lease);
  if (holder === "" || holder === me) return sighting.since;
  const promised = field(lease.spec, "leaseDurationSeconds");
  const duration = Math.max(times.leaseDurationMs, typeof promised === "number" ? promised * 1_000 : 0);
  return sighting.since + patienceMs(duration, times);
}

export function holderOf(lease: Lease): string {
  const holder = field(lease.spec, "holderIdentity");
  return typeof holder === "string" ? holder : "";
}

/** `count` is added to the microseconds: two renewals in one millisecond must be two different objects. */
export function heldSpec(
  previous: Lease | undefined,
  claim: { me: string; now: number; count: number; leaseDurationMs: number },
): LeaseSpec {
  const renewTime = microTime(claim.now, claim.count);
  const mine = previous !== undefined && holderOf(previous) === claim.me;
  const transitions = previous?.spec?.leaseTransitions ?? 0;
  return {
    holderIdentity: claim.me,
    leaseDurationSeconds: Math.max(1, Math.ceil(claim.leaseDurationMs / 1_000)),
    acquireTime: mine ? (previous.spec?.acquireTime ?? renewTime) : renewTime,
    renewTime,
    leaseTransitions: mine || previous === undefined ? transitions : transitions + 1,
  };
}

/** Released: other candidates need not wait. */
export function freedSpec(held: Lease, now: number): LeaseSpec {
  return { ...held.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(now) };
}

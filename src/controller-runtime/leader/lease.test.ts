import fc from "fast-check";
import { expect, test } from "vitest";
import type { Lease, LeaseSpec } from "#kube";
import {
  callLimitMs,
  DEFAULT_LEASE_TIMES,
  freedSpec,
  heldSpec,
  leaseTimesFor,
  mayTakeAt,
  patienceMs,
  renewalPauseMs,
  retryPauseMs,
  sight,
} from "./lease.ts";

const lease = (spec: LeaseSpec | undefined, resourceVersion = "1"): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "l", namespace: "n", resourceVersion },
  ...(spec === undefined ? {} : { spec }),
});
const held = (leaseDurationSeconds?: number) =>
  lease({ holderIdentity: "other", ...(leaseDurationSeconds === undefined ? {} : { leaseDurationSeconds }) });

type Row = {
  readonly name: string;
  readonly lease: Lease | undefined;
  readonly unchangedMs: number;
  readonly first?: boolean;
  readonly want: boolean;
};
const rows: readonly Row[] = [
  { name: "there never was one", lease: undefined, unchangedMs: 0, first: true, want: true },
  { name: "it was deleted less than a lease duration ago: its holder may still write", lease: undefined, unchangedMs: 11_999, want: false },
  { name: "it was deleted long ago", lease: undefined, unchangedMs: 12_000, want: true },
  { name: "it has no holder", lease: lease({ holderIdentity: "" }), unchangedMs: 0, want: true },
  { name: "it has no spec", lease: lease(undefined), unchangedMs: 0, want: true },
  { name: "it is ours", lease: lease({ holderIdentity: "me" }), unchangedMs: 0, want: true },
  { name: "another holder renewed it within the lease duration", lease: held(), unchangedMs: 11_999, want: false },
  { name: "another holder has not renewed it for the lease duration", lease: held(), unchangedMs: 12_000, want: true },
  { name: "its holder has a longer lease duration", lease: held(60), unchangedMs: 56_999, want: false },
  { name: "a shorter duration of its holder does not shorten ours", lease: held(1), unchangedMs: 11_999, want: false },
];

test.each(rows)("may be acquired? $name: $want", ({ lease: given, unchangedMs, first = false, want }) => {
  const sighting = { version: given?.metadata.resourceVersion, since: 1_000, first };
  expect(1_000 + unchangedMs >= mayTakeAt(given, sighting, "me", DEFAULT_LEASE_TIMES)).toBe(want);
});

test("time counts from when the candidate observed the last change, not from the timestamps in the lease", () => {
  const first = sight(undefined, held(), 10);
  expect(first).toEqual({ version: "1", since: 10, first: true });
  expect(sight(first, held(), 500)).toBe(first);
  const changed = lease({ holderIdentity: "other", renewTime: "1999-01-01T00:00:00.000000Z" }, "2");
  expect(sight(first, changed, 500)).toEqual({ version: "2", since: 500, first: false });
  expect(sight(first, undefined, 500)).toEqual({ version: undefined, since: 500, first: false });
});

test.each([
  { leaseDurationMs: 15_000, want: DEFAULT_LEASE_TIMES },
  { leaseDurationMs: 5_000, want: { leaseDurationMs: 5_000, renewDeadlineMs: 3_333, retryMs: 500 } },
  { leaseDurationMs: 10_000, want: { leaseDurationMs: 10_000, renewDeadlineMs: 6_667, retryMs: 1_000 } },
  { leaseDurationMs: 12_000, want: { leaseDurationMs: 12_000, renewDeadlineMs: 6_667, retryMs: 1_200 } },
  { leaseDurationMs: 60_000, want: { leaseDurationMs: 60_000, renewDeadlineMs: 32_000, retryMs: 1_500 } },
  { leaseDurationMs: 1_000, want: { leaseDurationMs: 1_000, renewDeadlineMs: 667, retryMs: 100 } },
])("the times of a lease of $leaseDurationMs ms follow from its duration", ({ leaseDurationMs, want }) => {
  const times = leaseTimesFor(leaseDurationMs);
  expect({ ...times, renewDeadlineMs: Math.round(times.renewDeadlineMs) }).toEqual(want);
});

test("of every lease a leader stops writing well before a candidate may take it, and has time for a second renewal", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 3_600_000 }), (leaseDurationMs) => {
      const times = leaseTimesFor(leaseDurationMs);
      const patience = patienceMs(leaseDurationMs, times);
      expect(patience - times.renewDeadlineMs).toBeGreaterThanOrEqual(leaseDurationMs / 10);
      // the last renewal is observed up to one retry later, and the candidate reads again when its wait is over
      expect(patience + times.retryMs).toBeLessThanOrEqual(leaseDurationMs);
      // a renewal that hangs for its whole limit is followed by another
      const hung = renewalPauseMs(times) + callLimitMs(times);
      const left = times.renewDeadlineMs - hung;
      expect(hung + retryPauseMs(times, left)).toBeLessThan(0.95 * times.renewDeadlineMs);
    }),
  );
});

test("a renewal keeps the acquire time; a takeover increments the transitions", () => {
  const claim = { me: "me", now: 1_000, count: 3, leaseDurationMs: 15_000 };
  const fresh = heldSpec(undefined, claim);
  expect(fresh).toEqual({
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:01.000003Z",
    renewTime: "1970-01-01T00:00:01.000003Z",
    leaseTransitions: 0,
  });
  const renewed = heldSpec(lease(fresh), { ...claim, count: 4 });
  expect(renewed).toEqual({ ...fresh, renewTime: "1970-01-01T00:00:01.000004Z" });
  expect(heldSpec(lease(fresh), { ...claim, me: "other" })).toMatchObject({ holderIdentity: "other", leaseTransitions: 1 });
  expect(heldSpec(lease({ holderIdentity: "me" }), claim).acquireTime).toBe(fresh.acquireTime);
});

test("a released lease has no holder", () => {
  expect(freedSpec(lease({ holderIdentity: "me", leaseTransitions: 4 }), 0)).toMatchObject({
    holderIdentity: "",
    leaseDurationSeconds: 1,
    leaseTransitions: 4,
  });
});

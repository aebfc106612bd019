import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Deployment, ReplicaSet } from "#kube";
import { maxSurge, maxUnavailable } from "./limits.ts";
import { lastRevision, maxRevision, newSetAnnotations, rolledBackAnnotations } from "./revisions.ts";
import { deadlineWaitMs, rolloutStatus } from "./rollout-status.ts";
import { isScalingEvent, planNewSet, planOldSets, planScaling } from "./scale-plan.ts";

function deployment(replicas: number, more: Partial<Deployment["spec"]> = {}, status?: Deployment["status"]): Deployment {
  const template = { spec: { containers: [] } };
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } };
  const base = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", generation: 1 } };
  return { ...base, spec: { replicas, selector: {}, template, strategy, ...more }, ...(status === undefined ? {} : { status }) };
}

let made = 0;
function set(replicas: number, available = replicas, annotations: Readonly<Record<string, string>> = {}): ReplicaSet {
  made += 1;
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: `web-${made}`, annotations, creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, made)).toISOString() },
    spec: { replicas, selector: {}, template: { spec: { containers: [] } } },
    status: { replicas, availableReplicas: available, readyReplicas: available },
  };
}

const sizes = (steps: readonly { readonly size: number }[]) => steps.map(({ size }) => size);

describe("limits", () => {
  it.each([
    {
      name: "percentages round surge up and unavailability down",
      given: deployment(10, { strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } }),
      want: [3, 2],
    },
    {
      name: "neither is one that may be missing",
      given: deployment(10, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "1%" } } }),
      want: [0, 1],
    },
    {
      name: "no more may be missing than there are",
      given: deployment(2, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 5 } } }),
      want: [0, 2],
    },
    { name: "Recreate knows neither", given: deployment(10, { strategy: { type: "Recreate" } }), want: [0, 0] },
    { name: "nothing of nothing", given: deployment(0), want: [0, 0] },
  ])("$name", ({ given, want }) => expect([maxSurge(given), maxUnavailable(given)]).toEqual(want));
});

describe("a rollout", () => {
  it("scales the new set up by the surge, and down to a smaller Deployment", () => {
    const [old, fresh] = [set(10), set(0)];
    expect(sizes(planNewSet({ deployment: deployment(10), newSet: fresh, oldSets: [old] }))).toEqual([3]);
    expect(sizes(planNewSet({ deployment: deployment(10), newSet: set(12), oldSets: [] }))).toEqual([10]);
    expect(planNewSet({ deployment: deployment(10), newSet: undefined, oldSets: [old] })).toEqual([]);
    expect(planNewSet({ deployment: deployment(10), newSet: set(3), oldSets: [old] })).toEqual([]);
  });

  it("removes Pods that never became ready first, then the others of the oldest set", () => {
    const rollout = { deployment: deployment(10), newSet: set(3, 3), oldSets: [set(4, 2), set(6, 6)] };
    expect(sizes(planOldSets(rollout))).toEqual([2, 0, 5]);
    expect(planOldSets({ ...rollout, oldSets: [] })).toEqual([]);
    expect(planOldSets({ ...rollout, newSet: undefined })).toEqual([]);
    expect(planOldSets({ deployment: deployment(10), newSet: set(3, 0), oldSets: [set(8, 8)] })).toEqual([]);
  });

  it("never plans more than the surge, nor fewer than must be available", () => {
    const size = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(size, size, size, size, fc.nat(5), fc.nat(5), (desired, oldSize, newSize, ready, surge, missing) => {
        const given = deployment(desired, { strategy: { rollingUpdate: { maxSurge: surge, maxUnavailable: missing } } });
        const [old, fresh] = [set(oldSize), set(Math.min(newSize, desired), Math.min(ready, newSize, desired))];
        const rollout = { deployment: given, newSet: fresh, oldSets: [old] };
        const grown = sizes(planNewSet(rollout))[0] ?? fresh.spec.replicas ?? 0;
        expect(grown + oldSize <= Math.max(desired + maxSurge(given), oldSize + (fresh.spec.replicas ?? 0))).toBe(true);
        const left = sizes(planOldSets(rollout)).at(-1) ?? oldSize;
        const available = left + (fresh.status?.availableReplicas ?? 0);
        expect(available >= Math.min(desired - maxUnavailable(given), oldSize + (fresh.status?.availableReplicas ?? 0))).toBe(true);
      }),
    );
  });
});

describe("scaling", () => {
  const desired = (count: number, max: number) => ({
    "deployment.kubernetes.io/desired-replicas": String(count),
    "deployment.kubernetes.io/max-replicas": String(max),
  });

  it("is detected by the desired-replicas annotation of a set", () => {
    expect(isScalingEvent({ deployment: deployment(5), newSet: set(3, 3, desired(3, 4)), oldSets: [] })).toBe(true);
    expect(isScalingEvent({ deployment: deployment(3), newSet: set(3, 3, desired(3, 4)), oldSets: [] })).toBe(false);
    expect(isScalingEvent({ deployment: deployment(3), newSet: set(3), oldSets: [] })).toBe(false);
  });

  it.each([
    { name: "the only set takes it all", rollout: { deployment: deployment(5), newSet: set(3), oldSets: [set(0)] }, want: [5] },
    { name: "nothing to do", rollout: { deployment: deployment(3), newSet: set(3), oldSets: [] }, want: [] },
    {
      name: "without any Pods the newest set takes it",
      rollout: { deployment: deployment(5), newSet: undefined, oldSets: [set(0), set(0)] },
      want: [5],
    },
    { name: "without any set there is nothing", rollout: { deployment: deployment(5), newSet: undefined, oldSets: [] }, want: [] },
    {
      name: "a new set that is complete empties the old ones",
      rollout: { deployment: deployment(3), newSet: set(3, 3, desired(3, 4)), oldSets: [set(2)] },
      want: [0],
    },
    {
      name: "growing is shared, the leftover goes to the largest",
      rollout: { deployment: deployment(20), newSet: set(5, 5, desired(10, 13)), oldSets: [set(8, 8, desired(10, 13))] },
      want: [15, 10],
    },
    {
      name: "shrinking is shared",
      rollout: { deployment: deployment(5), newSet: set(5, 5, desired(10, 13)), oldSets: [set(8, 8, desired(10, 13))] },
      want: [4, 3],
    },
    {
      name: "to nothing",
      rollout: { deployment: deployment(0), newSet: set(5, 5, desired(10, 13)), oldSets: [set(8, 8, desired(10, 13))] },
      want: [0, 0],
    },
    {
      name: "Recreate has no proportions",
      rollout: { deployment: deployment(9, { strategy: { type: "Recreate" } }), newSet: set(1), oldSets: [set(2)] },
      want: [],
    },
    {
      name: "sets that remember no size use the status",
      rollout: { deployment: deployment(20, {}, { replicas: 13 }), newSet: set(5), oldSets: [set(8)] },
      want: [15, 10],
    },
    { name: "and stay as they are without one", rollout: { deployment: deployment(20), newSet: set(5), oldSets: [set(8)] }, want: [20, 5] },
    {
      name: "right already: sizes stay, annotations are brought up to date",
      rollout: { deployment: deployment(10), newSet: set(5), oldSets: [set(8)] },
      want: [8, 5],
    },
  ])("$name", ({ rollout, want }) => expect(sizes(planScaling(rollout))).toEqual(want));

  it("to 2147483647 during a rollout gives no set more than a replicas field can hold", () => {
    const oldSets = [set(99, 99, desired(100, 125))];
    const planned = sizes(planScaling({ deployment: deployment(2_147_483_647), newSet: set(1, 1, desired(100, 125)), oldSets }));
    expect(Math.max(...planned)).toBeLessThanOrEqual(2_147_483_647);
    expect(planned.reduce((sum, size) => sum + size, 0)).toBe(2_147_483_647);
  });
});

describe("annotations", () => {
  it("keep earlier revisions of a set, and drop the oldest when the list is too long", () => {
    const long = Array.from({ length: 700 }, (_, index) => index + 100).join(",");
    const current = { "deployment.kubernetes.io/revision": "3", "deployment.kubernetes.io/revision-history": long };
    const next = newSetAnnotations(deployment(1), current, 5n);
    expect(next["deployment.kubernetes.io/revision"]).toBe("5");
    expect(next["deployment.kubernetes.io/revision-history"]).toMatch(/,3$/);
    expect(next["deployment.kubernetes.io/revision-history"]?.length).toBeLessThanOrEqual(2_000);
  });
  it("of the Deployment are copied, except those about the Deployment itself", () => {
    const given = {
      ...deployment(2),
      metadata: { name: "web", annotations: { note: "x", "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
    };
    expect(newSetAnnotations(given, undefined, 1n)).toEqual({
      note: "x",
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "2",
      "deployment.kubernetes.io/max-replicas": "3",
    });
    expect(newSetAnnotations(given, { "deployment.kubernetes.io/revision": "broken" }, 2n)).toEqual({
      note: "x",
      "deployment.kubernetes.io/revision": "broken",
    });
    expect(rolledBackAnnotations(given, set(1, 1, { note: "old", "deployment.kubernetes.io/revision": "1" }))).toEqual({
      note: "old",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    });
  });
  it("have the revision before the last", () => {
    const at = (revision: string) => set(0, 0, { "deployment.kubernetes.io/revision": revision });
    expect([lastRevision([at("1"), at("4"), at("2"), at("x")]), lastRevision([at("1")])]).toEqual([2n, 0n]);
  });
  it("count in 64 bits, as an adopted ReplicaSet may have any revision", () => {
    const at = (revision: string) => set(0, 0, { "deployment.kubernetes.io/revision": revision });
    expect(maxRevision([at("3"), at("3546343826724305832")]) + 1n).toBe(3546343826724305833n);
    expect(maxRevision([at("9223372036854775807"), at("9223372036854775808"), at("x")])).toBe(9223372036854775807n);
    expect(maxRevision([])).toBe(0n);
  });
});

test("without a deadline there is no Progressing condition and no recheck", () => {
  const rollout = {
    deployment: deployment(1, { progressDeadlineSeconds: 2_147_483_647 }, { conditions: [{ type: "Progressing", status: "True" }] }),
    newSet: undefined,
    oldSets: [set(1)],
  };
  const status = rolloutStatus(rollout, { now: 0, nowText: "1970-01-01T00:00:00Z" });
  expect(status.conditions?.map(({ type }) => type)).toEqual(["Available"]);
  expect(deadlineWaitMs(rollout, status, 0)).toBeUndefined();
});

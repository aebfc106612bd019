/** The arithmetic of PodDisruptionBudgets. */
import { describe, expect, test } from "vitest";
import { err, ok } from "#base";
import type { Pod, PodDisruptionBudget } from "#kube";
import { disruptedOf, expectedOf, failSafeStatus, goSelector, healthyPods, needsScale, statusOf } from "./budget.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1_000).toISOString().replace(".000", "");

function budget(spec: PodDisruptionBudget["spec"], status?: PodDisruptionBudget["status"]): PodDisruptionBudget {
  const metadata = { name: "b", namespace: "default", generation: 3 };
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

function pod(name: string, ready = true, metadata: Partial<Pod["metadata"]> = {}): Pod {
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" } as const];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [] },
    status: { phase: "Running", conditions },
  };
}

describe("the number of Pods that must be healthy", () => {
  test.each([
    { name: "a number is a number", spec: { minAvailable: 2 }, scale: 3, want: { expectedPods: 3, desiredHealthy: 2 } },
    { name: "a share is rounded up", spec: { minAvailable: "50%" }, scale: 5, want: { expectedPods: 5, desiredHealthy: 3 } },
    { name: "what may be down is taken off", spec: { maxUnavailable: 1 }, scale: 3, want: { expectedPods: 3, desiredHealthy: 2 } },
    {
      name: "a share that may be down is rounded up too",
      spec: { maxUnavailable: "50%" },
      scale: 5,
      want: { expectedPods: 5, desiredHealthy: 2 },
    },
    { name: "never less than none", spec: { maxUnavailable: 9 }, scale: 3, want: { expectedPods: 3, desiredHealthy: 0 } },
    {
      name: "shares of the largest scale are counted",
      spec: { maxUnavailable: "50%" },
      scale: 2_147_483_647,
      want: { expectedPods: 2_147_483_647, desiredHealthy: 1_073_741_823 },
    },
    { name: "nothing asked, nothing wanted", spec: {}, scale: 3, want: { expectedPods: 0, desiredHealthy: 0 } },
  ])("$name", ({ spec, scale, want }) => {
    expect(expectedOf(budget(spec), scale)).toEqual(ok(want));
  });

  test("an invalid percentage is rejected with Kubernetes' message", () => {
    const want = err("invalid value for IntOrString: invalid type: string is not a percentage");
    expect([expectedOf(budget({ minAvailable: "half" }), 2), expectedOf(budget({ maxUnavailable: "half" }), 2)]).toEqual([want, want]);
  });

  test("only an absolute minAvailable does not need the scale of controllers", () => {
    expect([{ minAvailable: 1 }, { minAvailable: "1%" }, { maxUnavailable: 1 }].map((spec) => needsScale(budget(spec)))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("healthy Pods", () => {
  const disrupted = { fresh: at(10), stale: at(130), ending: at(10), other: at(10) };
  const given = budget({}, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptedPods: disrupted });
  const pods = [
    pod("fresh"),
    pod("stale"),
    pod("ending", true, { deletionTimestamp: at(1) }),
    pod("calm"),
    pod("sick", false),
    pod("__proto__"),
  ];

  test("Pods with an accepted eviction count as disrupted until their deletion times out", () => {
    const found = disruptedOf(given, pods, NOW);
    expect([found.pods, found.recheckAt, found.stayed.map(({ metadata }) => metadata.name)]).toEqual([
      { fresh: at(10) },
      NOW + 110_000,
      ["stale"],
    ]);
    expect(healthyPods(pods, found.pods, NOW)).toBe(3);
  });
});

describe("the status", () => {
  const expected = { expectedPods: 3, desiredHealthy: 2 };
  const first = statusOf(budget({}), { expected, healthy: 3, disrupted: {} }, "now");

  test("has the allowed disruptions, and the reason", () => {
    expect(first).toEqual({
      observedGeneration: 3,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [
        {
          type: "DisruptionAllowed",
          status: "True",
          reason: "SufficientPods",
          message: "",
          observedGeneration: 3,
          lastTransitionTime: "now",
        },
      ],
    });
    expect(statusOf(budget({}), { expected, healthy: 1, disrupted: { a: "t" } }, "now")).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: "t" },
      conditions: [{ status: "False", reason: "InsufficientPods" }],
    });
  });

  test("allows no disruption when no Pod is selected", () => {
    const none = { expectedPods: 0, desiredHealthy: 0 };
    expect(statusOf(budget({}), { expected: none, healthy: 0, disrupted: {} }, "now")).toMatchObject({ disruptionsAllowed: 0 });
  });

  test("is not written again without a change", () => {
    expect(statusOf(budget({}, first), { expected, healthy: 3, disrupted: {} }, "later")).toBeUndefined();
  });

  test("allows no disruption when the Pods cannot be counted, and reports it once", () => {
    const failed = failSafeStatus(budget({}, first), "no idea", "later");
    expect(failed).toMatchObject({
      disruptionsAllowed: 0,
      currentHealthy: 3,
      conditions: [{ status: "False", reason: "SyncFailed", message: "no idea", observedGeneration: 3, lastTransitionTime: "later" }],
    });
    expect(failSafeStatus(budget({}, failed), "no idea", "even later")).toBeUndefined();
    expect(failSafeStatus(budget({}), "no idea", "now")).toMatchObject({ disruptionsAllowed: 0, expectedPods: 0 });
  });
});

test("a selector is printed like in Go", () => {
  expect(goSelector({ matchLabels: { b: "2", a: "1" }, matchExpressions: [{ key: "k", operator: "In", values: ["x", "y"] }] })).toBe(
    "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
  );
});

import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { err, FakeClock, ok } from "#base";
import type { Pod } from "#kube";
import { inDeletionOrder, inPlainDeletionOrder } from "./deletion-order.ts";
import { Expectations } from "./expectations.ts";
import { scaledValue } from "./int-or-percent.ts";
import { isPodAvailable, nextAvailability, timeOf } from "./pod-state.ts";
import { slowStart } from "./slow-start.ts";
import { WrittenVersions } from "./written-versions.ts";

const NOW = Date.UTC(2026, 0, 1, 1);
const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1_000).toISOString();

type Given = {
  node?: string;
  phase?: NonNullable<Pod["status"]>["phase"];
  readyFor?: number;
  cost?: string;
  restarts?: number;
  sidecarRestarts?: number;
  age?: number;
  uid?: string;
};

function pod(
  name: string,
  { node = "a", phase = "Running", readyFor, cost, restarts = 0, sidecarRestarts = 0, age = 3_600, uid = name }: Given = {},
): Pod {
  const annotations = cost === undefined ? {} : { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } };
  const container = (restartCount: number) => ({ name: "c", ready: true, restartCount, image: "", imageID: "" });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid, creationTimestamp: iso(age), ...annotations },
    spec: {
      containers: [{ name: "c" }],
      initContainers: [{ name: "c", restartPolicy: "Always" }],
      ...(node === "" ? {} : { nodeName: node }),
    },
    status: {
      ...(phase === undefined ? {} : { phase }),
      conditions: readyFor === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: iso(readyFor) }],
      containerStatuses: [container(restarts)],
      initContainerStatuses: [container(sidecarRestarts)],
    },
  };
}

describe("the order in which Pods are deleted", () => {
  it.each<{ name: string; first: Given; second: Given }>([
    { name: "without a node before with one", first: { node: "", readyFor: 10 }, second: { readyFor: 10 } },
    { name: "pending before running", first: { phase: "Pending", readyFor: 10 }, second: { readyFor: 10 } },
    { name: "not ready before ready", first: {}, second: { readyFor: 10 } },
    { name: "cheap before dear", first: { readyFor: 10, cost: "-5" }, second: { readyFor: 10, cost: "3" } },
    { name: "a cost that is no number counts as 0", first: { readyFor: 10, cost: "007" }, second: { readyFor: 10, cost: "1" } },
    { name: "ready for a short time before long", first: { readyFor: 10 }, second: { readyFor: 1_000 } },
    { name: "restarted often before seldom", first: { readyFor: 10, restarts: 3 }, second: { readyFor: 10, restarts: 1 } },
    { name: "sidecars restarted often before seldom", first: { readyFor: 10, sidecarRestarts: 3 }, second: { readyFor: 10 } },
    { name: "young before old", first: { readyFor: 10, age: 20 }, second: { readyFor: 10, age: 9_000 } },
    { name: "about the same age: by uid", first: { readyFor: 10, age: 3_001, uid: "a" }, second: { readyFor: 10, age: 3_000, uid: "b" } },
    { name: "without a birth before all", first: { readyFor: 10, age: NOW / 1_000 }, second: { readyFor: 10, age: 20 } },
  ])("$name", ({ first, second }) => {
    const [a, b] = [pod("first", first), pod("second", second)];
    expect(inDeletionOrder([b, a], [], NOW).map(({ metadata }) => metadata.name)).toEqual(["first", "second"]);
    expect(inDeletionOrder([a, b], [], NOW).map(({ metadata }) => metadata.name)).toEqual(["first", "second"]);
  });

  it("deletes from the node with the most Pods first", () => {
    const [a, b] = [pod("a", { node: "few", readyFor: 9 }), pod("b", { node: "many", readyFor: 9 })];
    const related = [a, b, pod("c", { node: "many" })];
    expect(inDeletionOrder([a, b], related, NOW)[0]).toBe(b);
  });

  it("for Jobs is by exact age, youngest first", () => {
    const pods = [pod("old", { readyFor: 100, age: 101 }), pod("young", { readyFor: 99, age: 100 }), pod("starting", { phase: "Pending" })];
    expect(inPlainDeletionOrder(pods).map(({ metadata }) => metadata.name)).toEqual(["starting", "young", "old"]);
  });
});

describe("availability", () => {
  it("needs minReadySeconds of readiness", () => {
    expect(isPodAvailable(pod("a", { readyFor: 9 }), 10, NOW)).toBe(false);
    expect(isPodAvailable(pod("a", { readyFor: 10 }), 10, NOW)).toBe(true);
    expect(isPodAvailable(pod("a", { readyFor: 0 }), 0, NOW)).toBe(true);
    expect(isPodAvailable(pod("a"), 0, NOW)).toBe(false);
  });
  it("returns when the next one becomes available", () => {
    expect(nextAvailability([pod("a", { readyFor: 4 }), pod("b", { readyFor: 7 }), pod("c")], 10, NOW)).toBe(3_000);
    expect(nextAvailability([pod("a", { readyFor: 40 })], 10, NOW)).toBeUndefined();
    expect(nextAvailability([pod("a", { readyFor: 4 })], 0, NOW)).toBeUndefined();
  });
  it("treats an invalid time as missing", () => {
    expect([timeOf("soon"), timeOf(null), timeOf(undefined)]).toEqual([0, 0, 0]);
  });
});

test("percentages are rounded as requested, and an invalid value is 0", () => {
  const rows = [
    [undefined, 10, "up"],
    [3, 10, "up"],
    ["25%", 3, "up"],
    ["25%", 3, "down"],
    ["100%", 3, "up"],
    ["x", 3, "up"],
  ] as const;
  expect(rows.map(([value, total, round]) => scaledValue(value, total, round))).toEqual([0, 3, 1, 0, 3, 0]);
});

describe("slow start", () => {
  it("doubles, and stops after the failed batch", async () => {
    let calls = 0;
    const result = await slowStart(100, async () => ((calls += 1) === 5 ? err("full") : ok(undefined)));
    expect([calls, result]).toEqual([7, { succeeded: 6, missing: 94, error: "full" }]);
  });
  it("runs the exact number when nothing fails", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(200), async (count) => {
        const seen: number[] = [];
        const result = await slowStart(count, (index) => (seen.push(index), Promise.resolve(ok(undefined))));
        expect([result.succeeded, seen]).toEqual([count, Array.from({ length: count }, (_, index) => index)]);
      }),
    );
  });
});

describe("expectations", () => {
  it("hold until everything was observed, and time out", async () => {
    const clock = new FakeClock();
    const expectations = new Expectations(clock);
    expect(expectations.satisfied("a")).toBe(true);
    expectations.expectCreations("a", 2);
    expectations.expectDeletions("a", ["x"]);
    expectations.created("a");
    expectations.deleted("a", "x");
    expect(expectations.satisfied("a")).toBe(false);
    expectations.created("a");
    expect(expectations.satisfied("a")).toBe(true);
    expectations.expectCreations("a", 1);
    await clock.advance(300_001);
    expect(expectations.satisfied("a")).toBe(true);
    expectations.expectCreations("a", 1);
    expectations.forget("a");
    expect(expectations.satisfied("a")).toBe(true);
    expectations.created("none");
  });
});

test("a copy older than the last write is waited for, one that cannot be compared is not", () => {
  const versions = new WrittenVersions();
  const at = (resourceVersion: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p", uid: "u", resourceVersion } });
  versions.wrote(at("100"));
  expect([versions.isCurrent(at("99")), versions.isCurrent(at("x")), versions.isCurrent(at("99"))]).toEqual([false, true, true]);
  versions.wrote(at("9"));
  expect([versions.isCurrent(at("10")), versions.isCurrent(at("8"))]).toEqual([true, true]);
  versions.wrote(at("y"));
  versions.wrote(at("50"));
  versions.forget("u");
  expect(versions.isCurrent(at("1"))).toBe(true);
});

test("a percentage of a huge number stays within the 32 bits of a replicas field", () => {
  expect(scaledValue("25%", 2_147_483_647, "up")).toBe(536_870_912);
  expect(scaledValue("99999999999%", 2_147_483_647, "up")).toBe(2_147_483_647);
});

test("a slow start never has more than 500 under way", async () => {
  let [now, most] = [0, 0];
  const { succeeded } = await slowStart(2_000, async () => {
    most = Math.max(most, (now += 1));
    await Promise.resolve();
    now -= 1;
    return ok(undefined);
  });
  expect([succeeded, most]).toEqual([2_000, 500]);
});

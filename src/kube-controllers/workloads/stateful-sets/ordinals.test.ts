import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod, StatefulSet } from "#kube";
import { ordinalOf, parentAndOrdinal } from "./identity.ts";
import { slotsOf, sortPods, updateCandidates } from "./ordinals.ts";

const MAX_INT32 = 2_147_483_647;

function set(replicas: number, { start = 0, partition = 0 } = {}): StatefulSet {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas,
      ordinals: { start },
      selector: {},
      template: { spec: { containers: [] } },
      updateStrategy: { rollingUpdate: { partition } },
    },
  };
}

const pod = (ordinal: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `db-${ordinal}`, namespace: "default" },
  spec: { containers: [] },
});
const numbers = (slots: readonly (Pod | number)[]) => slots.map((slot) => (typeof slot === "number" ? `new ${slot}` : ordinalOf(slot)));

describe("the ordinals of a StatefulSet", () => {
  it("of 2147483647 replicas are found without iterating over them", () => {
    const huge = set(MAX_INT32);
    const { present } = sortPods(huge, [pod(3), pod(0), pod(MAX_INT32 - 1)]);
    expect(numbers(slotsOf(huge, present, 3))).toEqual([0, "new 1", "new 2", 3, "new 4", MAX_INT32 - 1]);
    expect(updateCandidates(huge, present).map(ordinalOf)).toEqual([MAX_INT32 - 1]);
    expect(numbers(slotsOf(set(MAX_INT32, { start: MAX_INT32 }), [], 2))).toEqual([`new ${MAX_INT32}`, `new ${MAX_INT32 + 1}`]);
  });

  it("are read from names of ten digits", () => {
    expect(parentAndOrdinal("db-2147483646")).toEqual({ parent: "db", ordinal: 2_147_483_646 });
    expect([parentAndOrdinal("db-"), parentAndOrdinal("db"), parentAndOrdinal("db-x1"), parentAndOrdinal("db-12345678901")]).toEqual(
      Array.from({ length: 4 }, () => ({ parent: "", ordinal: -1 })),
    );
  });

  it("outside the range are deleted, highest first", () => {
    const { present, condemned } = sortPods(set(2, { start: 2 }), [pod(0), pod(2), pod(7), pod(5)]);
    expect([present.map(ordinalOf), condemned.map(ordinalOf)]).toEqual([[2], [7, 5, 0]]);
  });

  it("are the same as by checking each one", () => {
    const small = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(small, small, small, fc.uniqueArray(fc.integer({ min: 0, max: 25 })), (replicas, start, partition, ordinals) => {
        const tried = set(replicas, { start, partition });
        const { present } = sortPods(tried, ordinals.map(pod));
        const all = Array.from({ length: replicas }, (_, at) => start + at);
        expect(numbers(slotsOf(tried, present, 100))).toEqual(all.map((one) => (ordinals.includes(one) ? one : `new ${one}`)));
        const descending = all.filter((one) => one >= start + partition).toReversed();
        const gap = descending.findIndex((one) => !ordinals.includes(one));
        expect(updateCandidates(tried, present).map(ordinalOf)).toEqual(gap < 0 ? descending : descending.slice(0, gap));
      }),
      { seed: 11 },
    );
  });
});

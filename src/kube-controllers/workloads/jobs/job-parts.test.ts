import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Job, JobSpec, Pod } from "#kube";
import { countCommon, countIndexes, firstMissing, formatIndexes, hasIndex, parseIndexes, withIndexes } from "./indexes.ts";
import { backoffAfter, finishedAt, NO_FAILURES, remainingMs } from "./job-backoff.ts";
import { indexedGenerateName, indexedTemplate } from "./job-pods.ts";
import { judge } from "./pod-failure-policy.ts";
import { metSuccessRule } from "./success-policy.ts";

const job = (spec: Partial<JobSpec> = {}): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work" },
  spec: { template: { spec: { containers: [] } }, ...spec },
});

describe("indexes", () => {
  it("are formatted and parsed to the same set", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60)), (list) => {
        const indexes = withIndexes([], list);
        expect(parseIndexes(formatIndexes(indexes), 1_000)).toEqual(indexes);
        expect(countIndexes(indexes)).toBe(list.length);
        for (let index = 0; index < 62; index += 1) expect(hasIndex(indexes, index)).toBe(list.includes(index));
        const missing = firstMissing(indexes, 5, 50);
        const expected = Array.from({ length: 50 }, (_, index) => index).filter((index) => !list.includes(index));
        expect(missing).toEqual(expected.slice(0, 5));
      }),
    );
  });
  it.each([
    { name: "two consecutive indexes have a comma, more a dash", given: [0, 1, 3, 4, 5, 9], want: "0,1,3-5,9" },
    { name: "the empty set is empty text", given: [], want: "" },
  ])("$name", ({ given, want }) => expect(formatIndexes(withIndexes([], given))).toBe(want));
  it("above the completions are dropped, and invalid text is ignored", () => {
    expect(parseIndexes("1,3-9,x,12", 6)).toEqual([
      { first: 1, last: 1 },
      { first: 3, last: 5 },
    ]);
  });
});

function ended(at: number, code = 1, more: Partial<Pod> = {}): Pod {
  const finished = new Date(at).toISOString();
  const terminated = { exitCode: code, finishedAt: finished };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "n", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [{ name: "main" }] },
    status: { containerStatuses: [{ name: "main", state: { terminated }, ready: false, restartCount: 0, image: "", imageID: "" }] },
    ...more,
  };
}

describe("the back-off after failures", () => {
  it("doubles from ten seconds to ten minutes, from the last failure on", () => {
    const after = (failures: number) => remainingMs({ failures, lastFailureAt: 1_000 }, 1_000);
    expect([0, 1, 2, 3, 7, 50].map(after)).toEqual([0, 10_000, 20_000, 40_000, 600_000, 600_000]);
    expect(remainingMs({ failures: 1, lastFailureAt: 0 }, 4_000)).toBe(6_000);
  });
  it("is reset by a success; only failures after it count", () => {
    const once = backoffAfter(NO_FAILURES, [], [ended(5_000), ended(3_000)]);
    expect(once).toEqual({ failures: 2, lastFailureAt: 5_000 });
    expect(backoffAfter(once, [], [])).toBe(once);
    expect(backoffAfter(once, [ended(6_000, 0)], [])).toEqual(NO_FAILURES);
    expect(backoffAfter(once, [ended(6_000, 0)], [ended(5_500), ended(7_000)])).toEqual({ failures: 1, lastFailureAt: 7_000 });
  });
  it("uses the end of a Pod from any of its timestamps", () => {
    const born = Date.parse("2026-01-01T00:00:00Z");
    const quiet = ended(0, 1, { status: {} });
    expect(finishedAt(quiet)).toBe(born);
    expect(
      finishedAt({ ...quiet, status: { conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:09Z" }] } }),
    ).toBe(born + 9_000);
    expect(
      finishedAt({ ...quiet, metadata: { ...quiet.metadata, deletionTimestamp: "2026-01-01T00:00:40Z", deletionGracePeriodSeconds: 30 } }),
    ).toBe(born + 10_000);
  });
});

describe("a failure policy", () => {
  const pod = { ...ended(0, 42), status: { ...ended(0, 42).status, conditions: [{ type: "DisruptionTarget", status: "True" as const }] } };
  const rule = (more: object) => job({ podFailurePolicy: { rules: [more as never] } });
  it.each([
    { name: "without rules counts", given: job(), want: { counts: true, action: undefined } },
    {
      name: "Ignore",
      given: rule({ action: "Ignore", onExitCodes: { operator: "In", values: [42] } }),
      want: { counts: false, action: "Ignore" },
    },
    {
      name: "Count by condition",
      given: rule({ action: "Count", onPodConditions: [{ type: "DisruptionTarget" }] }),
      want: { counts: true, action: "Count" },
    },
    {
      name: "FailIndex",
      given: rule({ action: "FailIndex", onExitCodes: { operator: "NotIn", values: [1] } }),
      want: { counts: true, action: "FailIndex" },
    },
    {
      name: "FailJob by exit code",
      given: rule({ action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42] } }),
      want: {
        counts: true,
        action: "FailJob",
        message: "Container main for pod n/p failed with exit code 42 matching FailJob rule at index 0",
      },
    },
    {
      name: "FailJob by condition",
      given: rule({ action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }),
      want: { counts: true, action: "FailJob", message: "Pod n/p has condition DisruptionTarget matching FailJob rule at index 0" },
    },
    {
      name: "another container",
      given: rule({ action: "Ignore", onExitCodes: { containerName: "other", operator: "In", values: [42] } }),
      want: { counts: true, action: undefined },
    },
    {
      name: "an unknown action",
      given: rule({ action: "Dance", onExitCodes: { operator: "In", values: [42] } }),
      want: { counts: true, action: undefined },
    },
  ])("$name", ({ given, want }) => expect(judge(given, pod)).toEqual(want));
});

describe("a success policy", () => {
  const rules = (...list: object[]) => job({ completions: 10, successPolicy: { rules: list } });
  it.each([
    { name: "nothing has succeeded", given: rules({ succeededCount: 1 }), done: [], want: undefined },
    { name: "by count", given: rules({ succeededCount: 2 }), done: [3, 4], want: "Matched rules at index 0" },
    { name: "by indexes", given: rules({ succeededIndexes: "0-2" }), done: [0, 1, 2], want: "Matched rules at index 0" },
    {
      name: "by some of the indexes",
      given: rules({ succeededCount: 9 }, { succeededIndexes: "0-4", succeededCount: 2 }),
      done: [1, 3],
      want: "Matched rules at index 1",
    },
    { name: "not enough", given: rules({ succeededIndexes: "0-4", succeededCount: 3 }), done: [1, 3], want: undefined },
  ])("$name", ({ given, done, want }) => expect(metSuccessRule(given, withIndexes([], done))).toBe(want));
});

test("an ignored failure is counted separately on the replacement, and long names leave room for the index", () => {
  const given = job({
    backoffLimitPerIndex: 2,
    podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] },
  });
  const made = indexedTemplate(given, { spec: { containers: [] } }, 3, ended(0, 1));
  expect(made.metadata?.annotations).toMatchObject({
    "batch.kubernetes.io/job-index-failure-count": "0",
    "batch.kubernetes.io/job-index-ignored-failure-count": "1",
  });
  expect(indexedGenerateName({ ...given, metadata: { name: "w".repeat(63) } }, 12)).toMatch(/^w+-12-$/);
  expect(indexedGenerateName({ ...given, metadata: { name: "w".repeat(63) } }, 12).length).toBe(58);
});

describe("indexes of Jobs with 2147483647 completions", () => {
  it("have ten digits", () => {
    const indexes = parseIndexes("0-2147483640,2147483646", 2_147_483_647);
    expect(countIndexes(indexes)).toBe(2_147_483_642);
    expect(firstMissing(indexes, 500, 2_147_483_647)).toEqual([2_147_483_641, 2_147_483_642, 2_147_483_643, 2_147_483_644, 2_147_483_645]);
    expect([hasIndex(indexes, 2_147_483_646), hasIndex(indexes, 2_147_483_641)]).toEqual([true, false]);
    expect(countCommon(indexes, parseIndexes("5-2147483646", 2_147_483_647))).toBe(2_147_483_637);
  });

  it("of two sets are counted correctly", () => {
    const index = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(fc.uniqueArray(index), fc.uniqueArray(index), (first, second) => {
        const [a, b] = [withIndexes([], first), withIndexes([], second)];
        expect(countCommon(a, b)).toBe(first.filter((one) => second.includes(one)).length);
        for (let at = 0; at <= 61; at += 1) expect(hasIndex(a, at)).toBe(first.includes(at));
      }),
      { seed: 11 },
    );
  });
});

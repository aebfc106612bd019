import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { inParallel } from "./in-parallel.ts";
import { AppliedMemory } from "./memory.ts";

const wanted = (digest: string): KubeObject => ({
  apiVersion: "v1",
  kind: "A",
  metadata: { name: "a", annotations: { "lattice.dev/applied": digest } },
});
const live = (more: object): KubeObject => ({ apiVersion: "v1", kind: "A", metadata: { name: "a", resourceVersion: "1" }, ...more });

test("the same wanted object on the same live object is remembered; status and managedFields do not count", () => {
  const memory = new AppliedMemory();
  expect(memory.isAsApplied("a", wanted("1"), live({ spec: 1 }))).toBe(false);
  memory.remember("a", wanted("1"), live({ spec: 1 }));
  const later = live({ spec: 1, status: { ready: 3 }, metadata: { name: "a", resourceVersion: "9", generation: 4, managedFields: [{}] } });
  expect(memory.isAsApplied("a", wanted("1"), later)).toBe(true);
  expect(memory.isAsApplied("a", wanted("2"), live({ spec: 1 }))).toBe(false);
  expect(memory.isAsApplied("a", wanted("1"), live({ spec: 2 }))).toBe(false);
  memory.forget("a");
  expect(memory.isAsApplied("a", wanted("1"), later)).toBe(false);
});

test("the oldest entries are removed first", () => {
  const memory = new AppliedMemory(2);
  for (const id of ["a", "b", "a", "c"]) memory.remember(id, wanted("1"), live({}));
  expect(["a", "b", "c"].map((id) => memory.isAsApplied(id, wanted("1"), live({})))).toEqual([true, false, true]);
});

test("work runs in parallel up to the limit, and results keep their order", async () => {
  let under = 0;
  let most = 0;
  const results = await inParallel([5, 1, 4, 2, 3], 2, async (item) => {
    most = Math.max(most, (under += 1));
    for (let i = 0; i < item; i += 1) await Promise.resolve();
    under -= 1;
    return item * 10;
  });
  expect([results, most]).toEqual([[50, 10, 40, 20, 30], 2]);
  expect(await inParallel([], 2, () => Promise.resolve(1))).toEqual([]);
});

test("an object that is watched by metadata only must be unchanged; the value of a Secret counts", () => {
  const memory = new AppliedMemory();
  const secret = (value: string): KubeObject => {
    const object = { ...wanted("1"), kind: "Secret", data: { a: value } };
    return object;
  };
  memory.remember("s", secret("x"), live({}));
  expect(memory.isUntouched("s", secret("x"), live({}))).toBe(true);
  expect(memory.isUntouched("s", secret("y"), live({}))).toBe(false);
  expect(memory.isUntouched("s", secret("x"), live({ metadata: { name: "a", resourceVersion: "2" } }))).toBe(false);
  expect(memory.isUntouched("other", secret("x"), live({}))).toBe(false);
  expect(memory.isAsApplied("s", secret("y"), live({}))).toBe(false);
});

import { expect, test } from "vitest";
import { Tombstones } from "./tombstones.ts";

function buried(count: number): Tombstones {
  const tombstones = new Tombstones();
  for (let at = 0; at < count; at += 1) tombstones.bury(`pod-${at}`, String(at + 1));
  return tombstones;
}

test("a tombstone has the version at which its object was deleted, and other objects have none", () => {
  const tombstones = buried(2);
  expect([tombstones.get("pod-1"), tombstones.get("pod-2")]).toEqual(["2", undefined]);
});

test("the last ten thousand are kept, and much older ones are removed", () => {
  const tombstones = buried(25_000);
  expect(tombstones.get("pod-0")).toBeUndefined();
  const last = Array.from({ length: 10_000 }, (_, at) => tombstones.get(`pod-${15_000 + at}`));
  expect(last.every((version) => version !== undefined)).toBe(true);
});

test("an object that is deleted again has its latest version, also in another generation", () => {
  const tombstones = buried(10_000);
  tombstones.bury("pod-0", "20000");
  expect(tombstones.get("pod-0")).toBe("20000");
});

test("an object that exists again has no tombstone in either generation", () => {
  const tombstones = buried(10_000);
  tombstones.bury("pod-0", "20000");
  tombstones.delete("pod-0");
  expect(tombstones.get("pod-0")).toBeUndefined();
});

test("there are none after everything has been delivered", () => {
  const tombstones = buried(15_000);
  tombstones.clear();
  expect([tombstones.get("pod-1"), tombstones.get("pod-14999")]).toEqual([undefined, undefined]);
});

/** Writes of this controller that are not in the cache yet. */
import { expect, test } from "vitest";
import { FakeClock } from "#base";
import type { EndpointSlice } from "#kube";
import { SliceExpectations } from "./expectations.ts";

const slice = (resourceVersion: string): EndpointSlice => {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s", namespace: "n", resourceVersion },
    addressType: "IPv4",
  };
};
const heard = (after?: EndpointSlice) => ({ key: { namespace: "n", name: "s" }, before: undefined, after });

test("a write is expected until its version, or a newer one, is observed", () => {
  const expectations = new SliceExpectations(new FakeClock());
  expectations.written("n/shop", slice("10"), undefined);
  expect(expectations.behindMs("n/shop")).toBe(30_000);
  expect([expectations.isOurs("n/shop", heard(slice("9"))), expectations.behindMs("n/shop") > 0]).toEqual([true, true]);
  expect([expectations.isOurs("n/shop", heard(slice("10"))), expectations.behindMs("n/shop")]).toEqual([true, 0]);
  expectations.written("n/shop", slice("10"), slice("9"));
  expect([expectations.isOurs("n/shop", heard(slice("11"))), expectations.behindMs("n/shop")]).toEqual([false, 0]);
});

test("a version that was observed before the response is not expected", () => {
  const expectations = new SliceExpectations(new FakeClock());
  expectations.written("n/shop", slice("10"), slice("10"));
  expectations.removed("n/shop", slice("10"), undefined);
  expect(expectations.behindMs("n/shop")).toBe(0);
});

test("a deletion is expected until it is observed", () => {
  const expectations = new SliceExpectations(new FakeClock());
  expectations.removed("n/shop", slice("10"), slice("10"));
  expect(expectations.isOurs("n/shop", heard(slice("11")))).toBe(true);
  expect([expectations.isOurs("n/shop", heard()), expectations.behindMs("n/shop")]).toEqual([true, 0]);
});

test("deletions by other clients and unexpected ones are not counted", () => {
  const expectations = new SliceExpectations(new FakeClock());
  expectations.written("n/shop", slice("10"), undefined);
  expect([expectations.isOurs("n/shop", heard()), expectations.isOurs("n/shop", heard(slice("12")))]).toEqual([false, false]);
  expectations.written("n/shop", slice("13"), undefined);
  expectations.forget("n/shop");
  expect(expectations.behindMs("n/shop")).toBe(0);
});

test("an expectation times out", async () => {
  const clock = new FakeClock();
  const expectations = new SliceExpectations(clock);
  expectations.written("n/shop", slice("10"), undefined);
  await clock.advance(30_000);
  expect(expectations.behindMs("n/shop")).toBe(0);
});

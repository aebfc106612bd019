import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

test("a burst passes at once, then the rate applies", () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, 0);
  const waits = [bucket.waitMs(0)];
  bucket.take(0);
  bucket.take(0);
  waits.push(bucket.waitMs(0), bucket.waitMs(60), bucket.waitMs(100));
  expect(waits).toEqual([0, 100, 40, 0]);
});

test("idle time saves no more tokens than the burst", () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, 0);
  bucket.take(10_000);
  expect(bucket.waitMs(10_000)).toBe(100);
});

test("a rate without tokens is a bug", () => {
  for (const rate of [
    { perSecond: 0, burst: 1 },
    { perSecond: 1, burst: 0 },
    { perSecond: Number.NaN, burst: 1 },
  ]) {
    expect(() => new TokenBucket(rate, 0)).toThrow("a rate needs");
  }
});

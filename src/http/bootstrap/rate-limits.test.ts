import { expect, test } from "vitest";
import { FakeClock } from "#base";
import { clientAddress, RateLimit } from "./rate-limits.ts";

test("a burst, then the rate, for each key alone", async () => {
  const clock = new FakeClock();
  const limit = new RateLimit({ perSecond: 2, burst: 3 }, clock);
  expect([1, 2, 3, 4].map(() => limit.take("a") > 0)).toEqual([false, false, false, true]);
  expect(limit.take("b")).toBe(0);
  await clock.advance(limit.take("a"));
  expect([limit.take("a"), limit.take("a") > 0]).toEqual([0, true]);
});

test("many keys do not fill the memory", () => {
  const limit = new RateLimit({ perSecond: 1, burst: 1 }, new FakeClock());
  for (let key = 0; key < 30_000; key += 1) limit.take(`${key}`);
  expect([limit.take("0"), limit.take("29999") > 0]).toEqual([0, true]);
});

test.each([
  { remote: "192.0.2.7", want: "192.0.2.7" },
  { remote: "::ffff:192.0.2.7", want: "192.0.2.7" },
  { remote: "2001:db8:1:2:3:4:5:6", want: "2001:db8:1:2::/64" },
  { remote: "2001:db8::6", want: "2001:db8:0:0::/64" },
  { remote: "2001:db8:1:2::", want: "2001:db8:1:2::/64" },
  { remote: "::1", want: "0:0:0:0::/64" },
  { remote: "fe80::1%eth0", want: "fe80:0:0:0::/64" },
  { remote: undefined, want: "unknown" },
])("$remote is limited as $want", ({ remote, want }) => {
  expect(clientAddress(remote)).toBe(want);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { milliseconds, parseDuration, seconds } from "./duration.ts";
import { ok } from "./result.ts";

describe("parseDuration", () => {
  it.each([
    { given: "30s", want: 30_000 },
    { given: "1h30m", want: 5_400_000 },
    { given: "250ms", want: 250 },
    { given: "1.5s", want: 1_500 },
    { given: "2us", want: 0.002 },
    { given: "0", want: 0 },
  ])("reads $given", ({ given, want }) => {
    expect(parseDuration(given)).toEqual(ok(milliseconds(want)));
  });

  it.each(["", "5", "m5", "1h 5m", "-1s", "1d", "1..5s", "1s".repeat(60)])("rejects %j with examples of valid durations", (given) => {
    expect(parseDuration(given)).toMatchObject({ ok: false, error: expect.stringContaining('write it as "30s"') as string });
  });

  it("never throws, and takes linear time on hostile text", () => {
    fc.assert(fc.property(fc.string({ maxLength: 5_000 }), (text) => typeof parseDuration(text).ok === "boolean"));
    expect(parseDuration("1".repeat(1_000_000)).ok).toBe(false);
  });

  it("seconds are a thousand milliseconds", () => {
    expect(seconds(2)).toBe(2_000);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffDelay, withJitter } from "./backoff.ts";
import { seededRandom } from "./random.ts";

const policy = { initialMs: 100, maxMs: 5_000, factor: 2 };

describe("backoffDelay", () => {
  it.each([
    { name: "the first failure waits at most the initial delay", failures: 1, random: 1, want: 100 },
    { name: "and never less than half of it", failures: 1, random: 0, want: 50 },
    { name: "each failure doubles", failures: 3, random: 1, want: 400 },
    { name: "up to the limit", failures: 1_000, random: 1, want: 5_000 },
    { name: "no failure counts as one", failures: 0, random: 1, want: 100 },
  ])("$name", ({ failures, random, want }) => {
    expect(backoffDelay(policy, failures, () => random)).toBe(want);
  });

  it("stays between half the first delay and the limit", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const delay = backoffDelay(policy, failures, () => random);
        return delay >= 50 && delay <= 5_000;
      }),
    );
  });
});

describe("withJitter", () => {
  it("varies the period by at most 10 % in both directions", () => {
    expect(withJitter(1_000, () => 0)).toBe(900);
    expect(withJitter(1_000, () => 1)).toBe(1_100);
  });
});

describe("seededRandom", () => {
  it("gives the same numbers for the same seed, in [0, 1)", () => {
    const draw = (seed: number) => Array.from({ length: 100 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7).every((n) => n >= 0 && n < 1)).toBe(true);
  });
});

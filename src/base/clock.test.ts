import { describe, expect, it } from "vitest";
import { millisecondsOf, sleep, systemClock, timestamp } from "./clock.ts";
import { FakeClock } from "./fake-clock.ts";

describe("sleep", () => {
  it("resolves true when the time has passed", async () => {
    const clock = new FakeClock();
    const waiting = sleep(clock, 1_000, new AbortController().signal);
    await clock.advance(1_000);
    expect(await waiting).toBe(true);
  });

  it("resolves false at once when the signal is aborted, and leaves no timer", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const waiting = sleep(clock, 60_000, stop.signal);
    stop.abort();
    expect(await waiting).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("sets no timer when the signal is already aborted", async () => {
    const clock = new FakeClock();
    expect(await sleep(clock, 1, AbortSignal.abort())).toBe(false);
    expect(clock.pending).toBe(0);
  });
});

describe("FakeClock", () => {
  it("fires timers in the order of their due time, then of their creation", async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push("late"));
    clock.after(10, () => fired.push("first"));
    clock.after(10, () => fired.push("second"));
    clock.after(5, () => fired.push("never"))();
    await clock.advance(20);
    expect(fired).toEqual(["first", "second", "late"]);
    expect(clock.monotonic()).toBe(20);
  });

  it("fires timers that another timer sets within the same advance", async () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    clock.after(10, () => clock.after(10, () => fired.push(clock.monotonic())));
    await clock.advance(30);
    expect(fired).toEqual([20]);
  });
});

describe("systemClock", () => {
  it("does not call back at once when the delay exceeds the limit of setTimeout", async () => {
    let calls = 0;
    const cancel = systemClock.after(2 ** 40, () => (calls += 1));
    await new Promise<void>((resolve) => systemClock.after(10, resolve));
    cancel();
    expect(calls).toBe(0);
  });

  it("returns the time, never decreases, and cancels timers", async () => {
    const before = systemClock.monotonic();
    expect(systemClock.now()).toBeGreaterThan(Date.UTC(2026, 0, 1));
    systemClock.after(60_000, () => {})();
    await new Promise<void>((resolve) => systemClock.after(1, resolve));
    expect(systemClock.monotonic()).toBeGreaterThan(before);
  });

  it("formats timestamps as Kubernetes does, without fractions", () => {
    expect(timestamp(new FakeClock(Date.UTC(2026, 10, 15, 1, 2, 3, 456)))).toBe("2026-11-15T01:02:03Z");
    expect(millisecondsOf("2026-11-15T01:02:03Z")).toBe(Date.UTC(2026, 10, 15, 1, 2, 3));
  });
});

import { describe, expect, it } from "vitest";
import { FakeClock } from "#base";
import { ReadinessProbe } from "./readiness.ts";

describe("the readiness of an operator", () => {
  it("is asked often until it is ready, and then seldom", async () => {
    const clock = new FakeClock();
    const changes: boolean[] = [];
    let [ready, asked] = [false, 0];
    const probe = () => {
      asked += 1;
      return Promise.resolve(ready);
    };
    const readiness = new ReadinessProbe({ health: "http://127.0.0.1:1", clock, onChange: (now) => changes.push(now), probe });
    await clock.advance(1_000);
    expect(asked).toBe(5);
    ready = true;
    await clock.advance(10_000);
    expect([changes, asked < 10, readiness.ready]).toEqual([[true], true, true]);
    ready = false;
    await clock.advance(5_000);
    expect(changes).toEqual([true, false]);
    readiness.close();
    expect(clock.pending).toBe(0);
  });

  it("of an address where nothing listens is false", async () => {
    const clock = new FakeClock();
    const readiness = new ReadinessProbe({ health: "http://127.0.0.1:1", clock, onChange() {} });
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(readiness.ready).toBe(false);
    readiness.close();
  });
});

import { describe, expect, it } from "vitest";
import { FakeClock } from "#base";
import { atMost, eachInTurns, PacedHandshakes } from "./event-loop-turns.ts";

describe("PacedHandshakes", () => {
  function paced(perTurn: number, fresh: number) {
    const clock = new FakeClock();
    const started: number[] = [];
    const turns: (() => void)[] = [];
    const pace = { perTurn, fresh, freshMs: 250 };
    const handshakes = new PacedHandshakes<number>(
      (item) => started.push(item),
      pace,
      clock,
      (run) => turns.push(run),
    );
    return { clock, started, handshakes, turns, turn: () => turns.splice(0).forEach((run) => run()) };
  }

  it("starts the first at once, and the others in later turns, in their order", () => {
    const { started, handshakes, turn } = paced(2, 100);
    for (const item of [1, 2, 3, 4, 5]) handshakes.add(item);
    expect(started).toEqual([1, 2]);
    turn();
    handshakes.add(6);
    expect(started).toEqual([1, 2, 3, 4]);
    turn();
    expect(started).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("one that comes after the others were started does not wait, and no turn is asked for without one", () => {
    const { started, handshakes, turn, turns } = paced(2, 100);
    handshakes.add(1);
    turn();
    expect(turns).toEqual([]);
    handshakes.add(2);
    handshakes.add(3);
    expect(started).toEqual([1, 2, 3]);
    turn();
    turn();
    expect(turns).toEqual([]);
  });

  it("has few in progress, and starts the next when one ends", () => {
    const { started, handshakes, turn } = paced(10, 2);
    for (const item of [1, 2, 3, 4]) handshakes.add(item);
    turn();
    expect(started).toEqual([1, 2]);
    handshakes.ended(1);
    handshakes.ended(1); // counts once
    expect(started).toEqual([1, 2, 3]);
  });

  it("clients that do not answer keep others from their start for a short time only", async () => {
    const { clock, started, handshakes, turn } = paced(10, 2);
    for (const item of [1, 2, 3, 4, 5]) handshakes.add(item);
    turn();
    handshakes.ended(3); // was closed while it waited
    await clock.advance(250);
    turn();
    expect(started).toEqual([1, 2, 4, 5]);
    expect(clock.pending).toBe(2);
    for (const item of started) handshakes.ended(item);
    expect(clock.pending).toBe(0);
  });
});

describe("eachInTurns", () => {
  it("runs all, and gives other work a turn when the time of one is over", async () => {
    let now = 0;
    const clock = { monotonic: () => now };
    const done: (number | "other")[] = [];
    const all = eachInTurns([1, 2, 3, 4, 5], { clock, ms: 20 }, (item) => {
      now += 10;
      done.push(item);
    });
    setImmediate(() => done.push("other"));
    expect(done).toEqual([1, 2]);
    await all;
    expect(done.filter((one) => one !== "other")).toEqual([1, 2, 3, 4, 5]);
    expect(done.indexOf("other")).toBeLessThan(done.indexOf(5));
  });
});

describe("atMost", () => {
  it("ends with the work, and leaves no timer", async () => {
    const clock = new FakeClock();
    await atMost(clock, 3_000, Promise.resolve());
    expect(clock.pending).toBe(0);
  });

  it("ends after the time, and the work continues", async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    let end = () => {};
    const work = new Promise<void>((resolve) => (end = resolve)).then(() => void seen.push("work"));
    const waited = atMost(clock, 3_000, work).then(() => void seen.push("waited"));
    await clock.advance(2_999);
    expect(seen).toEqual([]);
    await clock.advance(1);
    await waited;
    end();
    await work;
    expect(seen).toEqual(["waited", "work"]);
  });
});

import { describe, expect, it } from "vitest";
import { eachInTurns, PacedStarts } from "./event-loop-turns.ts";

describe("PacedStarts", () => {
  function paced(perTurn: number) {
    const started: number[] = [];
    const turns: (() => void)[] = [];
    const starts = new PacedStarts<number>((item) => started.push(item), perTurn, (run) => turns.push(run));
    return { started, starts, turns, turn: () => turns.splice(0).forEach((run) => run()) };
  }

  it("starts the first items at once, and the others in later turns, in their order", () => {
    const { started, starts, turn } = paced(2);
    for (const item of [1, 2, 3, 4, 5]) starts.add(item);
    expect(started).toEqual([1, 2]);
    turn();
    starts.add(6);
    expect(started).toEqual([1, 2, 3, 4]);
    turn();
    expect(started).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("an item that comes after the others were started does not wait, and no turn is asked for without items", () => {
    const { started, starts, turn, turns } = paced(2);
    starts.add(1);
    turn();
    expect(turns).toEqual([]);
    starts.add(2);
    starts.add(3);
    expect(started).toEqual([1, 2, 3]);
    turn();
    turn();
    expect(turns).toEqual([]);
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

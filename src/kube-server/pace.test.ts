/** Turns of the event loop between the evaluations of one request, and the limits of a request. */
import { beforeEach, expect, test } from "vitest";
import { Pace, runAtOnce, runPaced, type Paced } from "./pace.ts";

/** Each step advances the clock by so many milliseconds. */
function slowSteps(count: number, stepMs: number) {
  let time = 0;
  const done: number[] = [];
  function* steps(): Paced<string> {
    for (let step = 0; step < count; step++) {
      yield;
      time += stepMs;
      done.push(step);
    }
    return "done";
  }
  return { clock: { monotonic: () => time }, done, steps: steps() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

// a turn that an earlier test has used ends first
beforeEach(async () => {
  await turn();
  await turn();
});

test("fast steps are run at once", () => {
  const { steps, clock } = slowSteps(1_000, 0);
  expect(runPaced(steps, clock)).toBe("done");
});

test("slow steps yield to the event loop after each slice", async () => {
  const { steps, clock, done } = slowSteps(5, 30);
  const running = runPaced(steps, clock);
  expect(running).toBeInstanceOf(Promise);
  expect(done).toEqual([0]);
  expect(await running).toBe("done");
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test("short steps in many turns do not add up to a slice", async () => {
  for (let number = 0; number < 100; number += 1) {
    const { steps, clock } = slowSteps(1, 0.6);
    expect(runPaced(steps, clock)).toBe("done");
    await turn();
    await turn();
  }
});

test("waiting requests continue one per turn", async () => {
  const both = [slowSteps(2, 30), slowSteps(2, 30)] as const;
  const running = both.map(async ({ steps, clock }) => runPaced(steps, clock));
  expect(both.map(({ done }) => done.length)).toEqual([1, 0]);
  await turn();
  expect(both[0].done.length + both[1].done.length).toBeLessThanOrEqual(2);
  expect(await Promise.all(running)).toEqual(["done", "done"]);
});

test("steps for a large object start in a new turn", async () => {
  const small = { a: [1, 2, { b: "c" }], d: undefined };
  const large = { data: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, "v"])) };
  const nested = { items: Array.from({ length: 1_500 }, (_, at) => ({ a: at, b: at })) };
  const run = (...objects: readonly unknown[]) => {
    const { steps, clock } = slowSteps(1, 0);
    return runPaced(steps, clock, ...objects);
  };
  expect(run(small, undefined)).toBe("done");
  expect(run(small, large)).toBeInstanceOf(Promise);
  expect(await run(nested)).toBe("done");
});

test("callers that cannot wait run everything at once", () => {
  const { steps } = slowSteps(3, 30);
  expect(runAtOnce(steps)).toBe("done");
});

test("the work and the time of a request are limited", () => {
  let time = 0;
  const busy = new Pace({ monotonic: () => time });
  expect(busy.problem).toBeUndefined();
  busy.count(200_000_001);
  expect(busy.problem).toBe("the expressions of this request need more work than one request may do (200000000 steps)");
  const slow = new Pace({ monotonic: () => time });
  time += 10_001;
  expect(slow.problem).toBe("the expressions of this request took longer than 10000 ms");
});

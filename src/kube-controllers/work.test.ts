/** Handling of a key after its pass. */
import { expect, test } from "vitest";
import { createLogger, err, FakeClock, MetricsRegistry, ok, seededRandom } from "#base";
import { again, done, failed, passOf, retry, Workers, worstPass, type Pass } from "./work.ts";

function setUp(script: readonly (Pass | "throw")[], concurrency?: number) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const lines: string[] = [];
  const at: number[] = [];
  let passes = 0;
  const logger = createLogger((level, message, fields) => void lines.push(`${level} ${message} ${String(fields["error"])}`));
  const workers = new Workers(
    {
      name: "test",
      ...(concurrency === undefined ? {} : { concurrency }),
      pass: () => {
        const next = script[at.length] ?? done;
        at.push(clock.monotonic());
        if (next === "throw") throw new Error("oh");
        return Promise.resolve(next);
      },
    },
    { clock, random: seededRandom(1), metrics: new MetricsRegistry(), logger, signal: stop.signal, onPass: () => (passes += 1) },
  );
  const ended = workers.run();
  return { clock, stop, lines, at, workers, ended, passes: () => passes };
}

test("`done` is not run again, and `again` runs after its delay", async () => {
  const { clock, stop, at, workers, ended, passes } = setUp([again(1_000), done]);
  workers.queue.add("a");
  expect(workers.busy).toBe(true);
  await clock.advance(5_000);
  expect([at, passes(), workers.busy]).toEqual([[0, 1_000], 2, false]);
  stop.abort();
  await ended;
  expect(clock.pending).toBe(0);
});

test("conflicts are retried at once a few times, and then with backoff", async () => {
  const { clock, at, workers, lines } = setUp(Array.from({ length: 7 }, () => ({ kind: "conflict" })));
  workers.queue.add("a");
  await clock.advance(0);
  expect(at).toEqual([0, 0, 0, 0, 0, 0]);
  await clock.advance(60_000);
  expect([at.length, lines]).toEqual([8, []]);
});

test("failures are retried with a growing delay, are logged, and never end a worker", async () => {
  const { clock, at, workers, lines } = setUp(["throw", failed("no"), retry, retry, done]);
  workers.queue.add("a");
  await clock.advance(60_000);
  expect(at).toHaveLength(5);
  expect(lines).toEqual(["error controller met a bug oh", "warn pass failed a bug in the controller", "warn pass failed no"]);
});

test("the same failure is logged as a warning once, until a pass succeeds", async () => {
  const { clock, workers, lines } = setUp([failed("no"), failed("no"), retry, failed("no"), failed("other"), done]);
  workers.queue.add("a");
  await clock.advance(60_000);
  expect(lines).toEqual(["warn pass failed no", "debug pass failed no", "debug pass failed no", "warn pass failed other"]);
});

test("a response becomes a pass result, and the first that is not done counts", () => {
  expect(passOf(ok(1))).toEqual(done);
  expect(passOf(err({ kind: "conflict", message: "late" }))).toEqual({ kind: "conflict" });
  expect(passOf(err({ kind: "forbidden", message: "no" }))).toEqual(failed("no"));
  expect(worstPass([done, again(1), failed("x"), retry])).toEqual(failed("x"));
  expect(worstPass([])).toEqual(done);
});

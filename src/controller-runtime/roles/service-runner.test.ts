import { expect, test } from "vitest";
import { createLogger, FakeClock, MetricsRegistry, ok, type LogFields } from "#base";
import { RecordedService, type RecordedServiceOptions } from "../../../test/builders/recorded-service.ts";
import type { BoundLeaderService } from "./leader-service.ts";
import { ServiceRunner, type ServiceTerm } from "./service-runner.ts";

const CANCEL_MS = 5_000;
// the runner passes it on and never uses it
const term = {} as ServiceTerm;

function setUp(options: RecordedServiceOptions = {}, replaced?: Partial<BoundLeaderService>) {
  const clock = new FakeClock();
  const lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  const logger = createLogger((level, message, fields) => void lines.push({ level, message, fields }));
  const recorded = new RecordedService("listener", options);
  const metrics = new MetricsRegistry();
  const service = { ...recorded.service, ...replaced };
  const runner = new ServiceRunner({ service, clock, random: () => 1, logger, metrics, cancelMs: CANCEL_MS });
  const start = () => {
    const stop = new AbortController();
    let over = false;
    const ended = runner.run(term, stop.signal).then(() => (over = true));
    return { stop: () => stop.abort(), ended, over: () => over };
  };
  const warnings = () => lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["error"]);
  return { clock, lines, recorded, runner, start, warnings, metrics };
}

test("a service starts with the term, gets a signal and a close at its end, and the term ends after it", async () => {
  const { clock, recorded, runner, start, metrics } = setUp({ closeMs: 1_000 });
  expect(runner.describe()).toBe("stopped");
  const run = start();
  await clock.advance(0);
  const [instance] = recorded.instances;
  expect([runner.describe(), recorded.existing, instance?.context.signal.aborted]).toEqual(["running", 1, false]);
  expect(metrics.render()).toContain('lattice_service_running{service="listener"} 1');
  run.stop();
  await clock.advance(999);
  expect([runner.describe(), instance?.context.signal.aborted, run.over()]).toEqual(["stopping", true, false]);
  await clock.advance(1);
  expect([runner.describe(), recorded.existing, instance?.closes(), run.over()]).toEqual(["stopped", 0, 1, true]);
  expect([clock.pending, runner.alive()]).toEqual([0, true]);
});

test("a service is not started when its term ends in the same instant", async () => {
  const { clock, recorded, runner, start } = setUp();
  const run = start();
  run.stop();
  await clock.advance(0);
  expect([recorded.instances.length, run.over(), runner.describe(), clock.pending]).toEqual([0, true, "stopped", 0]);
});

test("a service that cannot start is tried again with growing waits, is logged once per cause, and says why in health", async () => {
  let cause: string | undefined = "port 1 is taken";
  const { clock, recorded, runner, start, warnings, lines } = setUp({ failsWith: () => cause });
  const run = start();
  await clock.advance(100_000);
  expect(recorded.instances.length).toBe(9); // after 0, 0.5, 1, 2, 4, 8, 16, 30 and 30 s
  expect([runner.describe(), warnings()]).toEqual(["failed, 9 failures: port 1 is taken", ["port 1 is taken"]]);
  cause = "port 2 is taken";
  await clock.advance(30_000);
  expect(warnings()).toEqual(["port 1 is taken", "port 2 is taken"]);
  cause = undefined;
  await clock.advance(30_000);
  expect(runner.describe()).toBe("running, 10 failures: port 2 is taken");
  await clock.advance(60_000);
  expect([runner.describe(), lines.at(-1)?.message]).toEqual(["running", "service runs again"]);
  run.stop();
  await clock.advance(0);
  expect([recorded.existing, run.over(), clock.pending]).toEqual([0, true, 0]);
});

test("a service that ends early is closed and started again", async () => {
  const { clock, recorded, runner, start, warnings } = setUp();
  const run = start();
  await clock.advance(10);
  const [first] = recorded.instances;
  first?.fail("the peer closed the connection");
  await clock.advance(0);
  expect([runner.describe(), recorded.existing, first?.closes()]).toEqual(["failed, 1 failures: the peer closed the connection", 0, 1]);
  expect(first?.context.signal.aborted).toBe(true);
  await clock.advance(500);
  expect([recorded.instances.length, recorded.existing]).toEqual([2, 1]);
  expect(warnings()).toEqual(["the peer closed the connection"]);
  run.stop();
  await clock.advance(0);
  expect([recorded.existing, run.over(), clock.pending]).toEqual([0, true, 0]);
});

test("a secret in the cause of a failure is not logged", async () => {
  const { clock, runner, start, warnings } = setUp({ failsWith: () => "Bearer abcdefghijklmnop was refused" });
  const run = start();
  await clock.advance(0);
  expect([runner.describe(), ...warnings()].join()).not.toContain("abcdefghijklmnop");
  run.stop();
  await clock.advance(0);
  await run.ended;
});

test.each([
  {
    name: "throws in start",
    replaced: {
      start: () => {
        throw new Error("start is broken");
      },
    },
    want: "start is broken",
  },
  { name: "rejects in start", replaced: { start: () => Promise.reject(new Error("start is broken")) }, want: "start is broken" },
  {
    name: "rejects its end",
    replaced: {
      start: () => Promise.resolve(ok({ ended: Promise.reject(new Error("the end is broken")), close: () => Promise.resolve() })),
    },
    want: "the end is broken",
  },
  {
    name: "throws in close",
    replaced: {
      start: () =>
        Promise.resolve(ok({ ended: Promise.resolve(ok(undefined)), close: () => Promise.reject(new Error("close is broken")) })),
    },
    want: "close is broken",
  },
  {
    name: "ends without a reason",
    replaced: { start: () => Promise.resolve(ok({ ended: Promise.resolve(ok(undefined)), close: () => Promise.resolve() })) },
    want: "it ended by itself",
  },
])("a service that $name is retried like any other failure", async ({ replaced, want }) => {
  const { clock, runner, start, warnings } = setUp({}, replaced);
  const run = start();
  await clock.advance(600);
  expect([runner.describe(), warnings()]).toEqual([`failed, 2 failures: ${want}`, [want]]);
  run.stop();
  await clock.advance(0);
  expect([run.over(), clock.pending]).toEqual([true, 0]);
});

test("a term that ends while a service starts waits for the start, and closes what was started", async () => {
  const { clock, recorded, start } = setUp({ startMs: 2_000, ignoresSignal: true });
  const run = start();
  await clock.advance(1_000);
  run.stop();
  await clock.advance(500);
  expect([recorded.existing, run.over()]).toEqual([1, false]);
  await clock.advance(500);
  expect([recorded.existing, recorded.instances[0]?.closes(), run.over(), clock.pending]).toEqual([0, 1, true, 0]);
});

test("a start that takes too long is cancelled and retried", async () => {
  const { clock, recorded, runner, start, warnings } = setUp({ startMs: 1e9 });
  const run = start();
  await clock.advance(60_000);
  expect(warnings()).toEqual(["it did not start within 60 s: stopped while it started"]);
  await clock.advance(1_000);
  expect([recorded.instances.length, recorded.existing, runner.describe()]).toEqual([
    2,
    1,
    "starting, 1 failures: it did not start within 60 s: stopped while it started",
  ]);
  run.stop();
  await clock.advance(0);
  expect([run.over(), clock.pending]).toEqual([true, 0]);
});

test("an instance that does not end is left behind after the time limit; there is no second one, and the process is not live", async () => {
  const { clock, recorded, runner, start, lines } = setUp({ closeMs: 60_000 });
  const first = start();
  await clock.advance(0);
  first.stop();
  await clock.advance(CANCEL_MS);
  expect([first.over(), recorded.existing, runner.alive(), runner.describe()]).toEqual([true, 1, false, "left behind"]);
  expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
  // the next term begins, and another one after it
  const second = start();
  await clock.advance(10_000);
  expect([recorded.instances.length, runner.alive()]).toEqual([1, false]);
  second.stop();
  await clock.advance(0);
  expect(second.over()).toBe(true);
  const third = start();
  await clock.advance(60_000);
  expect([recorded.instances.length, recorded.existing, runner.alive(), runner.describe()]).toEqual([2, 1, true, "running"]);
  third.stop();
  await clock.advance(60_000);
  expect([recorded.existing, runner.alive(), runner.describe(), clock.pending]).toEqual([0, true, "stopped", 0]);
});

test("an instance that ended early and cannot be closed is left behind, until it has ended", async () => {
  const { clock, recorded, runner, start } = setUp({ closeMs: 20_000 });
  const run = start();
  await clock.advance(0);
  recorded.instances[0]?.fail("broken");
  await clock.advance(CANCEL_MS);
  expect([runner.alive(), recorded.instances.length]).toEqual([false, 1]);
  await clock.advance(20_000);
  expect([runner.alive(), recorded.instances.length, recorded.existing]).toEqual([true, 2, 1]);
  run.stop();
  await clock.advance(20_000);
  expect([run.over(), recorded.existing, clock.pending]).toEqual([true, 0, 0]);
});

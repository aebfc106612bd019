import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock, MetricsRegistry } from "#base";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

const never = new AbortController().signal;

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const queue = new WorkQueue({ name: "test", clock, random: () => 1, metrics, ...options });
  /** Keys in the order in which they are taken from here on; each is done at once. */
  const handedOut: string[] = [];
  const drain = async () => {
    for (let key = await queue.take(never); key !== undefined; key = await queue.take(never)) {
      handedOut.push(key);
      queue.done(key);
    }
  };
  return { clock, metrics, queue, handedOut, drain };
}

test("keys are returned in the order of adding, each once", async () => {
  const { queue } = setUp();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  expect(queue.depth).toBe(3);
  expect([await queue.take(never), await queue.take(never), await queue.take(never), queue.depth]).toEqual(["a", "b", "c", 0]);
});

test("a key in work is not returned again until it is done, and is then last in the queue", async () => {
  const { queue, clock } = setUp();
  queue.add("a");
  await queue.take(never);
  queue.add("a");
  queue.add("b");
  expect(await queue.take(never)).toBe("b");
  let second: string | undefined;
  void queue.take(never).then((key) => (second = key));
  await clock.advance(1_000);
  expect([second, queue.depth]).toEqual([undefined, 1]);
  queue.done("a");
  await clock.advance(0);
  expect(second).toBe("a");
});

test("takers get keys in the order of their calls", async () => {
  const { queue } = setUp();
  const both = Promise.all([queue.take(never), queue.take(never)]);
  queue.add("a");
  queue.add("b");
  expect(await both).toEqual(["a", "b"]);
});

test("delayed keys are returned when they are due, with one timer for all of them", async () => {
  const { queue, clock, handedOut, drain } = setUp();
  void drain();
  for (let at = 100; at > 0; at -= 1) queue.addAfter(`k${at}`, at * 1_000);
  expect(clock.pending).toBe(1);
  await clock.advance(3_000);
  expect(handedOut).toEqual(["k1", "k2", "k3"]);
  expect(clock.pending).toBe(1);
  queue.close();
  expect(clock.pending).toBe(0);
});

for (const { name, given, want } of [
  { name: "an earlier delay replaces a later one", given: [5_000, 2_000], want: 2_000 },
  { name: "a later delay does not replace an earlier one", given: [2_000, 5_000], want: 2_000 },
  { name: "adding now replaces a delay", given: [5_000, 0], want: 0 },
  { name: "a delay after adding now changes nothing", given: [0, 5_000], want: 0 },
]) {
  test(name, async () => {
    const { queue, clock } = setUp();
    const seen: number[] = [];
    for (const ms of given) queue.addAfter("a", ms);
    void (async () => {
      for (let key = await queue.take(never); key !== undefined; key = await queue.take(never)) {
        seen.push(clock.monotonic());
        queue.done(key);
      }
    })();
    await clock.advance(10_000);
    expect(seen).toEqual([want]);
    expect(clock.pending).toBe(0);
  });
}

test("a key that falls due while in work waits for `done`", async () => {
  const { queue, clock } = setUp();
  queue.add("a");
  await queue.take(never);
  queue.addAfter("a", 10);
  await clock.advance(100);
  expect(queue.depth).toBe(1);
  queue.done("a");
  expect(await queue.take(never)).toBe("a");
});

test("retries are delayed longer and longer, up to the limit, until `forget`", () => {
  const { queue } = setUp({ backoff: { initialMs: 5_000, maxMs: 15_000, factor: 2 } });
  expect([queue.retry("a"), queue.retry("a"), queue.retry("a")]).toEqual([5_000, 10_000, 15_000]);
  queue.forget("a");
  expect([queue.retry("a"), queue.retry("b")]).toEqual([5_000, 5_000]);
  expect(setUp().queue.retry("a")).toBe(5_000);
});

test("after a burst the rate limits how fast keys are returned", async () => {
  const { queue, clock, handedOut, drain } = setUp({ rate: { perSecond: 10, burst: 2 } });
  for (let at = 0; at < 5; at += 1) queue.add(`k${at}`);
  void drain();
  const counts: number[] = [];
  for (const ms of [0, 99, 1, 100, 1_000]) {
    await clock.advance(ms);
    counts.push(handedOut.length);
  }
  expect(counts).toEqual([2, 2, 3, 4, 5]);
  expect(clock.pending).toBe(0);
});

test("an aborted taker leaves its key to the next, and no timer", async () => {
  const { queue, clock } = setUp({ rate: { perSecond: 1, burst: 1 } });
  const stop = new AbortController();
  queue.add("a");
  await queue.take(never);
  queue.add("b");
  const given = queue.take(stop.signal);
  expect(clock.pending).toBe(1);
  stop.abort();
  expect([await given, await queue.take(stop.signal), queue.depth]).toEqual([undefined, undefined, 1]);
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
  expect(await queue.take(never)).toBe("b");
});

test("after close no key is returned or kept, and `done` is still allowed", async () => {
  const { queue, clock } = setUp();
  queue.add("a");
  await queue.take(never);
  queue.add("a");
  queue.addAfter("b", 1_000);
  const waiting = queue.take(never);
  queue.close();
  queue.add("c");
  queue.addAfter("d", 1);
  expect(queue.retry("e")).toBe(5_000);
  queue.done("a");
  expect([await waiting, await queue.take(never), queue.depth, clock.pending]).toEqual([undefined, undefined, 0, 0]);
});

test("done for a key that is not in work is a bug", () => {
  expect(() => setUp().queue.done("a")).toThrow("a is not in work");
});

test("a delay longer than the limit of setTimeout is split", async () => {
  const { queue, clock, handedOut, drain } = setUp();
  const days = 24 * 3_600_000;
  void drain();
  queue.addAfter("a", 60 * days);
  await clock.advance(60 * days - 1);
  expect(handedOut).toEqual([]);
  await clock.advance(1);
  expect(handedOut).toEqual(["a"]);
});

test("fractions of a millisecond neither stop the queue nor make it loop", async () => {
  const { queue, clock, handedOut, drain } = setUp();
  void drain();
  for (let at = 0; at < 100; at += 1) queue.addAfter(`k${at}`, 1 + at / 7 + 1e-5);
  await clock.advance(0.3);
  queue.addAfter("late", 16.123_456_789);
  await clock.advance(20);
  expect([handedOut.length, clock.pending]).toEqual([101, 0]);
});

test("a long queue is returned completely", async () => {
  const { queue, clock, handedOut, drain } = setUp();
  const keys = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
  for (const key of keys) queue.add(key);
  void drain();
  await clock.advance(0);
  expect(handedOut).toEqual(keys);
});

test("depth, adds, retries and waits are counted", async () => {
  const { queue, clock, metrics } = setUp();
  queue.add("a");
  queue.add("b");
  await clock.advance(2_000);
  await queue.take(never);
  await clock.advance(20_000);
  queue.done("a");
  queue.retry("c");
  const text = metrics.render();
  for (const line of [
    'lattice_workqueue_depth{name="test"} 1',
    'lattice_workqueue_adds_total{name="test"} 2',
    'lattice_workqueue_retries_total{name="test"} 1',
    'lattice_workqueue_queue_duration_seconds_sum{name="test"} 2',
    'lattice_workqueue_work_duration_seconds_sum{name="test"} 20',
  ]) {
    expect(text).toContain(line);
  }
});

type Command =
  | { readonly kind: "add" | "done"; readonly key: string }
  | { readonly kind: "addAfter"; readonly key: string; readonly ms: number }
  | { readonly kind: "take" }
  | { readonly kind: "advance"; readonly ms: number };

const anyKey = fc.constantFrom("a", "b", "c", "d");
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constantFrom("add" as const, "done" as const), key: anyKey }),
  fc.record({ kind: fc.constant("addAfter" as const), key: anyKey, ms: fc.integer({ min: 1, max: 30 }) }),
  fc.constant<Command>({ kind: "take" }),
  fc.record({ kind: fc.constant("advance" as const), ms: fc.nat(20) }),
);

/** A naive model of the queue: three lists, searched from the start each time. */
class Model {
  now = 0;
  #order = 0;
  #ready: string[] = [];
  readonly #again = new Set<string>();
  readonly working = new Set<string>();
  #later: { key: string; due: number; order: number }[] = [];

  add(key: string): void {
    this.#later = this.#later.filter((entry) => entry.key !== key);
    if (this.working.has(key)) this.#again.add(key);
    else if (!this.#ready.includes(key)) this.#ready.push(key);
  }

  addAfter(key: string, ms: number): void {
    const known = this.#later.find((entry) => entry.key === key);
    if (this.#ready.includes(key) || this.#again.has(key) || (known !== undefined && known.due <= this.now + ms)) return;
    this.#later = [...this.#later.filter((entry) => entry.key !== key), { key, due: this.now + ms, order: this.#order++ }];
  }

  take(): string | undefined {
    const key = this.#ready.shift();
    if (key !== undefined) this.working.add(key);
    return key;
  }

  done(key: string): void {
    this.working.delete(key);
    if (this.#again.delete(key)) this.#ready.push(key);
  }

  advance(ms: number): void {
    this.now += ms;
    const due = this.#later.filter((entry) => entry.due <= this.now).toSorted((a, b) => a.due - b.due || a.order - b.order);
    for (const { key } of due) this.add(key);
  }

  get depth(): number {
    return this.#ready.length + this.#again.size;
  }
}

test("for any commands, the queue behaves like a simple model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const { queue, clock } = setUp();
      const model = new Model();
      for (const given of commands) {
        await perform(given, queue, clock, model);
        expect([queue.depth, clock.pending <= 1]).toEqual([model.depth, true]);
      }
      queue.close();
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 200 },
  );
});

async function perform(given: Command, queue: WorkQueue, clock: FakeClock, model: Model): Promise<void> {
  switch (given.kind) {
    case "add":
      queue.add(given.key);
      return model.add(given.key);
    case "addAfter":
      queue.addAfter(given.key, given.ms);
      return model.addAfter(given.key, given.ms);
    case "done":
      if (!model.working.has(given.key)) return;
      queue.done(given.key);
      return model.done(given.key);
    case "advance":
      await clock.advance(given.ms);
      return model.advance(given.ms);
    case "take": {
      const want = model.take();
      if (want !== undefined) expect(await queue.take(never)).toBe(want);
    }
  }
}

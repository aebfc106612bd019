import { expect, test } from "vitest";
import { err, expectOk, ok, sleep, type Clock } from "#base";
import { failWith } from "#embedded-cluster";
import { configMap, configMaps, ControllerWorld, secrets, widget, widgets } from "../../test/builders/controller-world.ts";
import { widgetController } from "../../test/builders/widget-controller.ts";
import { nothing, type ReadRuntime } from "./controller.ts";
import { createManager } from "./manager.ts";

const names = async (world: ControllerWorld) => (await world.objects(configMaps)).map(({ metadata }) => metadata.name);

test("a tracer that throws does not end a worker", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  let spans = 0;
  const manager = world.start([widgetController()], { tracer: { span: () => ((spans += 1), Promise.reject(new Error("tracer"))) } });
  await world.clock.advance(30_000);
  expect(spans).toBeGreaterThan(1);
  expect(manager.health().live).toBe(true);
  expect(world.lines.some(({ message }) => message === "runner met a bug")).toBe(true);
  await world.end();
});

test("passes that wait for nothing leave turns of the event loop to others", async () => {
  await using world = await ControllerWorld.open();
  for (let at = 0; at < 100; at += 1) await world.put(widgets, widget(`w-${at}`));
  let [spentMs, turn, isDone] = [0, 0, false];
  const nextTurn = () => void (isDone || setImmediate(() => ((turn += 1), nextTurn())));
  nextTurn();
  const passes = new Map<number, number>();
  const observe = () => {
    spentMs += 10; // of processor time
    passes.set(turn, (passes.get(turn) ?? 0) + 1);
    return Promise.resolve(ok({ count: 0 }));
  };
  const clock: Clock = {
    now: () => world.clock.now(),
    monotonic: () => world.clock.monotonic() + spentMs,
    after: (ms, run) => world.clock.after(ms, run),
  };
  world.start([widgetController({ observe, plan: () => nothing, writesStatus: false })], { clock });
  await world.clock.advance(100);
  await expect.poll(() => [...passes.values()].reduce((sum, count) => sum + count, 0), { interval: 1 }).toBeGreaterThanOrEqual(100);
  isDone = true;
  expect(Math.max(...passes.values())).toBeLessThanOrEqual(10);
  await world.end();
});

test("a pass that failed marks its span", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  const marks: unknown[] = [];
  const span = { set: (fields: object) => void marks.push(fields), fail: (message: string) => void marks.push(message) };
  world.start([widgetController({ observe: () => Promise.resolve(err({ kind: "unavailable", message: "blind" })) })], {
    tracer: { span: (_name, _fields, work) => work(span) },
  });
  await world.clock.advance(100);
  expect(marks).toEqual([{ result: "failed" }, "blind"]);
  await world.end();
});

test("on a stop, passes under way get time to finish, are then cancelled, and are then abandoned", async () => {
  const rows = [
    { work: (runtime: ReadRuntime) => sleep(runtime.clock, 2_000, new AbortController().signal), status: "True", leftBehind: false },
    { work: (runtime: ReadRuntime) => sleep(runtime.clock, 60_000, runtime.signal), status: undefined, leftBehind: false },
    { work: (runtime: ReadRuntime) => sleep(runtime.clock, 60_000, new AbortController().signal), status: undefined, leftBehind: true },
  ];
  for (const { work, status, leftBehind } of rows) {
    await using world = await ControllerWorld.open();
    await world.put(widgets, widget("a"));
    world.start([widgetController({ observe: async (_object, runtime) => (await work(runtime), ok({ count: 0 })) })], {
      limits: { drainMs: 5_000, cancelMs: 1_000 },
    });
    await world.clock.advance(100);
    world.stop();
    await world.end(7_000);
    expect((await world.ready("a"))?.status).toBe(status);
    expect(world.lines.some(({ message }) => message === "passes did not end and are left behind")).toBe(leftBehind);
    await world.clock.advance(60_000);
    expect(world.clock.pending).toBe(0);
  }
});

test("a pass that takes too long is aborted, and one that ignores its signal fails liveness", async () => {
  await using world = await ControllerWorld.open();
  let aborted = false;
  await world.put(widgets, widget("a"));
  const hang = new AbortController();
  const manager = world.start(
    [
      widgetController({
        observe: async (_object, { clock, signal }) => {
          signal.addEventListener("abort", () => (aborted = true));
          await sleep(clock, 1e9, hang.signal);
          return ok({ count: 0 });
        },
      }),
    ],
    { limits: { passMs: 10_000 } },
  );
  await world.clock.advance(11_000);
  expect([aborted, manager.health().live]).toEqual([true, true]);
  await world.clock.advance(10_000);
  expect(manager.health().live).toBe(false);
  hang.abort();
  await world.clock.advance(100);
  expect(manager.health().live).toBe(true);
  await world.end();
});

test("it is ready once every informer has its list; the details name those that do not", async () => {
  await using world = await ControllerWorld.open();
  const refusals = world.intercept({ resource: "configmaps", times: 100 }, failWith("server-error"));
  const manager = world.start([widgetController()]);
  expect(manager.health()).toMatchObject({ ready: false, leading: false });
  await world.clock.advance(60_000);
  const { live, ready, details } = manager.health();
  expect([live, ready, details["informer widgets.lattice.dev/v1"]]).toEqual([true, false, "watching"]);
  expect(details["informer configmaps/v1"]).toMatch(/failures$/);
  refusals.remove();
  await world.clock.advance(60_000);
  await world.put(configMaps, configMap("news"));
  await world.clock.advance(100);
  expect(manager.health()).toMatchObject({ ready: true, leading: true, details: { leader: "this process" } });
  await world.end();
});

test("a settled object is reconciled again after the configured time, and not before", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  let passes = 0;
  const observe = () => ((passes += 1), Promise.resolve(ok({ count: 0 })));
  world.start([widgetController({ observe })], { limits: { settledMs: 600_000 } });
  await world.clock.advance(530_000); // jitter: 10 % earlier or later
  const before = passes;
  await world.clock.advance(140_000);
  expect(passes).toBe(before + 1);
  await world.end();
});

test("a stop before the first list ends the manager", async () => {
  await using world = await ControllerWorld.open();
  world.intercept({ times: 1_000 }, failWith("server-error"));
  world.start([widgetController()]);
  await world.clock.advance(1_000);
  expect(await world.end()).toBe(0);
});

test("two controllers share the informers and process only their own objects", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  const second = widgetController({ name: "second", plan: () => ok({ apply: [configMap("second")], commands: [] }), status: () => ({}) });
  world.start([widgetController(), second]);
  await world.clock.advance(200_000);
  expect(await names(world)).toEqual(["a-0", "second"]);
  expect(world.cluster.actions.filter({ verb: "list", resource: "configmaps", user: "lattice" })).toHaveLength(1);
  await world.end();
});

test("a duplicate name, a second run, and an undeclared kind are bugs", async () => {
  await using world = await ControllerWorld.open();
  expect(() => world.start([widgetController(), widgetController()])).toThrow("two controllers are called widget");
  const { client, clock, random, logger, metrics } = world;
  const tracer = { span: () => Promise.reject(new Error("unused")) };
  const manager = createManager({ client, controllers: [], clock, random, logger, metrics, tracer, identity: "me" });
  const stop = new AbortController();
  stop.abort();
  await manager.run(stop.signal);
  await expect(manager.run(stop.signal)).rejects.toThrow("a manager runs once");
  expect(() => manager.cache.list(secrets)).toThrow("no controller of this manager declares secrets/v1");
});

test("only the leader writes, and a standby is ready", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  const leaderElection = { namespace: "lattice-system", name: "lattice" };
  const first = world.start([widgetController()], { leaderElection });
  await world.clock.advance(5_000);
  const { client, clock, random, logger, metrics } = world;
  const stopping = new AbortController();
  const standby = createManager({
    client,
    controllers: [widgetController()],
    clock,
    random,
    logger,
    metrics,
    tracer: { span: (_n, _f, work) => work({ set() {}, fail() {} }) },
    identity: "second",
    leaderElection,
  });
  const ended = standby.run(stopping.signal);
  await world.clock.advance(5_000);
  expect([first.health().leading, standby.health().leading, standby.health().ready]).toEqual([true, false, true]);
  await world.end(5_000);
  expect(standby.health().leading).toBe(true);
  stopping.abort();
  await world.clock.advance(5_000);
  await ended;
  expect(world.clock.pending).toBe(0);
});

test("an optional kind is not waited for; triggers of a controller start passes; a foreign status is not written", async () => {
  await using world = await ControllerWorld.open();
  world.intercept({ resource: "secrets", times: 1_000 }, failWith("not-found"));
  await world.put(widgets, widget("a"));
  let passes = 0;
  let enqueue: ((key: { name: string; namespace: string }) => void) | undefined;
  const manager = world.start([
    widgetController({
      observe: () => ((passes += 1), Promise.resolve(ok({ count: 0 }))),
      owns: [configMaps, secrets],
      optional: [secrets],
      writesStatus: false,
      triggers: (add) => {
        enqueue = add;
        return () => void (enqueue = undefined);
      },
    }),
  ]);
  await world.clock.advance(1_000);
  expect([passes, manager.health().ready, manager.cache.isServed(secrets), manager.cache.isServed(configMaps)]).toEqual([
    1,
    true,
    false,
    true,
  ]);
  enqueue?.({ name: "a", namespace: "shop" });
  await world.clock.advance(100);
  expect(passes).toBe(2);
  expect((await world.widget("a"))?.status).toBeUndefined();
  expect(await world.end()).toBe(0);
  expect(enqueue).toBeUndefined();
});

test("only selected objects are reconciled, and one that is selected later is", async () => {
  await using world = await ControllerWorld.open();
  for (const name of ["a", "b"]) await world.put(widgets, widget(name));
  const passes: string[] = [];
  world.start([
    widgetController({
      selects: ({ metadata }) => metadata.name === "a" || metadata.labels?.["selected"] === "true",
      observe: ({ metadata }) => (passes.push(metadata.name), Promise.resolve(ok({ count: 0 }))),
      writesStatus: false,
    }),
  ]);
  await world.clock.advance(1_000);
  expect(passes).toEqual(["a"]);
  const labelled = { type: "merge", patch: { metadata: { labels: { selected: "true" } } } } as const;
  expectOk(await world.client.patch(widgets, { namespace: "shop", name: "b" }, labelled));
  await world.clock.advance(1_000);
  expect(passes).toEqual(["a", "b"]);
  expect(await world.end()).toBe(0);
});

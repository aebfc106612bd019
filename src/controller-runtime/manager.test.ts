import { expect, test } from "vitest";
import { err, ok, sleep } from "#base";
import { configMap, configMaps, ControllerWorld, secrets, widget, widgets, type Widget } from "../../test/builders/controller-world.ts";
import { defineController, index, nothing, watch, type Controller, type Runtime } from "./controller.ts";
import { failed, settled, stalled, waiting } from "./outcome.ts";
import { bindController, type BoundController } from "./pass.ts";
import { createManager } from "./manager.ts";

type Seen = { readonly count: number };
type TestController = Controller<Widget, Seen, string, Runtime>;

/** A Widget becomes `count` ConfigMaps. */
function painter(more: Partial<TestController> = {}): BoundController {
  const controller = defineController<Widget, Seen, string, Runtime>({
    name: "painter",
    reconciles: widgets,
    owns: [configMaps],
    observe: ({ spec }) => Promise.resolve(ok({ count: spec.count ?? 0 })),
    plan: ({ metadata, spec }, { count }) => {
      const paint = Array.from({ length: count }, (_, at) => configMap(`${metadata.name}-${at}`, { colour: spec.colour ?? "none" }));
      return ok({ apply: paint, commands: [] });
    },
    perform: () => Promise.resolve(settled),
    status: (_widget, { count }) => ({ painted: count }),
    ...more,
  });
  return bindController(controller, (runtime) => runtime);
}

const names = (world: ControllerWorld) => world.api.objects(configMaps).map(({ metadata }) => metadata.name);
const metric = (world: ControllerWorld, text: string) => expect(world.metrics.render()).toContain(text);

test("a spec becomes objects, a status and an event, and then there is silence", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", { count: 2, colour: "red" }));
  const manager = world.start([painter()]);
  await world.clock.advance(1_000);
  expect(names(world)).toEqual(["a-0", "a-1"]);
  expect(world.widget("a")?.status).toMatchObject({
    painted: 2,
    observedGeneration: 1,
    conditions: [{ type: "Ready", status: "True", reason: "Settled" }],
  });
  expect(world.events()).toEqual(["Normal Settled: everything is as the spec wants it"]);
  const writes = world.writes().length;
  await world.clock.advance(600_000);
  expect(world.writes()).toHaveLength(writes);
  expect(manager.health()).toMatchObject({ live: true, ready: true, leading: true });
  expect(await world.end()).toBe(0);
  expect(manager.health()).toMatchObject({ live: false, ready: false, leading: false });
});

test("a settled object is looked at again every minute, and a change at once", async () => {
  const world = new ControllerWorld();
  let passes = 0;
  world.api.put(widgets, widget("a"));
  world.start([painter({ observe: () => ((passes += 1), Promise.resolve(ok({ count: 0 }))) })]);
  await world.clock.advance(1_000);
  expect(passes).toBe(1);
  await world.clock.advance(70_000);
  expect(passes).toBe(2);
  world.api.put(widgets, widget("a", { colour: "blue" }));
  await world.clock.advance(100);
  expect(passes).toBe(3);
  await world.end();
});

test("an owned object that somebody deleted comes back, in the owner's namespace and in another", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  const far = configMap("far", {}, { namespace: "other" });
  world.start([painter({ plan: () => ok({ apply: [configMap("near"), far], commands: [] }) })]);
  await world.clock.advance(1_000);
  for (const key of [
    { namespace: "shop", name: "near" },
    { namespace: "other", name: "far" },
  ]) {
    world.api.remove(configMaps, key);
    expect(world.api.object(configMaps, key)).toBeUndefined();
    await world.clock.advance(1_000);
    expect(world.api.object(configMaps, key)).toBeDefined();
  }
  await world.end();
});

test("a watched kind brings those back that it concerns, through an index", async () => {
  const world = new ControllerWorld();
  const passes: string[] = [];
  for (const [name, colour] of [
    ["a", "red"],
    ["b", "blue"],
  ] as const)
    world.api.put(widgets, widget(name, { colour }));
  world.start([
    painter({
      observe: ({ metadata }) => (passes.push(metadata.name), Promise.resolve(ok({ count: 0 }))),
      indexes: [index(widgets, "colour", ({ spec }) => [spec.colour ?? ""])],
      watches: [
        watch(secrets, ({ metadata }, cache) =>
          cache.byIndex(widgets, "colour", metadata.name).map((found) => ({ namespace: "shop", name: found.metadata.name })),
        ),
      ],
      reads: [secrets],
    }),
  ]);
  await world.clock.advance(1_000);
  passes.length = 0;
  world.api.put(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "blue", namespace: "shop" } });
  await world.clock.advance(100);
  expect(passes).toEqual(["b"]);
  await world.end();
});

test("outcomes reach status, events, metrics and the time of the next pass", async () => {
  const rows = [
    {
      name: "waiting",
      more: { plan: () => ok({ ...nothing.value, outcome: waiting("Brewing", 3_000, "tea") }) },
      reason: "Brewing",
      event: "Normal Brewing: tea",
      after: 3_000,
    },
    {
      name: "stalled",
      more: { plan: () => err({ kind: "invalid-spec", message: "odd" }) },
      reason: "InvalidSpec",
      event: "Warning InvalidSpec: odd",
      after: 300_000,
    },
    {
      name: "stalled",
      more: { plan: () => err({ kind: "compile-error", message: "bad" }) },
      reason: "CompileError",
      event: "Warning CompileError: bad",
      after: 60_000,
    },
    {
      name: "stalled",
      more: { parse: () => err({ kind: "invalid-spec", reason: "Unreadable", message: "what?" }) },
      reason: "Unreadable",
      event: "Warning Unreadable: what?",
      after: 300_000,
    },
    {
      name: "failed",
      more: { observe: () => Promise.resolve(err({ kind: "unavailable", message: "down" })) },
      reason: "ReconcileFailed",
      event: "Warning ReconcileFailed: down",
      after: 5_000,
    },
    {
      name: "failed",
      more: { observe: () => Promise.resolve(err({ kind: "busy", message: "later", retryAfterMs: 8_000 })) },
      reason: "ReconcileFailed",
      event: "Warning ReconcileFailed: later",
      after: 8_000,
    },
  ] satisfies readonly { name: string; more: Partial<TestController>; reason: string; event: string; after: number }[];
  for (const { name, more, reason, event, after } of rows) {
    const world = new ControllerWorld();
    world.api.put(widgets, widget("a"));
    world.start([painter(more)]);
    await world.clock.advance(1_000);
    expect(world.ready("a")?.reason).toBe(reason);
    expect(world.events()).toEqual([event]);
    metric(world, `lattice_reconcile_total{controller="painter",result="${name}"} 1`);
    await world.clock.advance(after);
    metric(world, `lattice_reconcile_total{controller="painter",result="${name}"} 2`);
    await world.end();
  }
});

test("commands are performed in order once everything was applied; a failure ends the pass", async () => {
  const rows = [
    { outcomes: [settled, waiting("Soon", 9, ""), settled], performed: 3, reason: "Soon" },
    { outcomes: [settled, failed({ kind: "x", message: "no" }), settled], performed: 2, reason: "ReconcileFailed" },
    { outcomes: [stalled("Stuck"), settled], performed: 1, reason: "Stuck" },
  ];
  for (const { outcomes, performed, reason } of rows) {
    const world = new ControllerWorld();
    const log: string[] = [];
    world.api.put(widgets, widget("a"));
    world.start([
      painter({
        plan: () => ok({ apply: [configMap("x")], commands: outcomes.map((_, at) => String(at)) }),
        perform: (command) => (log.push(`${names(world).join()} ${command}`), Promise.resolve(outcomes[Number(command)] ?? settled)),
      }),
    ]);
    await world.clock.advance(5);
    // the new ConfigMap brings the owner back, so a second pass may have said the same
    expect([...new Set(log)]).toEqual(outcomes.slice(0, performed).map((_, at) => `x ${at}`));
    expect(world.ready("a")?.reason).toBe(reason);
    await world.end();
  }
});

test("when an object cannot be applied no command is performed, and the status says which", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  world.api.put(configMaps, configMap("x", { theirs: "1" }));
  const performed: string[] = [];
  world.start([
    painter({
      plan: () => ok({ apply: [configMap("x")], commands: ["go"] }),
      perform: (command) => (performed.push(command), Promise.resolve(settled)),
      status: (_widget, _seen, { changes }) => ({ failures: changes.failed.length }),
    }),
  ]);
  await world.clock.advance(1_000);
  expect(performed).toEqual([]);
  expect(world.ready("a")?.message).toContain("ConfigMap shop/x: it exists already");
  expect(world.widget("a")?.status?.["failures"]).toBe(1);
  await world.end();
});

test("a controller's own Ready condition wins", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  world.start([painter({ status: () => ({ conditions: [{ type: "Ready", status: "Unknown", reason: "Own", message: "" }] }) })]);
  await world.clock.advance(1_000);
  expect(world.widget("a")?.status?.conditions).toMatchObject([{ type: "Ready", reason: "Own" }]);
  await world.end();
});

test("when nothing could be observed the last status stays, and Ready says why", async () => {
  const world = new ControllerWorld();
  let broken = false;
  world.api.put(widgets, widget("a", { count: 3 }));
  world.start([painter({ observe: () => Promise.resolve(broken ? err({ kind: "x", message: "blind" }) : ok({ count: 3 })) })]);
  await world.clock.advance(1_000);
  broken = true;
  await world.clock.advance(70_000);
  expect(world.widget("a")?.status).toMatchObject({ painted: 3, conditions: [{ status: "Unknown", message: "blind" }] });
  await world.end();
});

test("an exception is a bug: logged without its secret, counted, backed off, and the others go on", async () => {
  for (const thrown of [new Error("cannot read password=hunter2"), "password=hunter2"]) {
    const world = new ControllerWorld();
    world.api.put(widgets, widget("a"));
    world.api.put(widgets, widget("b"));
    const manager = world.start([
      painter({
        observe: ({ metadata }) => {
          if (metadata.name === "a") throw thrown;
          return Promise.resolve(ok({ count: 1 }));
        },
      }),
    ]);
    await world.clock.advance(1_000);
    expect(world.ready("a")).toMatchObject({ status: "Unknown", reason: "InternalError" });
    expect(world.ready("b")).toMatchObject({ status: "True" });
    metric(world, 'lattice_reconcile_total{controller="painter",result="bug"} 1');
    expect(JSON.stringify([world.lines, world.events(), world.widget("a")])).not.toContain("hunter2");
    expect(world.lines.find(({ message }) => message === "controller has a bug")?.fields).toMatchObject({
      name: "a",
      message: expect.stringContaining("[redacted]") as string,
    });
    await world.clock.advance(5_000);
    metric(world, 'lattice_reconcile_total{controller="painter",result="bug"} 2');
    expect(manager.health().live).toBe(true);
    await world.end();
  }
});

test("even a tracer that throws does not end a worker", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  let spans = 0;
  const manager = world.start([painter()], { tracer: { span: () => ((spans += 1), Promise.reject(new Error("tracer"))) } });
  await world.clock.advance(30_000);
  expect(spans).toBeGreaterThan(1);
  expect(manager.health().live).toBe(true);
  expect(world.lines.some(({ message }) => message === "runner met a bug")).toBe(true);
  await world.end();
});

test("a pass that failed marks its span", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  const marks: unknown[] = [];
  const span = { set: (fields: object) => void marks.push(fields), fail: (message: string) => void marks.push(message) };
  world.start([painter({ observe: () => Promise.resolve(err({ kind: "x", message: "blind" })) })], {
    tracer: { span: (_name, _fields, work) => work(span) },
  });
  await world.clock.advance(100);
  expect(marks).toEqual([{ result: "failed" }, "blind"]);
  await world.end();
});

test("a finalizer goes only after its clean-up succeeded; until then status and event say why it did not", async () => {
  const world = new ControllerWorld();
  let cloud: "down" | "busy" | "up" = "down";
  world.api.put(widgets, widget("a", { count: 1 }));
  world.start([
    painter({
      teardown: () =>
        Promise.resolve(
          cloud === "down"
            ? failed({ kind: "cloud", message: "no answer" })
            : cloud === "busy"
              ? waiting("Draining", 1_000, "2 left")
              : settled,
        ),
    }),
  ]);
  await world.clock.advance(1_000);
  expect(world.widget("a")?.metadata.finalizers).toEqual(["lattice.dev/painter"]);
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  expect(world.ready("a")).toMatchObject({ reason: "TeardownFailed", message: "clean-up failed: no answer" });
  expect(world.events()).toContain("Warning TeardownFailed: clean-up failed: no answer");
  cloud = "busy";
  await world.clock.advance(10_000);
  expect(world.ready("a")).toMatchObject({ status: "False", reason: "Draining" });
  expect(world.widget("a")?.metadata.finalizers).toEqual(["lattice.dev/painter"]);
  cloud = "up";
  await world.clock.advance(2_000);
  expect(world.widget("a")).toBeUndefined();
  await world.end();
});

test("an owner that goes takes along what the garbage collector cannot see, or stays", async () => {
  const world = new ControllerWorld();
  const far = configMap("far", {}, { namespace: "other" });
  world.api.put(widgets, widget("a"));
  world.start([painter({ plan: () => ok({ apply: [far], commands: [] }), teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  expect(names(world)).toEqual(["far"]);
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, name }) => method === "DELETE" && name === "far");
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  expect(world.ready("a")?.reason).toBe("TeardownFailed");
  await world.clock.advance(20_000);
  expect([names(world), world.widget("a")]).toEqual([[], undefined]);
  await world.end();
});

test("a release that meets a changed owner, and a finalizer that cannot be taken off, are tried again", async () => {
  const world = new ControllerWorld();
  const far = configMap("far", {}, { namespace: "other" });
  world.api.put(widgets, widget("a"));
  world.start([painter({ plan: () => ok({ apply: [far], commands: [] }), teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, name }) => method === "GET" && name === "a");
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, name }) => method === "PATCH" && name === "a");
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(60_000);
  expect(world.widget("a")).toBeUndefined();
  await world.end();
});

test("a controller with a finalizer and no teardown cleans up in its plan", async () => {
  const world = new ControllerWorld();
  let deleted = false;
  world.api.put(widgets, widget("a"));
  const plan: TestController["plan"] = ({ metadata }) =>
    ok({ ...nothing.value, outcome: metadata.deletionTimestamp !== undefined && !deleted ? waiting("Unpivoting", 1_000) : settled });
  world.start([painter({ finalizer: "lattice.dev/plan", plan })]);
  await world.clock.advance(1_000);
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(3_000);
  expect(world.ready("a")?.reason).toBe("Unpivoting");
  deleted = true;
  await world.clock.advance(2_000);
  expect(world.widget("a")).toBeUndefined();
  await world.end();
});

test("an object that is being deleted and is not ours to hold is left alone", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", { count: 1 }, { finalizers: ["some/body"] }));
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  world.start([painter({ teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  expect([names(world), world.writes()]).toEqual([[], []]);
  await world.end();
});

test("a finalizer that cannot be set holds up the pass", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", { count: 1 }));
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, name }) => method === "PATCH" && name === "a");
  world.start([painter({ teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(100);
  expect([names(world), world.ready("a")?.reason]).toEqual([[], "ReconcileFailed"]);
  await world.clock.advance(10_000);
  expect(names(world)).toEqual(["a-0"]);
  await world.end();
});

test("teardown of something unreadable is stalled, not skipped", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", {}, { finalizers: ["lattice.dev/painter"] }));
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  world.start([painter({ teardown: () => Promise.resolve(settled), parse: () => err({ kind: "invalid-spec", message: "what?" }) })]);
  await world.clock.advance(1_000);
  expect(world.ready("a")).toMatchObject({ reason: "InvalidSpec", message: "what?" });
  await world.end();
});

test("a status that cannot be written is tried again", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a"));
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method }) => method === "PUT");
  world.start([painter()]);
  await world.clock.advance(1_000);
  expect(world.widget("a")?.status).toBeUndefined();
  metric(world, 'lattice_reconcile_errors_total{controller="painter"} 1');
  await world.clock.advance(5_000);
  expect(world.ready("a")?.status).toBe("True");
  await world.end();
});

test("an object is in work once at a time, whatever changes meanwhile", async () => {
  const world = new ControllerWorld();
  let now = 0;
  let most = 0;
  world.api.put(widgets, widget("a"));
  world.start([
    painter({
      observe: async (_object, { clock, signal }) => {
        most = Math.max(most, (now += 1));
        await sleep(clock, 500, signal);
        now -= 1;
        return ok({ count: 0 });
      },
    }),
  ]);
  for (let change = 0; change < 20; change += 1) {
    await world.clock.advance(130);
    world.api.put(widgets, widget("a", { colour: String(change) }));
  }
  expect(most).toBe(1);
  await world.end();
});

test("told to stop, passes under way get time to finish; then they are cancelled; then they are left behind", async () => {
  const rows = [
    { work: (runtime: Runtime) => sleep(runtime.clock, 2_000, new AbortController().signal), status: "True", leftBehind: false },
    { work: (runtime: Runtime) => sleep(runtime.clock, 60_000, runtime.signal), status: undefined, leftBehind: false },
    { work: (runtime: Runtime) => sleep(runtime.clock, 60_000, new AbortController().signal), status: undefined, leftBehind: true },
  ];
  for (const { work, status, leftBehind } of rows) {
    const world = new ControllerWorld();
    world.api.put(widgets, widget("a"));
    world.start([painter({ observe: async (_object, runtime) => (await work(runtime), ok({ count: 0 })) })], {
      limits: { drainMs: 5_000, cancelMs: 1_000 },
    });
    await world.clock.advance(100);
    world.stop();
    await world.end(7_000);
    expect(world.ready("a")?.status).toBe(status);
    expect(world.lines.some(({ message }) => message === "passes did not end and are left behind")).toBe(leftBehind);
    await world.clock.advance(60_000);
    expect(world.clock.pending).toBe(0);
  }
});

test("a pass that takes too long is told to end, and one that does not listen shows in liveness", async () => {
  const world = new ControllerWorld();
  let told = false;
  world.api.put(widgets, widget("a"));
  const hang = new AbortController();
  const manager = world.start(
    [
      painter({
        observe: async (_object, { clock, signal }) => {
          signal.addEventListener("abort", () => (told = true));
          await sleep(clock, 1e9, hang.signal);
          return ok({ count: 0 });
        },
      }),
    ],
    { limits: { passMs: 10_000 } },
  );
  await world.clock.advance(11_000);
  expect([told, manager.health().live]).toEqual([true, true]);
  await world.clock.advance(10_000);
  expect(manager.health().live).toBe(false);
  hang.abort();
  await world.clock.advance(100);
  expect(manager.health().live).toBe(true);
  await world.end();
});

test("not ready until every informer has its list; the details say which has not", async () => {
  const world = new ControllerWorld();
  world.api.faults.script({ kind: "answer", code: 500 }, ({ path }) => path.includes("/configmaps"), 100);
  const manager = world.start([painter()]);
  expect(manager.health()).toMatchObject({ ready: false, leading: false });
  await world.clock.advance(60_000);
  const { live, ready, details } = manager.health();
  expect([live, ready, details["informer widgets.lattice.dev/v1"]]).toEqual([true, false, "watching"]);
  expect(details["informer configmaps/v1"]).toMatch(/failures$/);
  world.api.faults.calm();
  await world.clock.advance(60_000);
  world.api.put(configMaps, configMap("news"));
  await world.clock.advance(100);
  expect(manager.health()).toMatchObject({ ready: true, leading: true, details: { leader: "this process" } });
  await world.end();
});

test("told to stop before the first list, it ends", async () => {
  const world = new ControllerWorld();
  world.api.faults.script({ kind: "answer", code: 500 }, () => true, 1_000);
  world.start([painter()]);
  await world.clock.advance(1_000);
  expect(await world.end()).toBe(0);
});

test("two controllers share the informers and keep to their own objects", async () => {
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", { count: 1 }));
  const second = painter({ name: "second", plan: () => ok({ apply: [configMap("second")], commands: [] }), status: () => ({}) });
  world.start([painter(), second]);
  await world.clock.advance(200_000);
  expect(names(world)).toEqual(["a-0", "second"]);
  expect(world.api.log.filter(({ path }) => /\/configmaps\?.*limit=/.test(path))).toHaveLength(1);
  await world.end();
});

test("a name twice, a second run, and a kind that nobody declared are bugs", async () => {
  const world = new ControllerWorld();
  expect(() => world.start([painter(), painter()])).toThrow("two controllers are called painter");
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
  const world = new ControllerWorld();
  world.api.put(widgets, widget("a", { count: 1 }));
  const leaderElection = { namespace: "lattice-system", name: "lattice" };
  const first = world.start([painter()], { leaderElection });
  await world.clock.advance(5_000);
  const { client, clock, random, logger, metrics } = world;
  const stopping = new AbortController();
  const standby = createManager({
    client,
    controllers: [painter()],
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

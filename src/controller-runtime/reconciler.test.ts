import { expect, test } from "vitest";
import { err, ok, sleep } from "#base";
import { failWith } from "#embedded-cluster";
import { configMap, configMaps, ControllerWorld, secrets, widget, widgets } from "../../test/builders/controller-world.ts";
import { widgetController, type WidgetController } from "../../test/builders/widget-controller.ts";
import { index } from "./cache.ts";
import { nothing, watch } from "./controller.ts";
import { failed, settled, stalled, waiting } from "./outcome.ts";

const names = async (world: ControllerWorld) => (await world.objects(configMaps)).map(({ metadata }) => metadata.name);
const metric = (world: ControllerWorld, text: string) => expect(world.metrics.render()).toContain(text);

test("a spec becomes objects, a status and an event, and then no further writes", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 2, colour: "red" }));
  const manager = world.start([widgetController()]);
  await world.clock.advance(1_000);
  expect(await names(world)).toEqual(["a-0", "a-1"]);
  expect((await world.widget("a"))?.status).toMatchObject({
    configMaps: 2,
    observedGeneration: 1,
    conditions: [{ type: "Ready", status: "True", reason: "Settled" }],
  });
  expect(await world.events()).toEqual(["Normal Settled: everything is as the spec wants it"]);
  const writes = world.writes().length;
  await world.clock.advance(600_000);
  expect(world.writes()).toHaveLength(writes);
  expect(manager.health()).toMatchObject({ live: true, ready: true, leading: true });
  expect(await world.end()).toBe(0);
  expect(manager.health()).toMatchObject({ live: false, ready: false, leading: false });
});

test("a settled object is reconciled again every minute, and after a change at once", async () => {
  await using world = await ControllerWorld.open();
  let passes = 0;
  await world.put(widgets, widget("a"));
  world.start([widgetController({ observe: () => ((passes += 1), Promise.resolve(ok({ count: 0 }))) })]);
  await world.clock.advance(1_000);
  expect(passes).toBe(1);
  await world.clock.advance(70_000);
  expect(passes).toBe(2);
  await world.put(widgets, widget("a", { colour: "blue" }));
  await world.clock.advance(100);
  expect(passes).toBe(3);
  await world.end();
});

test("a deleted owned object is created again, in the owner's namespace and in another", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  const far = configMap("far", {}, { namespace: "other" });
  world.start([widgetController({ plan: () => ok({ apply: [configMap("near"), far], commands: [] }) })]);
  await world.clock.advance(1_000);
  for (const key of [
    { namespace: "shop", name: "near" },
    { namespace: "other", name: "far" },
  ]) {
    await world.remove(configMaps, key);
    expect(await world.object(configMaps, key)).toBeUndefined();
    await world.clock.advance(1_000);
    expect(await world.object(configMaps, key)).toBeDefined();
  }
  await world.end();
});

test("a change of a watched kind triggers the affected objects, through an index", async () => {
  await using world = await ControllerWorld.open();
  const passes: string[] = [];
  for (const [name, colour] of [
    ["a", "red"],
    ["b", "blue"],
  ] as const)
    await world.put(widgets, widget(name, { colour }));
  world.start([
    widgetController({
      observe: ({ metadata }) => (passes.push(metadata.name), Promise.resolve(ok({ count: 0 }))),
      indexes: [index(widgets, "colour", ({ spec }) => [spec.colour ?? ""])],
      watches: [
        watch(secrets, ({ metadata }, { cache }) =>
          cache.byIndex(widgets, "colour", metadata.name).map((found) => ({ namespace: "shop", name: found.metadata.name })),
        ),
      ],
      reads: [secrets],
    }),
  ]);
  await world.clock.advance(1_000);
  passes.length = 0;
  await world.put(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "blue", namespace: "shop" } });
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
      more: { observe: () => Promise.resolve(err({ kind: "too-many-requests", message: "later", retryAfterMs: 8_000 })) },
      reason: "ReconcileFailed",
      event: "Warning ReconcileFailed: later",
      after: 8_000,
    },
  ] satisfies readonly { name: string; more: Partial<WidgetController>; reason: string; event: string; after: number }[];
  for (const { name, more, reason, event, after } of rows) {
    await using world = await ControllerWorld.open();
    await world.put(widgets, widget("a"));
    world.start([widgetController(more)]);
    await world.clock.advance(1_000);
    expect((await world.ready("a"))?.reason).toBe(reason);
    expect(await world.events()).toEqual([event]);
    metric(world, `lattice_reconcile_total{controller="widget",result="${name}"} 1`);
    await world.clock.advance(after);
    metric(world, `lattice_reconcile_total{controller="widget",result="${name}"} 2`);
    await world.end();
  }
});

test("commands are performed in order once everything was applied; a failure ends the pass", async () => {
  const rows = [
    { outcomes: [settled, waiting("Soon", 9, ""), settled], performed: 3, reason: "Soon" },
    { outcomes: [settled, failed({ kind: "apply", message: "no" }), settled], performed: 2, reason: "ReconcileFailed" },
    { outcomes: [stalled("Stuck"), settled], performed: 1, reason: "Stuck" },
  ];
  for (const { outcomes, performed, reason } of rows) {
    await using world = await ControllerWorld.open();
    const log: string[] = [];
    await world.put(widgets, widget("a"));
    world.start([
      widgetController({
        plan: () => ok({ apply: [configMap("x")], commands: outcomes.map((_, at) => String(at)) }),
        perform: async (command) => {
          log.push(`${(await names(world)).join()} ${command}`);
          return outcomes[Number(command)] ?? settled;
        },
      }),
    ]);
    await world.clock.advance(5);
    // the new ConfigMap triggers a second pass of its owner, with the same outcome
    expect([...new Set(log)]).toEqual(outcomes.slice(0, performed).map((_, at) => `x ${at}`));
    expect((await world.ready("a"))?.reason).toBe(reason);
    await world.end();
  }
});

test("when an object cannot be applied no command is performed, and the status names the object", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  await world.put(configMaps, configMap("x", { theirs: "1" }));
  const performed: string[] = [];
  world.start([
    widgetController({
      plan: () => ok({ apply: [configMap("x")], commands: ["go"] }),
      perform: (command) => (performed.push(command), Promise.resolve(settled)),
      status: (_widget, _seen, { changes }) => ({ failures: changes.failed.length }),
    }),
  ]);
  await world.clock.advance(1_000);
  expect(performed).toEqual([]);
  expect((await world.ready("a"))?.message).toContain("ConfigMap shop/x: it exists already");
  expect((await world.widget("a"))?.status?.["failures"]).toBe(1);
  await world.end();
});

test("a controller's own Ready condition wins", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  world.start([widgetController({ status: () => ({ conditions: [{ type: "Ready", status: "Unknown", reason: "Own", message: "" }] }) })]);
  await world.clock.advance(1_000);
  expect((await world.widget("a"))?.status?.conditions).toMatchObject([{ type: "Ready", reason: "Own" }]);
  await world.end();
});

test("when nothing could be observed the last status stays, and the Ready condition gives the reason", async () => {
  await using world = await ControllerWorld.open();
  let broken = false;
  await world.put(widgets, widget("a", { count: 3 }));
  world.start([
    widgetController({ observe: () => Promise.resolve(broken ? err({ kind: "unavailable", message: "blind" }) : ok({ count: 3 })) }),
  ]);
  await world.clock.advance(1_000);
  broken = true;
  await world.clock.advance(70_000);
  expect((await world.widget("a"))?.status).toMatchObject({ configMaps: 3, conditions: [{ status: "Unknown", message: "blind" }] });
  await world.end();
});

test("an exception is a bug: logged without its secret, counted, backed off, and other objects are reconciled", async () => {
  for (const thrown of [new Error("cannot read password=hunter2"), "password=hunter2"]) {
    await using world = await ControllerWorld.open();
    await world.put(widgets, widget("a"));
    await world.put(widgets, widget("b"));
    const manager = world.start([
      widgetController({
        observe: ({ metadata }) => {
          if (metadata.name === "a") throw thrown;
          return Promise.resolve(ok({ count: 1 }));
        },
      }),
    ]);
    await world.clock.advance(1_000);
    expect(await world.ready("a")).toMatchObject({ status: "Unknown", reason: "InternalError" });
    expect(await world.ready("b")).toMatchObject({ status: "True" });
    metric(world, 'lattice_reconcile_total{controller="widget",result="bug"} 1');
    expect(JSON.stringify([world.lines, await world.events(), await world.widget("a")])).not.toContain("hunter2");
    expect(world.lines.find(({ message }) => message === "controller has a bug")?.fields).toMatchObject({
      name: "a",
      message: expect.stringContaining("[redacted]") as string,
    });
    await world.clock.advance(5_000);
    metric(world, 'lattice_reconcile_total{controller="widget",result="bug"} 2');
    expect(manager.health().live).toBe(true);
    await world.end();
  }
});

test("a status that cannot be written is retried", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  world.intercept({ verb: "update" }, failWith("server-error"));
  world.start([widgetController()]);
  await world.clock.advance(1_000);
  expect((await world.widget("a"))?.status).toBeUndefined();
  metric(world, 'lattice_reconcile_errors_total{controller="widget"} 1');
  await world.clock.advance(5_000);
  expect((await world.ready("a"))?.status).toBe("True");
  await world.end();
});

test("an object is processed by one worker at a time, whatever changes meanwhile", async () => {
  await using world = await ControllerWorld.open();
  let now = 0;
  let most = 0;
  await world.put(widgets, widget("a"));
  world.start([
    widgetController({
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
    await world.put(widgets, widget("a", { colour: String(change) }));
  }
  expect(most).toBe(1);
  await world.end();
});

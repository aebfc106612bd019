import { expect, test } from "vitest";
import { err, ok } from "#base";
import { failWith } from "#embedded-cluster";
import { configMap, configMaps, ControllerWorld, widget, widgets } from "../../test/builders/controller-world.ts";
import { widgetController, type WidgetController } from "../../test/builders/widget-controller.ts";
import { nothing } from "./controller.ts";
import { failed, settled, waiting } from "./outcome.ts";

const names = async (world: ControllerWorld) => (await world.objects(configMaps)).map(({ metadata }) => metadata.name);

test("a finalizer is removed only after its clean-up succeeded; until then status and event have the reason", async () => {
  await using world = await ControllerWorld.open();
  let cloud: "down" | "busy" | "up" = "down";
  await world.put(widgets, widget("a", { count: 1 }));
  world.start([
    widgetController({
      teardown: () =>
        Promise.resolve(
          cloud === "down"
            ? failed({ kind: "unavailable", message: "no answer" })
            : cloud === "busy"
              ? waiting("Draining", 1_000, "2 left")
              : settled,
        ),
    }),
  ]);
  await world.clock.advance(1_000);
  expect((await world.widget("a"))?.metadata.finalizers).toEqual(["lattice.dev/widget"]);
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  expect(await world.ready("a")).toMatchObject({ reason: "TeardownFailed", message: "clean-up failed: no answer" });
  expect(await world.events()).toContain("Warning TeardownFailed: clean-up failed: no answer");
  cloud = "busy";
  await world.clock.advance(10_000);
  expect(await world.ready("a")).toMatchObject({ status: "False", reason: "Draining" });
  expect((await world.widget("a"))?.metadata.finalizers).toEqual(["lattice.dev/widget"]);
  cloud = "up";
  await world.clock.advance(2_000);
  expect(await world.widget("a")).toBeUndefined();
  await world.end();
});

test("a deleted owner first deletes objects that the garbage collector would not delete, or stays", async () => {
  await using world = await ControllerWorld.open();
  const far = configMap("far", {}, { namespace: "other" });
  await world.put(widgets, widget("a"));
  world.start([widgetController({ plan: () => ok({ apply: [far], commands: [] }), teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  expect(await names(world)).toEqual(["far"]);
  world.intercept({ verb: "delete", name: "far" }, failWith("server-error"));
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  expect((await world.ready("a"))?.reason).toBe("TeardownFailed");
  await world.clock.advance(20_000);
  expect([await names(world), await world.widget("a")]).toEqual([[], undefined]);
  await world.end();
});

test("a clean-up that finds a changed owner, and a finalizer that cannot be removed, are retried", async () => {
  await using world = await ControllerWorld.open();
  const far = configMap("far", {}, { namespace: "other" });
  await world.put(widgets, widget("a"));
  world.start([widgetController({ plan: () => ok({ apply: [far], commands: [] }), teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  world.intercept({ verb: "get", name: "a" }, failWith("server-error"));
  world.intercept({ verb: ["patch", "apply"], name: "a" }, failWith("server-error"));
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(60_000);
  expect(await world.widget("a")).toBeUndefined();
  await world.end();
});

test("a controller with a finalizer and no teardown deletes its applied objects, and runs no pass for it", async () => {
  await using world = await ControllerWorld.open();
  let plans = 0;
  const far = configMap("far", {}, { namespace: "other" });
  await world.put(widgets, widget("a"));
  world.start([widgetController({ finalizer: "lattice.dev/x", plan: () => ((plans += 1), ok({ apply: [far], commands: [] })) })]);
  await world.clock.advance(1_000);
  const before = plans;
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  expect([await names(world), await world.widget("a"), plans]).toEqual([[], undefined, before]);
  await world.end();
});

test("a controller with teardown by-plan cleans up in its plan", async () => {
  await using world = await ControllerWorld.open();
  let deleted = false;
  await world.put(widgets, widget("a"));
  const plan: WidgetController["plan"] = ({ metadata }) =>
    ok({ ...nothing.value, outcome: metadata.deletionTimestamp !== undefined && !deleted ? waiting("Unpivoting", 1_000) : settled });
  world.start([widgetController({ teardown: "by-plan", plan })]);
  await world.clock.advance(1_000);
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(3_000);
  expect((await world.ready("a"))?.reason).toBe("Unpivoting");
  deleted = true;
  await world.clock.advance(2_000);
  expect(await world.widget("a")).toBeUndefined();
  await world.end();
});

test("a terminating object without our finalizer is not changed", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }, { finalizers: ["some/body"] }));
  await world.remove(widgets, { namespace: "shop", name: "a" });
  world.start([widgetController({ teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(1_000);
  expect([await names(world), world.writes()]).toEqual([[], []]);
  await world.end();
});

test("a finalizer that cannot be set blocks the pass", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  world.intercept({ verb: ["patch", "apply"], name: "a" }, failWith("server-error"));
  world.start([widgetController({ teardown: () => Promise.resolve(settled) })]);
  await world.clock.advance(100);
  expect([await names(world), (await world.ready("a"))?.reason]).toEqual([[], "ReconcileFailed"]);
  await world.clock.advance(10_000);
  expect(await names(world)).toEqual(["a-0"]);
  await world.end();
});

test("teardown of an object that cannot be parsed is stalled, not skipped", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", {}, { finalizers: ["lattice.dev/widget"] }));
  await world.remove(widgets, { namespace: "shop", name: "a" });
  world.start([
    widgetController({ teardown: () => Promise.resolve(settled), parse: () => err({ kind: "invalid-spec", message: "what?" }) }),
  ]);
  await world.clock.advance(1_000);
  expect(await world.ready("a")).toMatchObject({ reason: "InvalidSpec", message: "what?" });
  await world.end();
});

import { expect, test } from "vitest";
import { err, ok } from "#base";
import { configMap, configMaps, ControllerWorld, widget, widgets } from "../../test/builders/controller-world.ts";
import { painter, type Painter } from "../../test/builders/painter.ts";
import { nothing } from "./controller.ts";
import { failed, settled, waiting } from "./outcome.ts";

const names = (world: ControllerWorld) => world.api.objects(configMaps).map(({ metadata }) => metadata.name);

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
  const plan: Painter["plan"] = ({ metadata }) =>
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

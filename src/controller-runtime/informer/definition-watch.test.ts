/** Kinds that are installed, removed and installed again are noticed at once: the clock does not reach the next attempt. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { failWith } from "#embedded-cluster";
import { customResourceDefinitions, defineResource, groupResourceOf, type KubeObject, type Resource } from "#kube";
import { startCluster } from "../../../test/builders/api-world.ts";
import { ControllerWorld, widget, widgets } from "../../../test/builders/controller-world.ts";
import { openCrd } from "../../../test/builders/open-crd.ts";
import { widgetController } from "../../../test/builders/widget-controller.ts";

const gadgets = defineResource<KubeObject>({ group: "example.org", version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true });
const gadget: KubeObject = { apiVersion: "example.org/v1", kind: "Gadget", metadata: { name: "g", namespace: "shop" } };

const empty = async (resources: readonly Resource[]) => new ControllerWorld(await startCluster({ namespaces: ["shop"], resources }));

async function install(world: ControllerWorld, resource: Resource): Promise<void> {
  expectOk(await world.cluster.client.create<KubeObject>(customResourceDefinitions, openCrd(resource) as KubeObject));
  await world.clock.advance(10);
}

async function uninstall(world: ControllerWorld, resource: Resource): Promise<void> {
  await world.remove(customResourceDefinitions, { name: groupResourceOf(resource) });
  await world.clock.advance(10);
}

const controller = () => widgetController({ reads: [gadgets], optional: [gadgets] });

async function running() {
  const world = await empty([widgets]);
  await world.put(widgets, widget("a"));
  const manager = world.start([controller()]);
  const turns: boolean[] = [];
  manager.cache.subscribeServed(gadgets, () => turns.push(manager.cache.isServed(gadgets)));
  await world.clock.advance(300_000);
  return { world, manager, turns };
}

test("an optional kind is noticed when its definition is established, removed and established again", async () => {
  const { world, manager, turns } = await running();
  await using _world = world;
  expect([manager.health().ready, manager.cache.isServed(gadgets)]).toEqual([true, false]);
  await install(world, gadgets);
  expect([manager.cache.isServed(gadgets), turns]).toEqual([true, [true]]);
  await world.put(gadgets, gadget);
  await world.clock.advance(10);
  expect(manager.cache.list(gadgets)).toHaveLength(1);
  await uninstall(world, gadgets);
  expect([manager.cache.isServed(gadgets), manager.cache.list(gadgets), turns]).toEqual([false, [], [true, false]]);
  await world.clock.advance(300_000);
  await install(world, gadgets);
  await world.put(gadgets, gadget);
  await world.clock.advance(10);
  expect([manager.cache.list(gadgets).length, turns, manager.health().ready]).toEqual([1, [true, false, true], true]);
  expect(await world.end()).toBe(0);
});

test("a required kind that is installed after the manager started is noticed at once, too", async () => {
  await using world = await empty([]);
  const manager = world.start([widgetController()]);
  await world.clock.advance(300_000);
  expect(manager.health().ready).toBe(false);
  await install(world, widgets);
  expect(manager.health().ready).toBe(true);
  await world.put(widgets, widget("a", { count: 2 }));
  await world.clock.advance(10);
  expect((await world.ready("a"))?.status).toBe("True");
  expect(await world.end()).toBe(0);
});

test("a server that does not serve the kind yet when its definition is established is asked again within a second", async () => {
  const { world, manager } = await running();
  await using _world = world;
  world.intercept({ resource: "gadgets", times: 2 }, failWith("not-found"));
  await install(world, gadgets);
  expect(manager.cache.isServed(gadgets)).toBe(false);
  await world.clock.advance(2_000);
  expect(manager.cache.isServed(gadgets)).toBe(true);
  await world.end();
});

test("a definition that changes without effect on its kind causes no request", async () => {
  const { world } = await running();
  await using _world = world;
  await install(world, gadgets);
  const lists = () => world.requests().filter(({ verb, resource }) => verb === "list" && resource?.plural === "gadgets").length;
  const before = lists();
  const patch = { metadata: { annotations: { note: "x" } } };
  expectOk(await world.cluster.client.patch(customResourceDefinitions, { name: groupResourceOf(gadgets) }, { type: "merge", patch }));
  await world.clock.advance(10);
  expect(lists()).toBe(before);
  await world.end();
});

describe("where definitions cannot be read", () => {
  test("a manager that works in some namespaces does not ask for them, and finds the kind by polling", async () => {
    await using world = await empty([widgets]);
    const manager = world.start([controller()], { scope: { namespaces: ["shop"] } });
    await world.clock.advance(300_000);
    await install(world, gadgets);
    expect(manager.cache.isServed(gadgets)).toBe(false);
    await world.clock.advance(31_000);
    expect(manager.cache.isServed(gadgets)).toBe(true);
    expect(world.requests().filter(({ resource }) => resource?.plural === "customresourcedefinitions")).toEqual([]);
    expect(await world.end()).toBe(0);
  });

  test.each(["forbidden", "not-found"] as const)(
    "(%s) the kind is found by polling, and definitions are not asked for again",
    async (answer) => {
      await using world = await empty([widgets]);
      world.intercept({ resource: "customresourcedefinitions", times: 1_000 }, failWith(answer));
      const manager = world.start([controller()]);
      await world.clock.advance(300_000);
      const asked = () => world.requests().filter(({ resource }) => resource?.plural === "customresourcedefinitions").length;
      expect([manager.health().ready, asked()]).toEqual([true, 1]);
      expect(world.lines.filter(({ message }) => message.startsWith("definitions of kinds cannot be read"))).toHaveLength(1);
      expect(world.lines.filter(({ level }) => level === "warn")).toEqual([]);
      await install(world, gadgets);
      expect(manager.cache.isServed(gadgets)).toBe(false);
      await world.clock.advance(31_000);
      expect([manager.cache.isServed(gadgets), asked()]).toEqual([true, 1]);
      expect(await world.end()).toBe(0);
    },
  );
});

describe("while definitions are watched", () => {
  // by path: the server does not know a missing kind as a resource
  const listsOf = (world: ControllerWorld, plural: string) =>
    world.requests().filter(({ verb, path }) => verb !== "watch" && new RegExp(`/${plural}(\\?|$)`).test(path)).length;

  test("a missing kind is asked for every few minutes only, and definitions are not polled", async () => {
    const { world, manager } = await running();
    await using _world = world;
    const before = [listsOf(world, "gadgets"), listsOf(world, "customresourcedefinitions")];
    await world.clock.advance(250_000);
    expect(before[0]).toBeGreaterThan(0);
    expect([listsOf(world, "gadgets"), listsOf(world, "customresourcedefinitions")]).toEqual(before);
    expect(manager.health().ready).toBe(true);
    await world.clock.advance(500_000);
    expect(listsOf(world, "gadgets")).toBe((before[0] ?? 0) + 1);
    await world.end();
  });

  test("a missing kind that is not required any more is asked for at once, and nothing waits for it", async () => {
    const { world, manager } = await running();
    await using _world = world;
    const unsynced = () => [...manager.cache.health().values()].filter(({ synced }) => !synced).length;
    const use = manager.cache.use({ required: [gadgets], optional: [] });
    await world.clock.advance(700_000);
    expect(unsynced()).toBe(1);
    await use.end();
    await world.clock.advance(10);
    expect(unsynced()).toBe(0);
    await world.end();
  });

  test("a kind whose definitions become unreadable is polled again", async () => {
    const { world, manager } = await running();
    await using _world = world;
    // servers end a watch after 4 to 6 minutes, and the next one is refused
    world.intercept({ resource: "customresourcedefinitions", times: 1_000 }, failWith("forbidden"));
    await world.clock.advance(370_000);
    expect(world.lines.filter(({ message }) => message.startsWith("definitions of kinds cannot be read"))).toHaveLength(1);
    await install(world, gadgets);
    await world.clock.advance(31_000);
    expect(manager.cache.isServed(gadgets)).toBe(true);
    await world.end();
  });
});

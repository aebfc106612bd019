/** Roles and services in a manager on an embedded cluster. */
import { expect, test } from "vitest";
import { expectOk, ok, sleep } from "#base";
import { failWith } from "#embedded-cluster";
import { leases } from "#kube";
import { configMap, configMaps, ControllerWorld, secrets, widget, widgets } from "../../../test/builders/controller-world.ts";
import { RecordedService } from "../../../test/builders/recorded-service.ts";
import { widgetController } from "../../../test/builders/widget-controller.ts";
import { leaseTimesFor } from "../leader/lease.ts";
import { createManager, type ControllerManager } from "../manager.ts";
import { settled } from "../outcome.ts";

const SECRETS = "informer secrets/v1";
/** Definitions are watched too. */
const WITH_DEFINITIONS = 1;
const leaderElection = { namespace: "lattice-system", name: "lattice", times: leaseTimesFor(5_000) };

const detail = (manager: ControllerManager, name: string) => manager.health().details[name];
const lists = (world: ControllerWorld, resource: string) =>
  world.cluster.actions.filter({ verb: "list", resource, user: "lattice" }).length;
const holder = async (world: ControllerWorld) =>
  (await world.object(leases, { namespace: "lattice-system", name: "lattice" }))?.spec?.holderIdentity;

/** Writes nothing, and follows Secrets. */
const secondController = (passes: string[] = []) =>
  widgetController({
    name: "second",
    owns: [],
    reads: [secrets],
    observe: ({ metadata }) => (passes.push(metadata.name), Promise.resolve(ok({ count: 0 }))),
    plan: () => ok({ apply: [], commands: [] }),
    writesStatus: false,
  });

test("a role is started and stopped at run time, and the other controllers go on unchanged", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  let firstPasses = 0;
  const first = widgetController({ observe: ({ spec }) => ((firstPasses += 1), Promise.resolve(ok({ count: spec.count ?? 0 }))) });
  const passes: string[] = [];
  const manager = world.start([first], { roles: [{ name: "cell", controllers: [secondController(passes)] }] });
  await world.clock.advance(1_000);
  const before = firstPasses;
  expect([detail(manager, "role cell"), detail(manager, SECRETS), manager.health().ready]).toEqual(["inactive", undefined, true]);
  expect([manager.cache.list(secrets), manager.cache.isServed(secrets), manager.cache.access(secrets, "shop")]).toEqual([
    [],
    false,
    "not-followed",
  ]);
  expect(() => manager.cache.subscribe(secrets, () => {})).toThrow("no active role of this manager follows secrets/v1");

  manager.setActive("cell", true);
  await world.clock.advance(1_000);
  expect([detail(manager, "role cell"), detail(manager, SECRETS), manager.cache.isServed(secrets)]).toEqual(["running", "watching", true]);
  expect(passes).toEqual(["a"]);
  expect([firstPasses, lists(world, "widgets"), lists(world, "secrets"), world.watches.open]).toEqual([before, 1, 1, WITH_DEFINITIONS + 3]);

  expect(world.metrics.render()).toContain('lattice_informer_healthy{resource="secrets"} 1');

  manager.setActive("cell", false);
  await world.clock.advance(1_000);
  expect([detail(manager, "role cell"), detail(manager, SECRETS), world.watches.open]).toEqual([
    "inactive",
    undefined,
    WITH_DEFINITIONS + 2,
  ]);
  expect(world.metrics.render()).not.toContain('lattice_informer_healthy{resource="secrets"}');
  await world.put(widgets, widget("b", { count: 1 }));
  await world.clock.advance(1_000);
  expect([passes, (await world.ready("b"))?.status]).toEqual([["a"], "True"]);

  manager.setActive("cell", true);
  await world.clock.advance(1_000);
  expect(passes).toEqual(["a", "a", "b"]);
  expect([lists(world, "widgets"), lists(world, "secrets"), manager.health().live]).toEqual([1, 2, true]);
  expect(await world.end()).toBe(0);
  expect(world.watches.open).toBe(0);
});

test("the controllers of a role run after its own kinds were listed, and a missing kind holds up that role alone", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  const missing = world.intercept({ resource: "secrets", times: 1_000 }, failWith("not-found"));
  const [always, cell] = [new RecordedService("always"), new RecordedService("cell", { reads: [secrets] })];
  const passes: string[] = [];
  const manager = world.start([widgetController()], {
    services: [always.service],
    roles: [{ name: "cell", active: true, controllers: [secondController(passes)], services: [cell.service] }],
  });
  await world.clock.advance(10_000);
  expect([passes, always.existing, cell.existing, detail(manager, "role cell")]).toEqual([[], 1, 0, "waits for its kinds"]);
  expect((await world.ready("a"))?.status).toBe("True");
  missing.remove();
  await world.clock.advance(60_000);
  expect([passes[0], always.instances.length, cell.existing, detail(manager, "role cell")]).toEqual(["a", 1, 1, "running"]);
  expect(await world.end()).toBe(0);
});

test("a kind that is optional for one role and required by another is waited for by the other alone", async () => {
  await using world = await ControllerWorld.open();
  const missing = world.intercept({ resource: "secrets", times: 1_000 }, failWith("not-found"));
  const [always, cell] = [new RecordedService("always"), new RecordedService("cell", { reads: [secrets] })];
  const manager = world.start([widgetController({ reads: [secrets], optional: [secrets] })], {
    services: [always.service],
    roles: [{ name: "cell", services: [cell.service] }],
  });
  await world.clock.advance(5_000);
  expect([always.existing, manager.health().ready, manager.cache.isServed(secrets)]).toEqual([1, true, false]);
  manager.setActive("cell", true);
  await world.clock.advance(60_000);
  expect([always.instances.length, cell.existing, detail(manager, "role cell"), manager.health().ready]).toEqual([
    1,
    0,
    "waits for its kinds",
    false,
  ]);
  manager.setActive("cell", false);
  await world.clock.advance(60_000);
  expect([always.existing, detail(manager, "role cell"), manager.health().ready]).toEqual([1, "inactive", true]);
  manager.setActive("cell", true);
  await world.clock.advance(1_000);
  missing.remove();
  await world.clock.advance(60_000);
  expect([cell.existing, manager.health().ready, always.instances.length]).toEqual([1, true, 1]);
  expect(await world.end()).toBe(0);
});

test("a service runs in the leader only, and has ended before the lease is released", async () => {
  await using world = await ControllerWorld.open();
  const [mine, other] = [new RecordedService("listener", { closeMs: 2_000 }), new RecordedService("listener")];
  const leader = world.start([], { services: [mine.service], leaderElection });
  await world.clock.advance(2_000);
  const standby = secondManager(world, other);
  await world.clock.advance(10_000);
  expect([mine.existing, other.existing, detail(standby.manager, "service listener")]).toEqual([1, 0, "stopped"]);
  expect(detail(leader, "service listener")).toBe("running");

  world.stop();
  await world.clock.advance(1_900);
  expect([mine.existing, await holder(world), other.existing]).toEqual([1, "world", 0]);
  await world.clock.advance(1_200);
  expect([mine.existing, await holder(world), other.existing]).toEqual([0, "second", 1]);
  await standby.end();
  expect([other.existing, await world.end()]).toEqual([0, 0]);
});

function secondManager(world: ControllerWorld, { service }: RecordedService) {
  const { client, clock, random, logger, metrics } = world;
  const tracer = { span: () => Promise.reject(new Error("unused")) };
  const shared = { client, clock, random, logger, metrics, tracer, leaderElection };
  const manager = createManager({ ...shared, identity: "second", controllers: [], services: [service] });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  const end = async () => {
    stop.abort();
    await clock.advance(10_000);
    await ended;
  };
  return { manager, end };
}

test("when the lease is lost, a service is stopped at once, cannot write, and is started again in the next term", async () => {
  await using world = await ControllerWorld.open();
  const listener = new RecordedService("listener");
  world.start([], { services: [listener.service], leaderElection });
  await world.clock.advance(1_000);
  const refused = world.intercept({ resource: "leases", times: 1_000 }, failWith("server-error"));
  await world.clock.advance(leaderElection.times.renewDeadlineMs + 1_000);
  const [first] = listener.instances;
  expect([listener.existing, first?.context.signal.aborted]).toEqual([0, true]);
  const late = await first?.context.client.create(configMaps, configMap("late"));
  expect(late).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  refused.remove();
  await world.clock.advance(5_000);
  expect([listener.existing, listener.instances.length]).toEqual([1, 2]);
  expectOk((await listener.instances[1]?.context.client.create(configMaps, configMap("late"))) ?? ok(undefined));
  expect(await world.end()).toBe(0);
  expect(listener.existing).toBe(0);
});

test("work that is left behind by a stopped role cannot write, although the process still leads", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a"));
  const results: unknown[] = [];
  const stuck = widgetController({
    plan: () => ok({ apply: [], commands: ["write"] }),
    perform: async (_command, { clock, client }) => {
      await sleep(clock, 120_000, new AbortController().signal);
      results.push(await client.create(configMaps, configMap("late")));
      return settled;
    },
  });
  const manager = world.start([], { roles: [{ name: "cell", active: true, controllers: [stuck] }] });
  await world.clock.advance(1_000);
  manager.setActive("cell", false);
  await world.clock.advance(30_000);
  expect([detail(manager, "role cell"), manager.health().leading, world.watches.open]).toEqual(["inactive", true, 0]);
  await world.clock.advance(120_000);
  expect(results).toMatchObject([{ ok: false, error: { kind: "cancelled" } }]);
  expect(world.writes()).toEqual([]);
  expect(await world.end()).toBe(0);
});

test("a role that is stopped in the same instant as it was started does not run", async () => {
  await using world = await ControllerWorld.open();
  const service = new RecordedService("cell", { reads: [secrets] });
  const manager = world.start([], { roles: [{ name: "cell", services: [service.service] }] });
  await world.clock.advance(1_000);
  manager.setActive("cell", true);
  manager.setActive("cell", false);
  await world.clock.advance(1_000);
  expect([service.instances.length, detail(manager, "role cell"), world.watches.open]).toEqual([0, "inactive", 0]);
  expect(await world.end()).toBe(0);
});

test("a failing service is visible in health and takes nothing else down", async () => {
  await using world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  const [broken, sound] = [new RecordedService("broken", { failsWith: () => "no free port" }), new RecordedService("sound")];
  const manager = world.start([widgetController()], { services: [broken.service, sound.service] });
  await world.clock.advance(20_000);
  expect(manager.health()).toMatchObject({
    live: true,
    ready: true,
    details: { "service broken": expect.stringMatching(/^failed, \d failures: no free port$/) as string, "service sound": "running" },
  });
  expect([sound.instances.length, (await world.ready("a"))?.status]).toEqual([1, "True"]);
  expect(world.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(await world.end()).toBe(0);
});

test("the last of many calls counts, and a service never has two instances", async () => {
  await using world = await ControllerWorld.open();
  const slow = new RecordedService("slow", { closeMs: 3_000, startMs: 500 });
  const manager = world.start([], { roles: [{ name: "cell", services: [slow.service] }] });
  let most = 0;
  for (let call = 0; call < 40; call += 1) {
    manager.setActive("cell", call % 3 !== 0);
    manager.setActive("cell", call % 2 === 0);
    await world.clock.advance(call * 20);
    most = Math.max(most, slow.existing);
  }
  expect(most).toBe(1);
  manager.setActive("cell", true);
  manager.setActive("cell", true);
  await world.clock.advance(10_000);
  expect([slow.existing, detail(manager, "role cell")]).toEqual([1, "running"]);
  manager.setActive("cell", false);
  expect(await world.end()).toBe(0);
  expect(slow.existing).toBe(0);
  manager.setActive("cell", true);
  await world.clock.advance(10_000);
  expect([slow.existing, world.clock.pending]).toEqual([0, 0]);
});

test("an unknown role, and two parts with one name, are bugs", async () => {
  await using world = await ControllerWorld.open();
  const { service } = new RecordedService("one");
  expect(() => world.start([], { services: [service, service] })).toThrow("two services are called one");
  expect(() => world.start([], { roles: [{ name: "a" }, { name: "a" }] })).toThrow("two roles are called a");
  expect(() => world.start([widgetController()], { roles: [{ name: "a", controllers: [widgetController()] }] })).toThrow(
    "two controllers are called widget",
  );
  const manager = world.start([], { roles: [{ name: "cell" }] });
  expect(() => manager.setActive("cel", true)).toThrow('this manager has no role "cel"');
  await world.end();
});

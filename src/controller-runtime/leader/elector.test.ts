import { expect, test } from "vitest";
import { createLogger, silentLogger, sleep } from "#base";
import { delay, failWith, loseAnswer, type Interceptor } from "#embedded-cluster";
import { leases } from "#kube";
import { configMap, configMaps, ControllerWorld } from "../../../test/builders/controller-world.ts";
import { aborted } from "../signals.ts";
import { LeaderElector, type LeaderElectorOptions } from "./elector.ts";
import type { Fence } from "./fence.ts";
import { fencedClient } from "./fenced-client.ts";
import { leaseTimesFor } from "./lease.ts";

const lease = { namespace: "lattice-system", name: "lattice" };

/** An elector whose term lasts until it is stopped or loses the lease. */
function candidate(world: ControllerWorld, identity: string, more: Partial<LeaderElectorOptions> = {}) {
  const { client, clock, random, metrics } = world;
  const elector = new LeaderElector({ client, clock, random, logger: silentLogger, metrics, identity, lease, ...more });
  const stopping = new AbortController();
  const fences: Fence[] = [];
  const lead = async (fence: Fence) => {
    fences.push(fence);
    await Promise.race([aborted(stopping.signal), aborted(fence.signal)]);
  };
  return { elector, fences, stop: () => stopping.abort(), ended: elector.run(lead, stopping.signal) };
}

const holder = async (world: ControllerWorld) => (await world.object(leases, lease))?.spec?.holderIdentity;

test("the first candidate acquires the lease, renews it, and releases it", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(60_000);
  expect([one.elector.leading, await holder(world), one.fences.length]).toEqual([true, "one", 1]);
  expect(world.metrics.render()).toContain("lattice_leader 1");
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect([one.elector.leading, await holder(world), world.clock.pending]).toEqual([false, "", 0]);
  expect(world.metrics.render()).toContain("lattice_leader 0");
});

test("a candidate that is stopped while its claim has no response releases the lease", async () => {
  await using world = await ControllerWorld.open();
  const late: Interceptor = async (_action, next, { clock, signal }) => {
    const response = await next();
    return (await sleep(clock, 1_000, signal)) ? response : { kind: "broken" };
  };
  world.intercept({ verb: "create", resource: "leases" }, late);
  const one = candidate(world, "one");
  await world.clock.advance(500);
  one.stop();
  await world.clock.advance(2_000);
  await one.ended;
  expect([one.elector.leading, await holder(world), world.clock.pending]).toEqual([false, "", 0]);
});

test("of two that start together one leads", async () => {
  await using world = await ControllerWorld.open();
  const [one, two] = [candidate(world, "one"), candidate(world, "two")];
  await world.clock.advance(60_000);
  expect([one.elector.leading, two.elector.leading].filter(Boolean)).toHaveLength(1);
  one.stop();
  two.stop();
  await world.clock.advance(5_000);
  await Promise.all([one.ended, two.ended]);
});

test("a renewal whose response was lost is recognised", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.intercept({ verb: "update", resource: "leases" }, loseAnswer());
  await world.clock.advance(60_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 1]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a leader of a short lease renews it about every two seconds, and keeps it when one renewal hangs", async () => {
  await using world = await ControllerWorld.open();
  const times = leaseTimesFor(5_000);
  const one = candidate(world, "one", { times });
  await world.clock.advance(100);
  const version = async () => (await world.object(leases, lease))?.metadata.resourceVersion;
  const first = await version();
  await world.clock.advance(1_800);
  expect(await version()).toBe(first);
  await world.clock.advance(300);
  expect(await version()).not.toBe(first);
  world.intercept({ verb: "update", resource: "leases" }, delay(times.renewDeadlineMs));
  await world.clock.advance(30_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 1]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("renewals that fail for the deadline end the term, and the elector competes again", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.intercept({ resource: "leases", times: 20 }, failWith("server-error"));
  await world.clock.advance(12_000);
  expect(one.fences[0]?.signal.aborted).toBe(true);
  await world.clock.advance(60_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 2]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a lease that another candidate acquired, or that was deleted, is lost at once", async () => {
  for (const loss of ["taken", "gone", "gone between"] as const) {
    await using world = await ControllerWorld.open();
    const one = candidate(world, "one");
    await world.clock.advance(1_000);
    const live = await world.object(leases, lease);
    if (loss === "taken" && live !== undefined) await world.put(leases, { ...live, spec: { holderIdentity: "other" } });
    else await world.remove(leases, lease);
    if (loss === "gone between") world.intercept({ verb: "update", resource: "leases" }, failWith("conflict"));
    await world.clock.advance(2_500);
    expect(one.fences[0]?.signal.aborted, loss).toBe(true);
    one.stop();
    await world.clock.advance(20_000);
    await one.ended;
  }
});

test("a conflict whose lease cannot be read is not yet a loss", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.intercept({ verb: "update", resource: "leases" }, failWith("conflict"));
  world.intercept({ verb: "get", resource: "leases" }, failWith("server-error"));
  await world.clock.advance(20_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 1]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a lease is not released while a write has no response: it expires as after a crash", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  const fenced = fencedClient(world.client, one.fences[0] as Fence);
  world.intercept({ resource: "configmaps" }, loseAnswer());
  await fenced.create(configMaps, configMap("a"));
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect(await holder(world)).toBe("one");
});

test("a lease that cannot be released does not block the end", async () => {
  await using world = await ControllerWorld.open();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.intercept({ verb: "update", resource: "leases" }, failWith("server-error"));
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect(await holder(world)).toBe("one");
});

test("a lease that cannot be read or acquired is retried", async () => {
  await using world = await ControllerWorld.open();
  world.intercept({ verb: "get", resource: "leases", times: 2 }, failWith("server-error"));
  world.intercept({ verb: "create", times: 2 }, failWith("server-error"));
  const one = candidate(world, "one");
  await world.clock.advance(3_000);
  expect(one.elector.leading).toBe(false);
  await world.clock.advance(30_000);
  expect(one.elector.leading).toBe(true);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test.each([
  { name: "read", verb: "get" },
  { name: "created", verb: "create" },
] as const)("a lease that may not be $name is tried for again, logged once, and taken when it is allowed", async ({ verb }) => {
  await using world = await ControllerWorld.open();
  const warned: string[] = [];
  const logger = createLogger((level, message) => void (level === "warn" && warned.push(message)));
  let refused = true;
  world.intercept({ verb, resource: "leases", when: () => refused, times: 1_000 }, failWith("forbidden"));
  const one = candidate(world, "one", { logger });
  await world.clock.advance(300_000);
  expect([one.elector.leading, warned.length]).toEqual([false, 1]);
  refused = false;
  await world.clock.advance(20_000);
  expect(one.elector.leading).toBe(true);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a term that ends with an exception still releases the lease", async () => {
  await using world = await ControllerWorld.open();
  const { client, clock, random, metrics } = world;
  const elector = new LeaderElector({ client, clock, random, logger: silentLogger, metrics, identity: "one", lease });
  const running = elector
    .run(() => Promise.reject(new Error("bug")), new AbortController().signal)
    .catch((thrown: unknown) => String(thrown));
  await world.clock.advance(5_000);
  expect([await running, await holder(world), elector.leading]).toEqual(["Error: bug", "", false]);
});

test("a deadline that is not shorter than the lease is a bug", async () => {
  await using world = await ControllerWorld.open();
  const times = { leaseDurationMs: 10, renewDeadlineMs: 10, retryMs: 1 };
  expect(() => new LeaderElector({ ...world, logger: silentLogger, identity: "x", lease, times })).toThrow("before others lose patience");
});

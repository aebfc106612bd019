import { expect, test } from "vitest";
import { createLogger, silentLogger } from "#base";
import { configMap, configMaps, ControllerWorld } from "../../../test/builders/controller-world.ts";
import { aborted } from "../signals.ts";
import { LeaderElector, type LeaderElectorOptions } from "./elector.ts";
import type { Fence } from "./fence.ts";
import { fencedClient } from "./fenced-client.ts";
import { leaseResource } from "./lease.ts";

const lease = { namespace: "lattice-system", name: "lattice" };

/** An elector whose term lasts until it is told to stop or loses the lease. */
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

const holder = (world: ControllerWorld) => world.api.object(leaseResource, lease)?.spec?.holderIdentity;
const leasePut = ({ method, path }: { method: string; path: string }) => method === "PUT" && path.includes("/leases/");

test("the first takes the lease, keeps it, and gives it back", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(60_000);
  expect([one.elector.leading, holder(world), one.fences.length]).toEqual([true, "one", 1]);
  expect(world.metrics.render()).toContain("lattice_leader 1");
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect([one.elector.leading, holder(world), world.clock.pending]).toEqual([false, "", 0]);
  expect(world.metrics.render()).toContain("lattice_leader 0");
});

test("two that start together: one leads", async () => {
  const world = new ControllerWorld();
  const [one, two] = [candidate(world, "one"), candidate(world, "two")];
  await world.clock.advance(60_000);
  expect([one.elector.leading, two.elector.leading].filter(Boolean)).toHaveLength(1);
  one.stop();
  two.stop();
  await world.clock.advance(5_000);
  await Promise.all([one.ended, two.ended]);
});

test("a renewal whose answer was lost is found again", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.api.faults.script({ kind: "lost-answer" }, leasePut);
  await world.clock.advance(60_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 1]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("renewals that fail for the deadline end the term, and the elector competes again", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.api.faults.script({ kind: "answer", code: 500 }, ({ path }) => path.includes("/leases"), 20);
  await world.clock.advance(12_000);
  expect(one.fences[0]?.signal.aborted).toBe(true);
  await world.clock.advance(60_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 2]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a lease that another took, or that is gone, is lost at once", async () => {
  for (const loss of ["taken", "gone", "gone between"] as const) {
    const world = new ControllerWorld();
    const one = candidate(world, "one");
    await world.clock.advance(1_000);
    const live = world.api.object(leaseResource, lease);
    if (loss === "taken" && live !== undefined) world.api.put(leaseResource, { ...live, spec: { holderIdentity: "other" } });
    else world.api.remove(leaseResource, lease);
    if (loss === "gone between") world.api.faults.script({ kind: "answer", code: 409 }, leasePut);
    await world.clock.advance(2_500);
    expect(one.fences[0]?.signal.aborted, loss).toBe(true);
    one.stop();
    await world.clock.advance(20_000);
    await one.ended;
  }
});

test("a conflict that cannot be looked into is no loss yet", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.api.faults.script({ kind: "answer", code: 409 }, leasePut);
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, path }) => method === "GET" && path.includes("/leases/"));
  await world.clock.advance(20_000);
  expect([one.elector.leading, one.fences.length]).toEqual([true, 1]);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
});

test("a lease is not given back while a write has no answer: it runs out as if we had died", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  const fenced = fencedClient(world.client, one.fences[0] as Fence);
  world.api.faults.script({ kind: "lost-answer" }, ({ path }) => path.includes("configmaps"));
  await fenced.create(configMaps, configMap("a"));
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect(holder(world)).toBe("one");
});

test("a lease that cannot be given back is no reason to hang", async () => {
  const world = new ControllerWorld();
  const one = candidate(world, "one");
  await world.clock.advance(1_000);
  world.api.faults.script({ kind: "answer", code: 500 }, leasePut);
  one.stop();
  await world.clock.advance(100);
  await one.ended;
  expect(holder(world)).toBe("one");
});

test("a lease that cannot be read or taken is tried for again", async () => {
  const world = new ControllerWorld();
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method, path }) => method === "GET" && path.includes("/leases/"), 2);
  world.api.faults.script({ kind: "answer", code: 500 }, ({ method }) => method === "POST", 2);
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
  { name: "read", method: "GET" },
  { name: "created", method: "POST" },
])("a lease that may not be $name is tried for again, logged once, and taken when it is allowed", async ({ method }) => {
  const world = new ControllerWorld();
  const warned: string[] = [];
  const logger = createLogger((level, message) => void (level === "warn" && warned.push(message)));
  let refused = true;
  world.api.faults.script(
    { kind: "answer", code: 403 },
    (request) => refused && request.method === method && /leases/.test(request.path),
    1_000,
  );
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

test("a term that ends with an exception still gives the lease back", async () => {
  const world = new ControllerWorld();
  const { client, clock, random, metrics } = world;
  const elector = new LeaderElector({ client, clock, random, logger: silentLogger, metrics, identity: "one", lease });
  const running = elector
    .run(() => Promise.reject(new Error("bug")), new AbortController().signal)
    .catch((thrown: unknown) => String(thrown));
  await world.clock.advance(5_000);
  expect([await running, holder(world), elector.leading]).toEqual(["Error: bug", "", false]);
});

test("a deadline that is not shorter than the lease is a bug", () => {
  const world = new ControllerWorld();
  const times = { leaseDurationMs: 10, renewDeadlineMs: 10, retryMs: 1 };
  expect(() => new LeaderElector({ ...world, logger: silentLogger, identity: "x", lease, times })).toThrow("before others lose patience");
});

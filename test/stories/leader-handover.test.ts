/**
 * Two operators with one lease. When the leader fails in any way, the other takes over in time, and no write of the old leader arrives after
 * the new one has acquired the lease. The request log of the API server proves it.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MetricsRegistry, noTracing, ok, seededRandom, silentLogger, sleep, type FakeClock } from "#base";
import {
  bindController,
  createManager,
  DEFAULT_LEASE_TIMES,
  defineController,
  nothing,
  settled,
  type ControllerManager,
} from "#controller-runtime";
import { failWith, type EmbeddedCluster, type LoggedAction } from "#embedded-cluster";
import { defineResource, type KubeObject } from "#kube";
import { createKubeClient } from "#kube-client";
import { startCluster } from "../builders/api-world.ts";
import { SimulatedProcess } from "../builders/simulated-process.ts";

const LEASE_MS = DEFAULT_LEASE_TIMES.leaseDurationMs;

type Widget = KubeObject & { readonly spec: { readonly beats: boolean } };
const widgets = defineResource<Widget>({ group: "lattice.dev", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
const configMaps = defineResource<KubeObject>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

/**
 * A controller that writes all the time, in long reconciles, and ignores its signal: only the write fence stops it.
 */
const beater = defineController<Widget, null, { readonly write: string }>({
  name: "beater",
  reconciles: widgets,
  owns: [configMaps],
  finalizer: "lattice.dev/beater",
  observe: () => Promise.resolve(ok(null)),
  plan: ({ metadata }) => ok({ ...nothing.value, commands: [{ write: metadata.name }] }),
  perform: async ({ write }, { client, clock }) => {
    for (let beat = 0; beat < 4; beat += 1) {
      const metadata = { name: write, namespace: "shop" };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { at: `${clock.monotonic()} ${beat}` } };
      await client.apply(configMaps, object, { fieldManager: "beater", force: true });
      await sleep(clock, 130, new AbortController().signal);
    }
    return settled;
  },
});

type Replica = {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly manager: ControllerManager;
  readonly stop: () => void;
  readonly ended: Promise<void>;
};

class World {
  readonly cluster: EmbeddedCluster<FakeClock>;
  readonly clock: FakeClock;
  readonly replicas: Replica[] = [];
  readonly #random: () => number;

  private constructor(cluster: EmbeddedCluster<FakeClock>, seed: number) {
    this.cluster = cluster;
    this.clock = cluster.clock;
    this.#random = seededRandom(seed);
  }

  static async open(seed: number): Promise<World> {
    const cluster = await startCluster({ resources: [widgets], namespaces: ["shop", "lattice-system"] });
    for (const name of ["one", "two", "three"]) {
      await cluster.add({ apiVersion: "lattice.dev/v1", kind: "Widget", metadata: { name, namespace: "shop" }, spec: { beats: true } });
    }
    return new World(cluster, seed);
  }

  start(name: string, options: { skewMs?: number; latencyMs?: number } = {}): Replica {
    const process = new SimulatedProcess({ clock: this.clock, random: this.#random, ...options });
    const { clock } = process;
    const random = this.#random;
    const transport = process.transport(this.cluster.transportFor({ name, groups: ["system:masters"] }));
    const client = createKubeClient({ transport, clock, random });
    const manager = createManager({
      client,
      controllers: [bindController(beater, {})],
      clock,
      random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      tracer: noTracing,
      identity: name,
      leaderElection: { namespace: "lattice-system", name: "lattice" },
      limits: { settledMs: 400, drainMs: 3_000, cancelMs: 1_000 },
    });
    const stopping = new AbortController();
    const replica = { name, process, manager, stop: () => stopping.abort(), ended: manager.run(stopping.signal) };
    this.replicas.push(replica);
    return replica;
  }

  async until(done: () => boolean, limitMs: number): Promise<number> {
    const from = this.clock.now();
    while (!done() && this.clock.now() - from < limitMs) await this.clock.advance(100);
    expect(done(), `within ${limitMs} ms`).toBe(true);
    return this.clock.now() - from;
  }

  /** One leads and writes; the other is ready to take over. */
  async pair(options: { skewMs?: number; latencyMs?: number } = {}): Promise<[Replica, Replica]> {
    const old = this.start("old", { latencyMs: options.latencyMs ?? 0 });
    await this.until(() => this.writesOf("old").length > 5, 30_000);
    const young = this.start("young", options);
    await this.clock.advance(10_000);
    expect(young.manager.health()).toMatchObject({ live: true, ready: true, leading: false });
    return [old, young];
  }

  writesOf(name: string): readonly LoggedAction[] {
    return this.cluster.actions.filter({ user: name }).filter(isWrite);
  }

  async end(): Promise<void> {
    for (const { stop } of this.replicas) stop();
    await this.clock.advance(60_000);
    await Promise.all(this.replicas.map(({ ended }) => ended));
    expect(this.clock.pending).toBe(0);
    await this.cluster.close();
  }
}

function isLease(entry: LoggedAction): boolean {
  return entry.resource?.plural === "leases";
}

function isWrite(entry: LoggedAction): boolean {
  return entry.method !== "GET" && isAccepted(entry) && !isLease(entry);
}

function isAccepted({ code = 0 }: LoggedAction): boolean {
  return code >= 200 && code < 300;
}

/** Writes of a process that does not hold the lease. There must be none. */
function strayWrites(log: Iterable<LoggedAction>): readonly LoggedAction[] {
  let holder = "";
  return [...log].filter((entry) => {
    if (isLease(entry) && entry.method !== "GET" && isAccepted(entry)) holder = entry.user.name;
    return isWrite(entry) && entry.user.name !== holder;
  });
}

test("a leader that crashes is replaced within the lease duration", async () => {
  const world = await World.open(1);
  const [old, young] = await world.pair();
  old.process.pause();
  await world.until(() => world.writesOf("young").length > 0, LEASE_MS);
  expect(young.manager.health().leading).toBe(true);
  expect(strayWrites(world.cluster.actions)).toEqual([]);
  await old.process.resume("process stopped");
  await world.end();
});

test("a leader without network stops writing before the other starts", async () => {
  for (const state of ["cut", "answers lost"] as const) {
    const world = await World.open(2);
    const [old] = await world.pair();
    old.process.network(state);
    await world.until(() => world.writesOf("young").length > 0, LEASE_MS);
    expect(old.manager.health().leading).toBe(false);
    const silentFrom = world.writesOf("old").length;
    old.process.network("well");
    await world.clock.advance(30_000);
    expect(world.writesOf("old")).toHaveLength(silentFrom);
    expect(strayWrites(world.cluster.actions)).toEqual([]);
    await world.end();
  }
});

test("a leader that resumes after a pause does not write, whichever of its clocks stood still", async () => {
  for (const how of ["process stopped", "machine asleep"] as const) {
    for (const first of ["timers", "network"] as const) {
      const world = await World.open(3);
      const [old, young] = await world.pair();
      await world.clock.advance(137);
      old.process.pause();
      await world.until(() => world.writesOf("young").length > 0, LEASE_MS);
      const before = world.writesOf("old").length;
      await old.process.resume(how, first);
      await world.clock.advance(30_000);
      expect(world.writesOf("old"), `${how}, ${first} first`).toHaveLength(before);
      expect(young.manager.health().leading).toBe(true);
      expect(old.manager.health()).toMatchObject({ live: true, ready: true, leading: false });
      await world.end();
    }
  }
});

test("a write that the client would retry is not retried after a pause", async () => {
  const world = await World.open(6);
  const [old] = await world.pair();
  world.cluster.intercept(
    { user: "old", verb: "apply", resource: "configmaps", times: 3 },
    failWith("too-many-requests", { retryAfterSeconds: 1 }),
  );
  await world.clock.advance(500);
  old.process.pause();
  await world.until(() => world.writesOf("young").length > 0, LEASE_MS);
  const before = world.writesOf("old").length;
  await old.process.resume("process stopped");
  await world.clock.advance(30_000);
  expect(world.writesOf("old")).toHaveLength(before);
  await world.end();
});

test("a leader that is stopped releases the lease at once", async () => {
  const world = await World.open(4);
  const [old] = await world.pair();
  old.stop();
  const took = await world.until(() => world.writesOf("young").length > 0, 5_000);
  expect(took).toBeLessThan(LEASE_MS / 3);
  await old.ended;
  expect(strayWrites(world.cluster.actions)).toEqual([]);
  await world.end();
});

test("clocks that are minutes apart cause neither an early nor a late handover", async () => {
  for (const skewMs of [-300_000, 300_000]) {
    const world = await World.open(5);
    const [old] = await world.pair({ skewMs });
    const before = world.writesOf("old").length;
    await world.clock.advance(60_000);
    expect(world.writesOf("young")).toEqual([]);
    expect(world.writesOf("old").length).toBeGreaterThan(before);
    old.process.pause();
    await world.until(() => world.writesOf("young").length > 0, LEASE_MS);
    await old.process.resume("process stopped");
    expect(strayWrites(world.cluster.actions)).toEqual([]);
    await world.end();
  }
});

type Trouble = {
  readonly who: 0 | 1;
  readonly what: "pause" | "sleep" | "cut" | "answers lost" | "nothing";
  readonly forMs: number;
  readonly thenMs: number;
};

const trouble: fc.Arbitrary<Trouble> = fc.record({
  who: fc.constantFrom(0 as const, 1 as const),
  what: fc.constantFrom("pause" as const, "sleep" as const, "cut" as const, "answers lost" as const, "nothing" as const),
  forMs: fc.integer({ min: 100, max: 40_000 }),
  thenMs: fc.integer({ min: 100, max: 30_000 }),
});

async function applyTrouble(world: World, { who, what, forMs, thenMs }: Trouble): Promise<void> {
  const { process } = world.replicas[who] as Replica;
  if (what === "pause" || what === "sleep") process.pause();
  if (what === "cut" || what === "answers lost") process.network(what);
  await world.clock.advance(forMs);
  if (what === "pause" || what === "sleep") await process.resume(what === "pause" ? "process stopped" : "machine asleep");
  process.network("well");
  await world.clock.advance(thenMs);
}

test("through any sequence of pauses and partitions, on a slow network, only the holder of the lease writes, and one leads in the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1_000), fc.array(trouble, { minLength: 1, maxLength: 6 }), async (seed, troubles) => {
      const world = await World.open(seed);
      await world.pair({ latencyMs: 800, skewMs: seed * 1_000 });
      for (const next of troubles) await applyTrouble(world, next);
      expect(strayWrites(world.cluster.actions)).toEqual([]);
      world.cluster.actions.clear();
      await world.clock.advance(LEASE_MS + 10_000);
      expect([...world.cluster.actions].some(isWrite)).toBe(true);
      expect(world.replicas.filter(({ manager }) => manager.health().leading)).toHaveLength(1);
      await world.end();
    }),
    { numRuns: 15, seed: 20260101 },
  );
});

import { expect, test } from "vitest";
import { FakeClock, type Clock } from "#base";
import { delay, failWith } from "#embedded-cluster";
import { type CallOptions, type KubeClient } from "#kube-client";
import { configMap, configMaps, ControllerWorld } from "../../../test/builders/controller-world.ts";
import { LeaseFence, readClocks, openFence } from "./fence.ts";
import { fencedClient } from "./fenced-client.ts";

test("a fence holds for the deadline after the last proof, counted from before the request was sent", async () => {
  const clock = new FakeClock();
  const sentAt = readClocks(clock);
  await clock.advance(400);
  const fence = new LeaseFence(clock, 1_000, sentAt);
  expect(fence.remainingMs()).toBe(600);
  await clock.advance(599);
  fence.extend({ monotonic: clock.monotonic() - 100, wall: clock.now() - 100 });
  expect(fence.remainingMs()).toBe(900);
  await clock.advance(900);
  expect([fence.signal.aborted, fence.remainingMs(), clock.pending]).toEqual([true, 0, 0]);
});

test("a fence that has failed never allows writes again", async () => {
  const clock = new FakeClock();
  const fence = new LeaseFence(clock, 1_000, readClocks(clock));
  await clock.advance(1_000);
  fence.extend(readClocks(clock));
  expect(fence.remainingMs()).toBe(0);
});

test("the clock that has advanced further counts", () => {
  const time = { now: 0, monotonic: 0 };
  const clock: Clock = { now: () => time.now, monotonic: () => time.monotonic, after: () => () => {} };
  const asleep = new LeaseFence(clock, 1_000, readClocks(clock));
  time.now = 5_000;
  expect(asleep.remainingMs()).toBe(0);
  const setBack = new LeaseFence(clock, 1_000, readClocks(clock));
  time.now = 0;
  time.monotonic = 300;
  expect(setBack.remainingMs()).toBe(700);
});

test("a timer that fires early does not fail the fence", () => {
  const timers: (() => void)[] = [];
  const time = { monotonic: 0 };
  const clock: Clock = { now: () => 0, monotonic: () => time.monotonic, after: (_ms, fire) => (timers.push(fire), () => {}) };
  const fence = new LeaseFence(clock, 1_000, readClocks(clock));
  time.monotonic = 999.5;
  timers.shift()?.();
  expect([fence.signal.aborted, timers.length]).toEqual([false, 1]);
  time.monotonic = 1_000.5;
  timers.shift()?.();
  expect(fence.signal.aborted).toBe(true);
});

type Call = readonly [string, CallOptions | undefined];

/** Every write method of a client, and the limits of each call. */
function recordingClient() {
  const calls: Call[] = [];
  const answer = { ok: true, value: {} };
  const call =
    (name: string) =>
    (...parameters: unknown[]) => {
      calls.push([name, parameters.at(-1) as CallOptions]);
      return Promise.resolve(answer);
    };
  const names = ["get", "list", "watch", "raw", "close", "create", "update", "apply", "patch", "delete"];
  return { calls, client: Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as KubeClient };
}

async function everyWrite(client: KubeClient, options: CallOptions) {
  const key = { name: "a", namespace: "shop" };
  return [
    await client.create(configMaps, configMap("a"), options),
    await client.update(configMaps, configMap("a"), options),
    await client.apply(configMaps, configMap("a"), { ...options, fieldManager: "f" }),
    await client.patch(configMaps, key, { type: "merge", patch: {} }, options),
    await client.delete(configMaps, key, options),
  ];
}

test("every write has no more time than the proof lasts, and is cancelled at its end", async () => {
  const clock = new FakeClock();
  const fence = new LeaseFence(clock, 8_000, readClocks(clock));
  const { calls, client } = recordingClient();
  const fenced = fencedClient(client, fence);
  await clock.advance(3_000);
  await everyWrite(fenced, {});
  expect(calls.map(([name, limits]) => [name, limits?.timeoutMs])).toEqual(
    ["create", "update", "apply", "patch", "delete"].map((name) => [name, 5_000]),
  );
  await fenced.create(configMaps, configMap("a"), { timeoutMs: 100 });
  expect(calls.at(-1)?.[1]?.timeoutMs).toBe(100);
});

test("every write is refused once the lease cannot be proven, and reads still pass", async () => {
  const clock = new FakeClock();
  const fence = new LeaseFence(clock, 1_000, readClocks(clock));
  const { calls, client } = recordingClient();
  const fenced = fencedClient(client, fence);
  await clock.advance(1_000);
  for (const refused of await everyWrite(fenced, {}))
    expect(refused).toMatchObject({ ok: false, error: { kind: "cancelled", retry: "safe" } });
  expect(calls).toEqual([]);
  await fenced.get(configMaps, { name: "a" });
  await fenced.list(configMaps);
  fenced.watch(configMaps, {}, new AbortController().signal);
  await fenced.raw("/version");
  await fenced.close();
  expect(calls.map(([name]) => name)).toEqual(["get", "list", "watch", "raw", "close"]);
});

test("a write under way is cancelled when the lease is lost, and the fence records that it may still be executed", async () => {
  await using world = await ControllerWorld.open();
  const fence = new LeaseFence(world.clock, 8_000, readClocks(world.clock));
  const fenced = fencedClient(world.client, fence);
  expect((await fenced.create(configMaps, configMap("first"))).ok).toBe(true);
  expect(fence.quiet).toBe(true);
  world.intercept({}, delay(60_000));
  const pending = fenced.create(configMaps, configMap("a"), { signal: new AbortController().signal });
  await world.clock.advance(10);
  expect(fence.quiet).toBe(false);
  fence.fall();
  await world.clock.advance(10);
  expect(await pending).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  expect(fence.quiet).toBe(false);
});

test("after a rejection the result of a write is certain", async () => {
  await using world = await ControllerWorld.open();
  const fence = new LeaseFence(world.clock, 8_000, readClocks(world.clock));
  world.intercept({}, failWith("server-error"));
  await fencedClient(world.client, fence).create(configMaps, configMap("a"));
  expect(fence.quiet).toBe(true);
  fence.fall();
});

test("a retry is checked again before it is sent", async () => {
  await using world = await ControllerWorld.open();
  const fence = new LeaseFence(world.clock, 1_500, readClocks(world.clock));
  world.intercept({}, failWith("too-many-requests", { retryAfterSeconds: 1 }));
  const retried = fencedClient(world.client, fence).create(configMaps, configMap("b"));
  await world.clock.advance(500);
  fence.fall();
  await world.clock.advance(5_000);
  expect(await retried).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  expect(await world.objects(configMaps)).toEqual([]);
});

test("without leader election there is no limit until the end", () => {
  const ending = new AbortController();
  const fence = openFence(ending.signal);
  fence.begin()(undefined);
  expect(fence.remainingMs()).toBe(Number.POSITIVE_INFINITY);
  ending.abort();
  expect(fence.remainingMs()).toBe(0);
});

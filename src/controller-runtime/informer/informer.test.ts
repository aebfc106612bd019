/** The informer on an API server whose requests and watches fail: the state that its users see meanwhile. */
import { afterEach, expect, test } from "vitest";
import { createLogger, FakeClock, MetricsRegistry } from "#base";
import { delay, failWith } from "#embedded-cluster";
import { defineResource, type KubeObject } from "#kube";
import { ApiWorld, withoutManagedFields } from "../../../test/builders/api-world.ts";
import { faultyEvents } from "../../../test/builders/event-faults.ts";
import { Informer, type InformerOptions } from "./informer.ts";

type Thing = KubeObject & { readonly spec?: { readonly size?: number } };
const things = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });

const others = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Other", plural: "others", namespaced: true });

function thing(name: string, size = 1, metadata: Partial<Thing["metadata"]> = {}): Thing {
  return { apiVersion: "example.org/v1", kind: "Thing", metadata: { name, namespace: "shop", ...metadata }, spec: { size } };
}

const stopAll = new Set<() => Promise<void>>();
const worlds = new Set<ApiWorld>();
afterEach(async () => {
  const stops = [...stopAll];
  stopAll.clear();
  for (const stop of stops) await stop();
  for (const world of worlds) await world[Symbol.asyncDispose]();
  worlds.clear();
});

async function setUp(options: Partial<InformerOptions<Thing>> = {}) {
  const retry = { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } };
  const api = await ApiWorld.open({ resources: [things, others], namespaces: ["shop", "bank"], retry });
  worlds.add(api);
  const { client, clock, random } = api;
  const logged: string[] = [];
  const logger = createLogger((level, message, fields) => void logged.push(`${level} ${message} ${JSON.stringify(fields)}`));
  const metrics = new MetricsRegistry();
  const informer = new Informer<Thing>({ client, resource: things, clock, random, logger, metrics, pageSize: 2, ...options });
  const changes: string[] = [];
  informer.subscribe(({ key, before, after }) => changes.push(`${key.name} ${before?.spec?.size ?? "-"}>${after?.spec?.size ?? "-"}`));
  const stop = new AbortController();
  const start = async () => {
    const running = informer.run(stop.signal);
    stopAll.add(async () => {
      stop.abort();
      await running;
      await clock.advance(0);
      expect([clock.pending, api.watches.open]).toEqual([0, 0]);
    });
    await clock.advance(0);
  };
  const requests = () => api.requests().map(({ verb, query }) => (verb === "list" && query.has("continue") ? "page" : verb));
  return { clock, api, informer, changes, start, stop, requests, logged, metrics, client };
}

const remove = (api: ApiWorld, name: string) => api.remove(things, { namespace: "shop", name });

test("it lists in pages, then watches, and reports every change once", async () => {
  const { api, informer, changes, start, requests, clock } = await setUp();
  for (const name of ["a", "b", "c"]) await api.put(things, thing(name));
  await start();
  expect([changes, requests()]).toEqual([
    ["a ->1", "b ->1", "c ->1"],
    ["list", "page", "watch"],
  ]);
  await api.put(things, thing("a", 2));
  await remove(api, "b");
  await api.put(things, thing("d"));
  await clock.advance(0);
  expect(changes.slice(3)).toEqual(["a 1>2", "b 1>-", "d ->1"]);
  expect(informer.list()).toEqual((await api.objects(things)).map(withoutManagedFields));
  expect(informer.get({ namespace: "shop", name: "a" })?.spec?.size).toBe(2);
});

test("synced waits for the first whole list, or for its own signal", async () => {
  const { api, informer, start, clock } = await setUp();
  const stop = new AbortController();
  const [given, waited] = [informer.synced(stop.signal), informer.synced(new AbortController().signal)];
  stop.abort();
  expect([await given, await informer.synced(stop.signal), informer.health().synced]).toEqual([false, false, false]);
  await api.put(things, thing("a"));
  await start();
  await clock.advance(0);
  expect([await waited, await informer.synced(stop.signal)]).toEqual([true, true]);
});

test("subscribers find the whole list in the cache from their first call on", async () => {
  const { api, informer, start } = await setUp();
  for (const name of ["a", "b", "c"]) await api.put(things, thing(name));
  const sizes: number[] = [];
  informer.subscribe(() => sizes.push(informer.list().length));
  await start();
  expect(sizes).toEqual([3, 3, 3]);
});

for (const how of ["end", "break"] as const) {
  test(`a watch that the server drops ("${how}") is resumed where it was, without a list`, async () => {
    const { api, changes, start, requests, clock } = await setUp();
    await start();
    await api.put(things, thing("a"));
    await clock.advance(0);
    if (how === "end") api.watches.end();
    else api.streams.break();
    await api.put(things, thing("b"));
    await clock.advance(5_000);
    expect([changes, requests()]).toEqual([
      ["a ->1", "b ->1"],
      ["list", "watch", "watch"],
    ]);
  });
}

test("after 410 it lists again, and objects that are missing from the list are deleted", async () => {
  const { api, informer, changes, start, requests, clock } = await setUp();
  for (const name of ["a", "b"]) await api.put(things, thing(name));
  await start();
  api.watches.stall();
  await remove(api, "a");
  await api.put(things, thing("b", 2));
  api.cluster.forgetHistory();
  api.watches.end();
  await clock.advance(10_000);
  expect(changes.slice(2)).toEqual(["b 1>2", "a 1>-"]);
  expect(requests()).toEqual(["list", "watch", "watch", "list", "watch"]);
  expect(informer.list()).toEqual((await api.objects(things)).map(withoutManagedFields));
});

test("an expired continue token restarts the list without pages", async () => {
  const { api, informer, start, requests, clock } = await setUp();
  for (const name of ["a", "b", "c"]) await api.put(things, thing(name));
  api.intercept({ when: ({ query }) => query.has("continue") }, failWith("gone"));
  await start();
  await clock.advance(0);
  expect([requests(), informer.list().length]).toEqual([["list", "page", "list", "watch"], 3]);
});

test("a bookmark advances the version to resume from, so that a compaction does not cause a list", async () => {
  const { api, start, requests, clock } = await setUp();
  await start();
  await api.put(others, { ...thing("x"), kind: "Other" });
  api.cluster.forgetHistory();
  await clock.advance(60_000);
  api.watches.end();
  await clock.advance(5_000);
  expect(requests()).toEqual(["list", "watch", "watch"]);
});

test("a watch that exceeds its own time limit is ended and resumed", async () => {
  const { api, changes, start, clock, informer } = await setUp();
  await start();
  api.watches.stall();
  await api.put(things, thing("a"));
  await clock.advance(200_000);
  expect(changes).toEqual([]);
  await clock.advance(180_000);
  expect([changes, informer.health().phase]).toEqual([["a ->1"], "watching"]);
});

test("after an outage it is healthy again even without changes", async () => {
  const { api, informer, start, clock } = await setUp();
  await start();
  api.intercept({ times: 6 }, failWith("network"));
  api.streams.break();
  await clock.advance(25_000);
  expect(informer.health()).toMatchObject({ healthy: false });
  while (informer.health().phase !== "watching") await clock.advance(100);
  expect(informer.health()).toMatchObject({ healthy: false });
  await clock.advance(1_000);
  expect(informer.health()).toMatchObject({ healthy: true, failures: 0, phase: "watching" });
});

test("a watch that the server has not accepted yet is no sign of health", async () => {
  const { api, informer, start, clock } = await setUp();
  await start();
  api.intercept({ times: 6 }, failWith("network"));
  api.streams.break();
  await clock.advance(25_000);
  api.intercept({ verb: "watch", times: 100 }, delay(600_000));
  while (informer.health().phase !== "watching") await clock.advance(100);
  await clock.advance(5_000);
  expect(informer.health()).toMatchObject({ healthy: false, phase: "watching" });
});

test("a server that is down is retried with back-off, and health shows it", async () => {
  const { api, informer, start, clock, metrics, logged } = await setUp();
  api.intercept({ times: 8 }, failWith("network"));
  await start();
  expect(informer.health()).toMatchObject({ phase: "backing-off", failures: 1, synced: false, healthy: false });
  await clock.advance(20_000);
  expect([api.requests().length < 8, informer.health().failures >= 5]).toEqual([true, true]);
  await api.put(things, thing("a"));
  await clock.advance(120_000);
  await api.put(things, thing("a", 2));
  await clock.advance(0);
  expect(informer.health()).toMatchObject({
    phase: "watching",
    failures: 0,
    synced: true,
    healthy: true,
    objects: 1,
    lastEventAt: clock.now(),
  });
  expect(metrics.render()).toContain('lattice_informer_restarts_total{cause="network",resource="things.example.org"} 8');
  expect(metrics.render()).toContain('lattice_informer_healthy{resource="things.example.org"} 1');
  expect(metrics.render()).toContain('lattice_informer_objects{resource="things.example.org"} 1');
  expect(logged[0]).toMatch(/^warn informer starts again .*"cause":"network"/);
});

test("duplicate and outdated events change nothing", async () => {
  const { api, changes, start, clock, informer } = await setUp();
  api.intercept({ verb: "watch", times: 99 }, faultyEvents({ draw: () => (api.random() < 0.5 ? "duplicate" : "rewind") }));
  await start();
  for (const size of [1, 2, 3]) await api.put(things, thing("a", size));
  await remove(api, "a");
  await clock.advance(0);
  expect([changes, informer.list()]).toEqual([["a ->1", "a 1>2", "a 2>3", "a 3>-"], []]);
});

test("an object deleted and created again while no watch was open is one change", async () => {
  const { api, informer, changes, start, clock } = await setUp();
  const uids: (string | undefined)[] = [];
  await api.put(things, thing("a"));
  await start();
  informer.subscribe(({ before, after }) => uids.push(before?.metadata.uid, after?.metadata.uid));
  api.watches.expire();
  await remove(api, "a");
  await api.put(things, thing("a", 9));
  await clock.advance(5_000);
  expect(changes.slice(1)).toEqual(["a 1>9"]);
  expect(new Set(uids).size).toBe(2);
});

test("a subscriber that throws is logged and does not affect others, and one that unsubscribed is not called", async () => {
  const { api, informer, changes, start, clock, logged } = await setUp();
  const leave = informer.subscribe(() => {
    throw new Error("a bug");
  });
  await start();
  await api.put(things, thing("a"));
  await clock.advance(0);
  leave();
  await api.put(things, thing("b"));
  await clock.advance(0);
  expect(changes).toEqual(["a ->1", "b ->1"]);
  expect(logged.filter((line) => line.includes("subscriber met a bug"))).toHaveLength(1);
});

test("an exception in a transform causes a list and does not end the informer", async () => {
  let bad = true;
  const transform = (object: Thing) => {
    if (bad && object.spec?.size === 13) throw new Error("unlucky");
    return object;
  };
  const { api, informer, start, clock, logged } = await setUp({ transform });
  await start();
  await api.put(things, thing("a", 13));
  await clock.advance(0);
  expect(informer.health()).toMatchObject({ phase: "backing-off", objects: 0 });
  bad = false;
  await clock.advance(5_000);
  expect([informer.list().length, logged.some((line) => line.startsWith("error informer met a bug"))]).toEqual([1, true]);
});

test("managedFields are not kept", async () => {
  const clock = new FakeClock();
  const metadata = { name: "a", resourceVersion: "1", managedFields: [{ manager: "kubectl" }] };
  const client = {
    get: () => Promise.reject(new Error("not asked for")),
    list: async () =>
      ({ ok: true, value: { metadata: { resourceVersion: "1" }, items: [{ apiVersion: "v1", kind: "Thing", metadata }] } }) as never,
    async *watch() {},
  };
  const { informer, stop } = await setUp({ client, clock });
  const running = informer.run(stop.signal);
  await informer.synced(stop.signal);
  expect(informer.list()).toEqual([{ apiVersion: "v1", kind: "Thing", metadata: { name: "a", resourceVersion: "1" } }]);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});

test("it contains the objects of its selector, and finds them by namespace and by index", async () => {
  const { api, informer, start, clock } = await setUp({ labelSelector: "app=x" });
  informer.addIndex("size", ({ spec }) => [String(spec?.size)]);
  for (const [name, namespace, app] of [
    ["a", "shop", "x"],
    ["b", "shop", "y"],
    ["c", "bank", "x"],
  ] as const) {
    await api.put(things, thing(name, 1, { namespace, labels: { app } }));
  }
  await start();
  const names = (found: readonly Thing[]) => found.map(({ metadata }) => metadata.name).toSorted();
  expect([names(informer.list()), names(informer.list("shop")), names(informer.list("none"))]).toEqual([["a", "c"], ["a"], []]);
  await api.put(things, thing("a", 2, { labels: { app: "z" } }));
  await api.put(things, thing("b", 1, { labels: { app: "x" } }));
  await clock.advance(0);
  expect([names(informer.byIndex("size", "1")), names(informer.list("shop"))]).toEqual([["b", "c"], ["b"]]);
});

test("stopped during a list, it ends; stopped before it runs, it sends no request; two runs at once are a bug", async () => {
  const { api, informer, start, stop, clock, requests } = await setUp();
  for (const name of ["a", "b", "c"]) await api.put(things, thing(name));
  api.intercept({ when: ({ query }) => query.has("continue") }, delay(1_000));
  await start();
  await expect(informer.run(stop.signal)).rejects.toThrow("runs already");
  stop.abort();
  await clock.advance(0);
  expect([informer.health().phase, informer.list(), requests()]).toEqual(["stopped", [], ["list", "page"]]);
  await informer.run(stop.signal);
  expect(requests()).toEqual(["list", "page"]);
});

test("an optional kind is empty while it is not served, and is noticed when it is served or removed", async () => {
  const { api, informer, changes, start, clock, logged } = await setUp({ optional: true });
  let missing = true;
  api.intercept({ when: () => missing, times: 1_000 }, failWith("not-found"));
  const turns: boolean[] = [];
  const leave = informer.subscribeServed(() => turns.push(informer.served));
  await start();
  expect(await informer.synced(new AbortController().signal)).toBe(true);
  await clock.advance(120_000);
  expect([informer.served, informer.list(), informer.health().healthy, turns]).toEqual([false, [], true, []]);
  expect(logged.filter((line) => line.startsWith("warn"))).toEqual([]);
  missing = false;
  await api.put(things, thing("a"));
  await clock.advance(40_000);
  expect([informer.served, changes, turns]).toEqual([true, ["a ->1"], [true]]);
  missing = true;
  api.watches.end();
  await clock.advance(120_000);
  expect([informer.served, changes.at(-1), turns]).toEqual([false, "a 1>-", [true, false]]);
  leave();
  missing = false;
  await clock.advance(40_000);
  expect([informer.served, turns]).toEqual([true, [true, false]]);
});

test("a missing kind that is not optional is waited for", async () => {
  const { api, informer, start, clock } = await setUp();
  api.intercept({ times: 1_000 }, failWith("not-found"));
  await start();
  await clock.advance(120_000);
  expect([informer.served, informer.health().healthy]).toEqual([false, false]);
});

test("a kind that may be forbidden does not block: it is reported once, retried, and readable when it is allowed", async () => {
  const { api, informer, changes, start, clock, logged } = await setUp({ mayBeForbidden: true, place: "shop" });
  let refused = true;
  api.intercept({ when: () => refused, times: 1_000 }, failWith("forbidden"));
  const turns: boolean[] = [];
  informer.subscribeServed(() => turns.push(informer.forbidden));
  await start();
  expect(await informer.synced(new AbortController().signal)).toBe(true);
  await clock.advance(300_000);
  expect([informer.forbidden, informer.served, informer.health().healthy]).toEqual([true, false, true]);
  expect(informer.health()).toMatchObject({ forbidden: true, synced: true });
  expect(logged.filter((line) => line.startsWith("warn"))).toEqual([expect.stringContaining('"cause":"forbidden"')]);
  refused = false;
  await api.put(things, thing("a"));
  await clock.advance(40_000);
  expect([informer.forbidden, informer.served, changes, turns]).toEqual([false, true, ["a ->1"], [false]]);
});

test("a watch that becomes forbidden keeps the objects, and is reported once", async () => {
  const { api, informer, start, clock, logged } = await setUp({ mayBeForbidden: true });
  await api.put(things, thing("a"));
  await start();
  let refused = true;
  api.intercept({ verb: "watch", when: () => refused, times: 1_000 }, failWith("forbidden"));
  api.watches.end();
  await clock.advance(400_000);
  expect([informer.forbidden, informer.list().length]).toEqual([true, 1]);
  expect(logged.filter((line) => line.startsWith("warn") && line.includes('"cause":"forbidden"'))).toHaveLength(1);
  refused = false;
  await clock.advance(100_000);
  expect(informer.forbidden).toBe(false);
});

test("a kind that may not be forbidden is waited for, and the rejection is logged once", async () => {
  const { api, informer, start, clock, logged } = await setUp();
  api.intercept({ times: 1_000 }, failWith("forbidden"));
  await start();
  await clock.advance(300_000);
  expect([informer.forbidden, informer.health().healthy, informer.health().synced]).toEqual([false, false, false]);
  expect(logged.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

/** The informer against the scripted API, through the real client: what it shows its users when the server misbehaves. */
import { afterEach, expect, test } from "vitest";
import { createLogger, FakeClock, MetricsRegistry, seededRandom } from "#base";
import { defineResource, type KubeObject } from "#kube";
import { createKubeClient } from "#kube-client";
import { ScriptedApi } from "../../../test/builders/scripted-api/index.ts";
import { Informer, type InformerOptions } from "./informer.ts";

type Thing = KubeObject & { readonly spec?: { readonly size?: number } };
const things = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });

function thing(name: string, size = 1, metadata: Partial<Thing["metadata"]> = {}): Thing {
  return { apiVersion: "example.org/v1", kind: "Thing", metadata: { name, namespace: "shop", ...metadata }, spec: { size } };
}

const stopAll = new Set<() => Promise<void>>();
afterEach(async () => {
  const stops = [...stopAll];
  stopAll.clear();
  for (const stop of stops) await stop();
});

function setUp(options: Partial<InformerOptions<Thing>> = {}) {
  const clock = new FakeClock();
  const api = new ScriptedApi({ clock });
  const random = seededRandom(1);
  const logged: string[] = [];
  const logger = createLogger((level, message, fields) => void logged.push(`${level} ${message} ${JSON.stringify(fields)}`));
  const metrics = new MetricsRegistry();
  const client = createKubeClient({
    transport: api.transportFor("informer"),
    clock,
    random,
    retry: { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } },
  });
  const informer = new Informer<Thing>({ client, resource: things, clock, random, logger, metrics, pageSize: 2, ...options });
  const changes: string[] = [];
  informer.subscribe(({ key, before, after }) => changes.push(`${key.name} ${before?.spec?.size ?? "-"}>${after?.spec?.size ?? "-"}`));
  const stop = new AbortController();
  const start = async () => {
    const running = informer.run(stop.signal);
    stopAll.add(async () => {
      stop.abort();
      await running;
      await client.close();
      expect([clock.pending, api.openWatches]).toEqual([0, 0]);
    });
    await clock.advance(0);
  };
  const requests = () => api.log.map(({ path }) => (path.includes("watch=") ? "watch" : path.includes("continue=") ? "page" : "list"));
  return { clock, api, informer, changes, start, stop, requests, logged, metrics, client };
}

const remove = (api: ScriptedApi, name: string) => api.remove(things, { namespace: "shop", name });

test("it lists in pages, then watches, and shows every change once", async () => {
  const { api, informer, changes, start, requests, clock } = setUp();
  for (const name of ["a", "b", "c"]) api.put(things, thing(name));
  await start();
  expect([changes, requests()]).toEqual([
    ["a ->1", "b ->1", "c ->1"],
    ["list", "page", "watch"],
  ]);
  api.put(things, thing("a", 2));
  remove(api, "b");
  api.put(things, thing("d"));
  await clock.advance(0);
  expect(changes.slice(3)).toEqual(["a 1>2", "b 1>-", "d ->1"]);
  expect(informer.list()).toEqual(api.objects(things));
  expect(informer.get({ namespace: "shop", name: "a" })?.spec?.size).toBe(2);
});

test("synced waits for the first whole list, or for its own signal", async () => {
  const { api, informer, start, clock } = setUp();
  const stop = new AbortController();
  const [given, waited] = [informer.synced(stop.signal), informer.synced(new AbortController().signal)];
  stop.abort();
  expect([await given, await informer.synced(stop.signal), informer.health().synced]).toEqual([false, false, false]);
  api.put(things, thing("a"));
  await start();
  await clock.advance(0);
  expect([await waited, await informer.synced(stop.signal)]).toEqual([true, true]);
});

test("subscribers see the whole list in the cache from their first call on", async () => {
  const { api, informer, start } = setUp();
  for (const name of ["a", "b", "c"]) api.put(things, thing(name));
  const sizes: number[] = [];
  informer.subscribe(() => sizes.push(informer.list().length));
  await start();
  expect(sizes).toEqual([3, 3, 3]);
});

for (const how of ["end", "break"] as const) {
  test(`a watch that the server drops ("${how}") is resumed where it was, without a list`, async () => {
    const { api, changes, start, requests, clock } = setUp();
    await start();
    api.put(things, thing("a"));
    await clock.advance(0);
    api.interruptWatches(how);
    api.put(things, thing("b"));
    await clock.advance(5_000);
    expect([changes, requests()]).toEqual([
      ["a ->1", "b ->1"],
      ["list", "watch", "watch"],
    ]);
  });
}

test("after 410 it lists again, and what is missing from the list was deleted", async () => {
  const { api, informer, changes, start, requests, clock } = setUp();
  for (const name of ["a", "b"]) api.put(things, thing(name));
  await start();
  api.interruptWatches("stall");
  remove(api, "a");
  api.put(things, thing("b", 2));
  api.compact();
  api.interruptWatches("end");
  await clock.advance(10_000);
  expect(changes.slice(2)).toEqual(["b 1>2", "a 1>-"]);
  expect(requests()).toEqual(["list", "watch", "watch", "list", "watch"]);
  expect(informer.list()).toEqual(api.objects(things));
});

test("a page whose token has expired starts over with a list in one piece", async () => {
  const { api, informer, start, requests, clock } = setUp();
  for (const name of ["a", "b", "c"]) api.put(things, thing(name));
  api.faults.script({ kind: "answer", code: 410 }, ({ query }) => query.has("continue"));
  await start();
  await clock.advance(0);
  expect([requests(), informer.list().length]).toEqual([["list", "page", "list", "watch"], 3]);
});

test("a bookmark moves the place to resume from, so that a compaction does not cost a list", async () => {
  const { api, start, requests, clock } = setUp();
  const others = { ...things, plural: "others" };
  await start();
  api.put(others, { ...thing("x"), kind: "Other" });
  api.compact();
  api.bookmark(things);
  await clock.advance(0);
  api.interruptWatches("end");
  await clock.advance(5_000);
  expect(requests()).toEqual(["list", "watch", "watch"]);
});

test("a watch that outlives its own time limit is ended and resumed", async () => {
  const { api, changes, start, clock, informer } = setUp();
  await start();
  api.interruptWatches("stall");
  api.put(things, thing("a"));
  await clock.advance(200_000);
  expect(changes).toEqual([]);
  await clock.advance(180_000);
  expect([changes, informer.health().phase]).toEqual([["a ->1"], "watching"]);
});

test("after an outage it is healthy again though nothing changes", async () => {
  const { api, informer, start, clock } = setUp();
  await start();
  api.faults.script({ kind: "unreachable" }, () => true, 6);
  api.interruptWatches("break");
  await clock.advance(25_000);
  expect(informer.health()).toMatchObject({ healthy: false });
  await clock.advance(120_000);
  expect(informer.health()).toMatchObject({ healthy: true, failures: 0, phase: "watching" });
});

test("a server that is down is tried again, ever more slowly, and that can be seen", async () => {
  const { api, informer, start, clock, metrics, logged } = setUp();
  api.faults.script({ kind: "unreachable" }, () => true, 8);
  await start();
  expect(informer.health()).toMatchObject({ phase: "backing-off", failures: 1, synced: false, healthy: false });
  await clock.advance(20_000);
  expect([api.log.length < 8, informer.health().failures >= 5]).toEqual([true, true]);
  api.put(things, thing("a"));
  await clock.advance(120_000);
  api.put(things, thing("a", 2));
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

test("duplicates and an object's past change nothing", async () => {
  const { api, changes, start, clock, informer } = setUp();
  await start();
  api.faults.storm({ events: { duplicate: 0.5, rewind: 0.5 } });
  for (const size of [1, 2, 3]) api.put(things, thing("a", size));
  remove(api, "a");
  await clock.advance(0);
  expect([changes, informer.list()]).toEqual([["a ->1", "a 1>2", "a 2>3", "a 3>-"], []]);
});

test("an object deleted and made again while nobody watched is one change", async () => {
  const { api, informer, changes, start, clock } = setUp();
  const uids: (string | undefined)[] = [];
  api.put(things, thing("a"));
  await start();
  informer.subscribe(({ before, after }) => uids.push(before?.metadata.uid, after?.metadata.uid));
  api.interruptWatches("gone");
  remove(api, "a");
  api.put(things, thing("a", 9));
  await clock.advance(5_000);
  expect(changes.slice(1)).toEqual(["a 1>9"]);
  expect(new Set(uids).size).toBe(2);
});

test("a subscriber that throws is logged and hinders nobody, and one that leaves is not called", async () => {
  const { api, informer, changes, start, clock, logged } = setUp();
  const leave = informer.subscribe(() => {
    throw new Error("a bug");
  });
  await start();
  api.put(things, thing("a"));
  await clock.advance(0);
  leave();
  api.put(things, thing("b"));
  await clock.advance(0);
  expect(changes).toEqual(["a ->1", "b ->1"]);
  expect(logged.filter((line) => line.includes("subscriber met a bug"))).toHaveLength(1);
});

test("a bug in a transform costs a list, not the informer", async () => {
  let bad = true;
  const transform = (object: Thing) => {
    if (bad && object.spec?.size === 13) throw new Error("unlucky");
    return object;
  };
  const { api, informer, start, clock, logged } = setUp({ transform });
  await start();
  api.put(things, thing("a", 13));
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
  const { informer, stop } = setUp({ client, clock });
  const running = informer.run(stop.signal);
  await informer.synced(stop.signal);
  expect(informer.list()).toEqual([{ apiVersion: "v1", kind: "Thing", metadata: { name: "a", resourceVersion: "1" } }]);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});

test("it holds what its selection holds, and finds objects by namespace and by index", async () => {
  const { api, informer, start, clock } = setUp({ labelSelector: "app=x" });
  informer.addIndex("size", ({ spec }) => [String(spec?.size)]);
  for (const [name, namespace, app] of [
    ["a", "shop", "x"],
    ["b", "shop", "y"],
    ["c", "bank", "x"],
  ] as const) {
    api.put(things, thing(name, 1, { namespace, labels: { app } }));
  }
  await start();
  const names = (found: readonly Thing[]) => found.map(({ metadata }) => metadata.name).toSorted();
  expect([names(informer.list()), names(informer.list("shop")), names(informer.list("none"))]).toEqual([["a", "c"], ["a"], []]);
  api.put(things, thing("a", 2, { labels: { app: "z" } }));
  api.put(things, thing("b", 1, { labels: { app: "x" } }));
  await clock.advance(0);
  expect([names(informer.byIndex("size", "1")), names(informer.list("shop"))]).toEqual([["b", "c"], ["b"]]);
});

test("stopped while it lists, it stops; stopped before it runs, it asks nothing; run twice at once is a bug", async () => {
  const { api, informer, start, stop, clock, requests } = setUp();
  for (const name of ["a", "b", "c"]) api.put(things, thing(name));
  api.faults.script({ kind: "delay", ms: 1_000 }, ({ query }) => query.has("continue"));
  await start();
  await expect(informer.run(stop.signal)).rejects.toThrow("runs already");
  stop.abort();
  await clock.advance(0);
  expect([informer.health().phase, informer.list(), requests()]).toEqual(["stopped", [], ["list"]]);
  await informer.run(stop.signal);
  expect(requests()).toEqual(["list"]);
});

test("a kind that a cluster may lack is empty while it is missing, and comes and goes by itself", async () => {
  const { api, informer, changes, start, clock, logged } = setUp({ optional: true });
  let missing = true;
  api.faults.script({ kind: "answer", code: 404 }, () => missing, 1_000);
  const turns: boolean[] = [];
  const leave = informer.subscribeServed(() => turns.push(informer.served));
  await start();
  expect(await informer.synced(new AbortController().signal)).toBe(true);
  await clock.advance(120_000);
  expect([informer.served, informer.list(), informer.health().healthy, turns]).toEqual([false, [], true, []]);
  expect(logged.filter((line) => line.startsWith("warn"))).toEqual([]);
  missing = false;
  api.put(things, thing("a"));
  await clock.advance(40_000);
  expect([informer.served, changes, turns]).toEqual([true, ["a ->1"], [true]]);
  missing = true;
  api.interruptWatches("end");
  await clock.advance(120_000);
  expect([informer.served, changes.at(-1), turns]).toEqual([false, "a 1>-", [true, false]]);
  leave();
  missing = false;
  await clock.advance(40_000);
  expect([informer.served, turns]).toEqual([true, [true, false]]);
});

test("without being optional, a kind that is missing is waited for", async () => {
  const { api, informer, start, clock } = setUp();
  api.faults.script({ kind: "answer", code: 404 }, () => true, 1_000);
  await start();
  await clock.advance(120_000);
  expect([informer.served, informer.health().healthy]).toEqual([false, false]);
});

test("a kind that may be forbidden holds nothing up: it is reported once, asked for again, and readable when it is allowed", async () => {
  const { api, informer, changes, start, clock, logged } = setUp({ mayBeForbidden: true, place: "shop" });
  let refused = true;
  api.faults.script({ kind: "answer", code: 403 }, () => refused, 1_000);
  const turns: boolean[] = [];
  informer.subscribeServed(() => turns.push(informer.forbidden));
  await start();
  expect(await informer.synced(new AbortController().signal)).toBe(true);
  await clock.advance(300_000);
  expect([informer.forbidden, informer.served, informer.health().healthy]).toEqual([true, false, true]);
  expect(informer.health()).toMatchObject({ forbidden: true, synced: true });
  expect(logged.filter((line) => line.startsWith("warn"))).toEqual([expect.stringContaining('"cause":"forbidden"')]);
  refused = false;
  api.put(things, thing("a"));
  await clock.advance(40_000);
  expect([informer.forbidden, informer.served, changes, turns]).toEqual([false, true, ["a ->1"], [false]]);
});

test("a watch that becomes forbidden keeps what was read, and is reported once", async () => {
  const { api, informer, start, clock, logged } = setUp({ mayBeForbidden: true });
  api.put(things, thing("a"));
  await start();
  let refused = true;
  api.faults.script({ kind: "answer", code: 403 }, ({ isWatch }) => refused && isWatch, 1_000);
  api.interruptWatches("end");
  await clock.advance(400_000);
  expect([informer.forbidden, informer.list().length]).toEqual([true, 1]);
  expect(logged.filter((line) => line.startsWith("warn") && line.includes('"cause":"forbidden"'))).toHaveLength(1);
  refused = false;
  await clock.advance(100_000);
  expect(informer.forbidden).toBe(false);
});

test("where nothing may be forbidden, the first list is waited for, and the refusal is logged once", async () => {
  const { api, informer, start, clock, logged } = setUp();
  api.faults.script({ kind: "answer", code: 403 }, () => true, 1_000);
  await start();
  await clock.advance(300_000);
  expect([informer.forbidden, informer.health().healthy, informer.health().synced]).toEqual([false, false, false]);
  expect(logged.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

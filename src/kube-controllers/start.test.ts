/** Start, `idle` and `close`; and behaviour when requests to the API server fail. */
import { afterEach, describe, expect, test } from "vitest";
import { err, expectOk } from "#base";
import { configMaps, customResourceDefinitions, defineResource, metadataOf, namespaces, type KubeObject, type OwnerReference } from "#kube";
import type { KubeClient } from "#kube-client";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "../../test/builders/controlled-cluster.ts";
import { openCrd } from "../../test/builders/open-crd.ts";
import type { KubeController } from "./context.ts";
import { kubeControllers } from "./controllers.ts";
import { garbageCollector } from "./gc/garbage-collector.ts";
import { startKubeControllers } from "./start.ts";
import { done } from "./work.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

async function start(options: ControlledClusterOptions = {}) {
  const cluster = await controlledCluster(options);
  clusters.push(cluster);
  return cluster;
}

const map = (name: string, owners: readonly OwnerReference[] = []): KubeObject => {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", ownerReferences: owners } };
};
const ownedBy = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
});
const key = (name: string) => ({ namespace: "default", name });

describe("the list", () => {
  test("has one entry per controller, and the certificate publisher only with a certificate", async () => {
    const names = kubeControllers().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const all = kubeControllers({ rootCa: "PEM", namespaceGraceMs: 0, terminatedPodThreshold: 5 }).map(({ name }) => name);
    expect(all.filter((name) => !names.includes(name))).toEqual(["root-ca-certificate-publisher-controller"]);
  });

  test("with a duplicate name is rejected", async () => {
    const cluster = await start({ controllers: [] });
    const options = {
      client: cluster.client,
      clock: cluster.clock,
      random: Math.random,
      logger: { ...console, with: () => expect.fail() },
    };
    const started = await startKubeControllers({ ...options, controllers: [garbageCollector], simulation: [garbageCollector] });
    expect(started).toEqual(err("two controllers are called garbage-collector-controller"));
  });

  test("runs together: a namespace is set up, used and deleted, and then nothing is written", async () => {
    const { client, running, writes, advance } = await start({ rootCa: "PEM" });
    expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }));
    await running.idle();
    expect(running.health().ready).toBe(true);
    await client.delete(namespaces, { name: "shop" });
    await advance(5_000);
    expect((await client.get(namespaces, { name: "shop" })).ok).toBe(false);
    const before = writes.length;
    await advance(300_000);
    expect(writes).toHaveLength(before);
  });
});

describe("shared informers", () => {
  test("metadata is taken from another controller's informer of whole objects", async () => {
    const seen: string[] = [];
    const reader: KubeController = {
      name: "reader",
      start: ({ informers, work }) => {
        const whole = informers.of(configMaps);
        expect(informers.metadata(configMaps)).toBe(whole);
        expect(informers.of(metadataOf(namespaces))).toBe(informers.metadata(namespaces));
        informers.subscribe(
          configMaps,
          ({ key: { name, namespace }, before }) =>
            namespace === "default" && void seen.push(`${name} ${before === undefined ? "new" : "old"}`),
        );
        work({
          name: "late",
          pass: () => (
            informers.subscribe(configMaps, ({ key: { name, namespace } }) => namespace === "default" && void seen.push(`late ${name}`)),
            Promise.resolve(done)
          ),
        }).add("once");
      },
    };
    const { running } = await start({
      controllers: [reader],
      before: async (client) => void expectOk(await client.create(configMaps, map("a"))),
    });
    await running.idle();
    expect(seen).toEqual(["a new", "late a"]);
    expect([...running.health().informers.keys()]).toEqual(["configmaps/v1", "namespaces/v1 metadata"]);
  });
});

describe("kinds that are not installed", () => {
  const gadgets = defineResource<KubeObject>({ group: "example.org", version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true });
  const gadget = (name: string): KubeObject => ({ apiVersion: "example.org/v1", kind: "Gadget", metadata: { name, namespace: "default" } });
  const install = async ({ client }: ControlledCluster) =>
    void expectOk(await client.create<KubeObject>(customResourceDefinitions, openCrd(gadgets) as KubeObject));
  const uninstall = ({ client }: ControlledCluster) => client.delete(customResourceDefinitions, { name: "gadgets.example.org" });

  /** Counts the gadgets with every change. */
  const counter = (seen: string[], optional: boolean): KubeController => ({
    name: "counter",
    start: ({ informers, work }) => {
      const informer = optional ? informers.optional(gadgets) : informers.of(gadgets);
      const pass = () => (seen.push(`${informer.served ? "served" : "absent"} ${informer.list().length}`), Promise.resolve(done));
      const queue = work({ name: "counter", pass });
      queue.add("count");
      informer.subscribe(() => queue.add("count"));
      informer.subscribeServed(() => queue.add("count"));
    },
  });

  test("as optional block nothing; their objects arrive when they are installed, vanish and return with them, without a step of the clock", async () => {
    const seen: string[] = [];
    const cluster = await start({ controllers: [counter(seen, true)] });
    await cluster.running.idle();
    expect([seen, cluster.running.health().ready]).toEqual([["absent 0"], true]);
    await cluster.advance(300_000);
    await install(cluster);
    await cluster.running.idle();
    expectOk(await cluster.client.create(gadgets, gadget("g")));
    await cluster.running.idle();
    await uninstall(cluster);
    await cluster.running.idle();
    expect(seen).toEqual(["absent 0", "served 0", "served 1", "served 0", "absent 0"]);
    await cluster.advance(300_000);
    await install(cluster);
    expectOk(await cluster.client.create(gadgets, gadget("g")));
    await cluster.running.idle();
    expect([seen.at(-1), cluster.running.health().ready]).toEqual(["served 1", true]);
  });

  test("as required block only the controllers that need them, until they are installed", async () => {
    const seen: string[] = [];
    const cluster = await start({ controllers: [counter(seen, false), garbageCollector] });
    const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "9c1f2d6e-0000-4000-8000-000000000005" };
    expectOk(await cluster.client.create(configMaps, map("child", [ghost])));
    await cluster.clock.advance(60_000);
    expect([(await cluster.client.get(configMaps, key("child"))).ok, seen, cluster.running.health().ready]).toEqual([false, [], false]);
    await install(cluster);
    await cluster.running.idle();
    expect([seen, cluster.running.health().ready]).toEqual([["served 0"], true]);
  });

  test("that only seem to be removed do not make the garbage collector delete dependents of their objects", async () => {
    let missing = false;
    const absent = err({ kind: "not-found", message: "the server could not find the requested resource" } as const);
    const { between, breakWatches } = fragile();
    const seen: string[] = [];
    const cluster = await start({
      controllers: [counter(seen, true), garbageCollector],
      before: async (client) => void expectOk(await client.create<KubeObject>(customResourceDefinitions, openCrd(gadgets) as KubeObject)),
      between: (server) => {
        const inner = between(server);
        const isHidden = ({ plural }: { readonly plural: string }) => missing && plural === "gadgets";
        return {
          ...inner,
          list: (resource, ...call) => (isHidden(resource) ? Promise.resolve(absent) : inner.list(resource, ...call)),
          async *watch(resource, query, signal) {
            if (isHidden(resource)) yield absent;
            else yield* inner.watch(resource, query, signal);
          },
        };
      },
    });
    await cluster.running.idle();
    const owner = expectOk(await cluster.client.create(gadgets, gadget("g")));
    expectOk(await cluster.client.create(configMaps, map("child", [ownedBy(owner)])));
    await cluster.running.idle();
    missing = true;
    breakWatches();
    await cluster.clock.advance(60_000);
    expect([seen.at(-1), (await cluster.client.get(configMaps, key("child"))).ok]).toEqual(["absent 0", true]);
    missing = false;
    await cluster.clock.advance(60_000);
    expect([seen.at(-1), (await cluster.client.get(configMaps, key("child"))).ok]).toEqual(["served 1", true]);
  });
});

/** A server that fails on request. */
function fragile() {
  const state = { down: false, conflicts: 0, watches: new Set<AbortController>() };
  const refused = Promise.resolve(err({ kind: "network", message: "connection refused" } as const));
  const between = (inner: KubeClient): KubeClient => ({
    ...inner,
    list: (...call) => (state.down ? refused : inner.list(...call)),
    get: (...call) => (state.down ? refused : inner.get(...call)),
    raw: (...call) => (state.down ? refused : inner.raw(...call)),
    async *watch(resource, query, signal) {
      if (state.down) return void (yield await refused);
      const cut = new AbortController();
      state.watches.add(cut);
      for await (const item of inner.watch(resource, query, AbortSignal.any([signal, cut.signal]))) yield item;
      state.watches.delete(cut);
      if (cut.signal.aborted && !signal.aborted) yield await refused;
    },
    delete: (resource, at, options) => {
      if (state.down) return refused;
      if (state.conflicts <= 0) return inner.delete(resource, at, options);
      state.conflicts -= 1;
      return Promise.resolve(err({ kind: "conflict", message: "the ResourceVersion in the precondition does not match" } as const));
    },
  });
  const breakWatches = () => {
    for (const cut of state.watches) cut.abort();
  };
  return { state, between, breakWatches };
}

describe("when requests fail", () => {
  test("changes during an outage are processed afterwards", async () => {
    const { state, between, breakWatches } = fragile();
    const { client, running, advance, clock } = await start({ controllers: [garbageCollector], between });
    await running.idle();
    const owner = expectOk(await client.create(configMaps, map("owner")));
    expectOk(await client.create(configMaps, map("child", [ownedBy(owner)])));
    await running.idle();
    state.down = true;
    breakWatches();
    await client.delete(configMaps, key("owner"));
    await clock.advance(120_000);
    expect([(await client.get(configMaps, key("child"))).ok, running.health().ready]).toEqual([true, false]);
    state.down = false;
    await clock.advance(60_000);
    await advance(60_000);
    expect((await client.get(configMaps, key("child"))).ok).toBe(false);
  });

  test("a server that is not up yet is waited for", async () => {
    const { state, between } = fragile();
    state.down = true;
    const { client, running, clock } = await start({ controllers: [garbageCollector], between });
    const idle = running.idle();
    await clock.advance(10_000);
    state.down = false;
    await clock.advance(120_000);
    await idle;
    const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "9c1f2d6e-0000-4000-8000-000000000003" };
    expectOk(await client.create(configMaps, map("child", [ghost])));
    await running.idle();
    expect((await client.get(configMaps, key("child"))).ok).toBe(false);
  });

  test("a conflict without a change of the owners does not stop the garbage collector", async () => {
    const { state, between } = fragile();
    const { client, running } = await start({ controllers: [garbageCollector], between });
    await running.idle();
    const owner = expectOk(await client.create(configMaps, map("owner")));
    expectOk(await client.create(configMaps, map("child", [ownedBy(owner)])));
    await running.idle();
    state.conflicts = 3;
    await client.delete(configMaps, key("owner"));
    await running.idle();
    expect((await client.get(configMaps, key("child"))).ok).toBe(false);
  });

  test("an unknown kind whose list always fails does not block the others", async () => {
    const secrets = defineResource({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });
    const { client, running, clock } = await start({
      controllers: [garbageCollector],
      between: (inner) => ({
        ...inner,
        list: (resource, ...call) =>
          resource.plural === secrets.plural
            ? Promise.resolve(err({ kind: "server-error", message: "conversion failed" }))
            : inner.list(resource, ...call),
      }),
    });
    const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "9c1f2d6e-0000-4000-8000-000000000004" };
    expectOk(await client.create(configMaps, map("child", [ghost])));
    await clock.advance(40_000);
    expect((await client.get(configMaps, key("child"))).ok).toBe(false);
    expect(running.health().ready).toBe(false);
  });
});

test("close ends a pending idle()", async () => {
  const { state, between } = fragile();
  state.down = true;
  const cluster = await controlledCluster({ controllers: [garbageCollector], between });
  const idle = cluster.running.idle();
  expect(await cluster.end()).toBe(0);
  await idle;
});

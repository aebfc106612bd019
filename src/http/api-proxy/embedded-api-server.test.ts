/** Clients of Kubernetes at the proxy, with an embedded API server as the child. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, FakeClock, type Result } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps } from "#kube";
import type { KubeClient } from "#kube-client";
import { proxyKubeconfig, startProxy, type ProxyWorld } from "../../../test/builders/api-proxy.ts";
import { clientOf } from "../../../test/builders/kubeconfig-client.ts";
import { until } from "../../../test/builders/loopback-servers.ts";

const clock = new FakeClock(Date.now());
let cluster: EmbeddedCluster;
let world: ProxyWorld;
let client: KubeClient;

beforeAll(async () => {
  cluster = await startEmbeddedCluster({ clock });
  const { url, certificateAuthority = "" } = await cluster.listen();
  const [token] = /token: \S+/.exec(await cluster.kubeconfig()) ?? [""];
  const authorization = async () => `Bearer ${token.slice("token: ".length).replaceAll('"', "")}`;
  world = await startProxy({ url, ca: certificateAuthority, authorization }, { requestsPerCluster: 1_100 });
  client = await clientOf(proxyKubeconfig(world, "a"));
});
afterAll(async () => {
  await client.close();
  await world.close();
  await cluster.close();
});

const map = (name: string, value = "1") => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { value },
});

test("a client of HTTP/2 creates, reads, changes, lists and deletes objects", async () => {
  const key = { namespace: "default", name: "one" };
  expectOk(await client.create(configMaps, map("one")));
  expect(expectOk(await client.get(configMaps, key)).data).toEqual({ value: "1" });
  expectOk(await client.patch(configMaps, key, { type: "merge", patch: { data: { value: "2" } } }));
  expectOk(await client.apply(configMaps, { ...map("two"), data: { other: "3" } } as never, { fieldManager: "test" }));
  const { items } = expectOk(await client.list(configMaps, { namespace: "default", labelSelector: "!x" }));
  expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(["one", "two"]));
  expect(expectOk(await client.delete(configMaps, key))).toBe(true);
  expect(await client.get(configMaps, key)).toMatchObject({ error: { kind: "not-found" } });
  expect(JSON.parse(expectOk(await client.raw("/version")))).toHaveProperty("gitVersion");
});

test("a list of 20 MB arrives whole", async () => {
  const values = Array.from({ length: 32 }, () => randomBytes(330_000).toString("hex"));
  for (const [at, value] of values.entries()) {
    const metadata = { name: `large-${at}`, namespace: "kube-system" };
    expectOk(await cluster.client.create(configMaps, { ...map("", value), metadata }));
  }
  const { items } = expectOk(await client.list(configMaps, { namespace: "kube-system" }));
  const received = new Map(items.map((item) => [item.metadata.name, item.data?.["value"]]));
  expect(values.every((value, at) => received.get(`large-${at}`) === value)).toBe(true);
  expect(JSON.stringify(items).length).toBeGreaterThan(20_000_000);
  expect(Math.max(...world.pairs.map((pair) => pair.most()))).toBeLessThanOrEqual(5);
});

async function* withoutBookmarks<T>(events: AsyncIterable<Result<{ readonly type: string } & T, unknown>>) {
  for await (const event of events) if (!event.ok || event.value.type !== "BOOKMARK") yield event;
}

test("a watch gets events at once, also after idle time, and its end closes the watch at the API server", async () => {
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const watch = client.watch(configMaps, { namespace: "default", fieldSelector: "metadata.name=seen" }, stop.signal, opened.resolve);
  const events = withoutBookmarks(watch);
  const first = events.next();
  await opened.promise;
  expectOk(await cluster.client.create(configMaps, map("seen")));
  expect((await first).value).toMatchObject({ ok: true, value: { type: "ADDED" } });
  await clock.advance(10_000);
  const second = events.next();
  expectOk(await cluster.client.delete(configMaps, { namespace: "default", name: "seen" }));
  expect((await second).value).toMatchObject({ ok: true, value: { type: "DELETED" } });
  const open = world.openTunnels.size;
  expect(open).toBeGreaterThan(0);
  stop.abort();
  await until(() => world.openTunnels.size === open - 1);
});

test("1,000 concurrent reads are all answered", async () => {
  expectOk(await cluster.client.create(configMaps, map("many")));
  const reads = Array.from({ length: 1_000 }, () => client.get(configMaps, { namespace: "default", name: "many" }));
  expect((await Promise.all(reads)).every(({ ok }) => ok)).toBe(true);
  await until(() => world.openTunnels.size === 0);
});

test("a kubeconfig with another cluster's token is unauthorized", async () => {
  const wrong = await clientOf(proxyKubeconfig(world, "b", "token-of-a"));
  expect(await wrong.get(configMaps, { namespace: "default", name: "x" })).toMatchObject({ error: { kind: "unauthorized" } });
  await wrong.close();
});

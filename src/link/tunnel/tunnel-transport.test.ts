/** A client of a child's API server through tunnels in memory. */
import { expect, onTestFinished, test } from "vitest";
import { err, expectOk, ok, seededRandom, systemClock, type Result } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { configMaps, type ConfigMap } from "#kube";
import { createKubeClient, type KubeClient } from "#kube-client";
import { tunnelledChild, type TunnelledChild } from "../../../test/builders/tunnelled-child.ts";
import { tunnelTransport } from "./tunnel-transport.ts";
import type { OpenTunnel } from "./tunnel-types.ts";

function errorOf<E>(result: Result<unknown, E>): E {
  if (result.ok) throw new Error("succeeded");
  return result.error;
}

const RETRY = { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } };

function clientThrough(openTunnel: OpenTunnel): KubeClient {
  const client = createKubeClient({
    transport: tunnelTransport("prod", openTunnel),
    clock: systemClock,
    random: seededRandom(1),
    retry: RETRY,
  });
  onTestFinished(() => client.close());
  return client;
}

async function open(): Promise<{ readonly child: TunnelledChild; readonly client: KubeClient; readonly direct: KubeClient }> {
  const cluster = await startEmbeddedCluster({ logActions: false });
  const child = await tunnelledChild(cluster);
  onTestFinished(async () => {
    child.close();
    await cluster.close();
  });
  return { child, client: clientThrough(child.openTunnel), direct: cluster.client };
}

const config = (name: string, data: Readonly<Record<string, string>> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});
const at = (name: string) => ({ namespace: "default", name });

test("objects of a child are created, read, changed and deleted", async () => {
  const { client, direct, child } = await open();
  expectOk(await client.create(configMaps, config("a", { text: "grüße" })));
  expect(expectOk(await direct.get(configMaps, at("a"))).data).toEqual({ text: "grüße" });
  expectOk(await client.patch(configMaps, at("a"), { type: "merge", patch: { data: { more: "1" } } }));
  expect(expectOk(await client.get(configMaps, at("a"))).data).toEqual({ text: "grüße", more: "1" });
  expect(errorOf(await client.create(configMaps, config("a"))).kind).toBe("already-exists");
  expect(expectOk(await client.delete(configMaps, at("a")))).toBe(true);
  expect(errorOf(await client.get(configMaps, at("a"))).kind).toBe("not-found");
  await Promise.all(child.open);
});

test("a list of megabytes arrives whole, in small frames", async () => {
  const { client, direct, child } = await open();
  for (let one = 0; one < 8; one += 1) expectOk(await direct.create(configMaps, config(`large-${one}`, { text: "x".repeat(700_000) })));
  const { items } = expectOk(await client.list(configMaps, { namespace: "default" }));
  expect(items.filter(({ data }) => data?.["text"]?.length === 700_000)).toHaveLength(8);
  expect(child.pairs.at(-1)?.most()).toBeLessThan(10);
});

test("a watch reports changes as they come, and ends with its signal", async () => {
  const { client, direct, child } = await open();
  const { metadata } = expectOk(await client.list(configMaps, { namespace: "default" }));
  const stop = new AbortController();
  const seen: string[] = [];
  const { resourceVersion } = metadata;
  const opened = Promise.withResolvers<void>();
  const watching = (async () => {
    const query = { namespace: "default", resourceVersion };
    for await (const event of client.watch(configMaps, query, stop.signal, opened.resolve)) {
      if (!event.ok || event.value.type === "BOOKMARK") continue;
      seen.push(`${event.value.type} ${event.value.object.metadata.name}`);
      if (seen.length === 2) stop.abort();
    }
  })();
  await opened.promise;
  expectOk(await direct.create(configMaps, config("a")));
  expectOk(await direct.delete(configMaps, at("a")));
  await watching;
  expect(seen).toEqual(["ADDED a", "DELETED a"]);
  await Promise.all(child.open);
});

test("a child that is not connected is unavailable", async () => {
  const { client, child } = await open();
  child.setConnected(false);
  expect(errorOf(await client.get(configMaps, at("a")))).toMatchObject({ kind: "unavailable", message: "prod is not connected" });
});

test.each([
  { name: "an agent that opens no tunnel in time", kind: "timeout", want: "timeout" },
  { name: "an agent that refuses the tunnel", kind: "refused", want: "unavailable" },
] as const)("$name is an error that passes", async ({ kind, want }) => {
  const client = clientThrough(() => Promise.resolve(err({ kind, message: "no" })));
  expect(errorOf(await client.get(configMaps, at("a")))).toMatchObject({ kind: want, message: "no" });
});

test("a connection that breaks leaves open whether a write took effect", async () => {
  const { client, child } = await open();
  const writing = clientThrough(async (cluster, signal) => {
    const opened = await child.openTunnel(cluster, signal);
    queueMicrotask(() => child.setConnected(false));
    return opened;
  });
  const error = errorOf(await writing.create(configMaps, config("a")));
  expect(error.kind).toBe("network");
  expect(error.retry).toBeUndefined();
  child.setConnected(true);
  expect(["not-found", undefined]).toContain((await client.get(configMaps, at("a"))).ok ? undefined : "not-found");
});

test("an aborted call, and one of a closed client, are cancelled and end their tunnel", async () => {
  const { client, child } = await open();
  const stop = new AbortController();
  const stalled = clientThrough((_cluster, signal) => {
    const { cell } = stalledPair();
    signal.addEventListener("abort", () => cell.cancel());
    queueMicrotask(() => stop.abort());
    return Promise.resolve(ok(cell));
  });
  expect(errorOf(await stalled.get(configMaps, at("a"), { signal: stop.signal })).kind).toBe("cancelled");
  expect(errorOf(await client.get(configMaps, at("a"), { signal: AbortSignal.abort() })).kind).toBe("cancelled");
  await client.close();
  expect(errorOf(await client.get(configMaps, at("a"))).kind).toBe("cancelled");
  await Promise.all(child.open);
});

test("nothing is sent by a caller that may no longer write", async () => {
  const { client, direct } = await open();
  let asked = 0;
  // allowed when the call begins, and no more when its tunnel is open
  const mayLeave = () => (asked += 1) < 2;
  expect(errorOf(await client.create(configMaps, config("a"), { mayLeave }))).toMatchObject({ kind: "cancelled", retry: "safe" });
  expect(errorOf(await direct.get(configMaps, at("a"))).kind).toBe("not-found");
});

test("a request that no tunnel passes is an error of the caller", async () => {
  const { child } = await open();
  const answer = await tunnelTransport("prod", child.openTunnel).send(
    { method: "GET", path: "http://elsewhere/", headers: {} },
    new AbortController().signal,
  );
  expect(errorOf(answer)).toMatchObject({ kind: "bad-request", retry: "useless" });
});

function stalledPair() {
  const waiting = new Promise<never>(() => {});
  const cancelled = Promise.withResolvers<never>();
  cancelled.promise.catch(() => {});
  return {
    cell: {
      read: { [Symbol.asyncIterator]: () => ({ next: () => cancelled.promise }) },
      write: () => Promise.race([waiting, cancelled.promise]),
      end: () => {},
      cancel: () => cancelled.reject(new Error("cancelled")),
    },
  };
}

import { describe, expect, it } from "vitest";
import { expectOk, seededRandom } from "#base";
import { failWith, resources, startEmbeddedCluster, type AnyObject, type EmbeddedCluster, type FakeClock } from "#embedded-cluster";
import { createKubeClient } from "#kube-client";

const { configmaps, secrets } = resources;
const configMap = (name: string): AnyObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } });

/** A client that watches ConfigMaps, with the received events: names of objects, kinds of errors, and "closed" at the end. */
async function follow(cluster: EmbeddedCluster<FakeClock>, timeoutSeconds?: number) {
  const stop = new AbortController();
  const received: string[] = [];
  const { resourceVersion } = expectOk(await cluster.client.list(configmaps, { namespace: "default" })).metadata;
  const query = { namespace: "default", resourceVersion, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
  const ended = (async () => {
    for await (const item of cluster.client.watch(configmaps, query, stop.signal)) {
      received.push(item.ok ? (item.value.type === "BOOKMARK" ? "bookmark" : item.value.object.metadata.name) : item.error.kind);
    }
    received.push("closed");
  })();
  return { received, ended, stop: () => stop.abort() };
}

async function startCluster() {
  const cluster = await startEmbeddedCluster({ clock: "fake" });
  const create = async (name: string) => {
    await cluster.client.create(configmaps, configMap(name));
    await cluster.clock.advance(0);
  };
  return { cluster, create };
}

describe("interceptWatches", () => {
  it.each([
    { how: "end", want: ["before", "closed"], open: 0 },
    { how: "expire", want: ["before", "gone", "closed"], open: 0 },
    { how: "stall", want: ["before"], open: 1 },
  ] as const)("$how interrupts the watches that are open", async ({ how, want, open }) => {
    const { cluster, create } = await startCluster();
    await using _cluster = cluster;
    const watches = cluster.interceptWatches({ resource: "configmaps" });
    const watch = await follow(cluster);
    await create("before");
    expect([watches.open, watches.calls]).toEqual([1, 1]);
    watches[how]();
    await create("after");
    expect([watch.received, watches.open]).toEqual([want, open]);
    watch.stop();
    await watch.ended;
    expect(watches.open).toBe(0);
  });

  it("a stalled watch outlives its time limit, and can still be ended", async () => {
    const { cluster, create } = await startCluster();
    await using _cluster = cluster;
    using watches = cluster.interceptWatches();
    const watch = await follow(cluster, 5);
    await create("before");
    watches.stall();
    await cluster.clock.advance(60_000);
    expect([watch.received, watches.open]).toEqual([["before"], 1]);
    watches.end();
    await watch.ended;
    expect(watch.received).toEqual(["before", "closed"]);
  });

  it("later watches, other resources and refused watches are not affected", async () => {
    const { cluster, create } = await startCluster();
    await using _cluster = cluster;
    const others = cluster.interceptWatches({ resource: secrets });
    const watches = cluster.interceptWatches({ resource: configmaps });
    watches.end();
    const watch = await follow(cluster);
    await create("seen");
    others.end();
    expect([watch.received, others.open, watches.open]).toEqual([["seen"], 0, 1]);
    watches.end();
    await watch.ended;
    cluster.intercept({ verb: "watch", times: 1 }, failWith("forbidden"));
    const refused = await follow(cluster);
    await refused.ended;
    expect(refused.received).toEqual(["forbidden", "closed"]);
    watches.remove();
    const last = await follow(cluster);
    await cluster.clock.advance(0);
    expect(watches.open).toBe(0);
    last.stop();
    await last.ended;
  });
});

describe("transportFor", () => {
  it("supports a client with its own clock, which retries and is intercepted by its user", async () => {
    const { cluster } = await startCluster();
    await using _cluster = cluster;
    const transport = cluster.transportFor({ name: "operator", groups: ["system:masters"] });
    const client = createKubeClient({ transport, clock: cluster.clock, random: seededRandom(1) });
    const refusal = cluster.intercept({ user: "operator", times: 2 }, failWith("too-many-requests", { retryAfterSeconds: 1 }));
    const created = client.create(configmaps, configMap("a"));
    await cluster.clock.advance(60_000);
    expect(await created).toMatchObject({ ok: true, value: { metadata: { name: "a" } } });
    expect(refusal.calls).toBe(2);
    await client.close();
    expect(() => cluster.transportFor("unknown")).toThrow("unknown");
  });
});

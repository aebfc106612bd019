/** Fields that are written once, and kinds that are watched by metadata only, against an API server. */
import { expect, test } from "vitest";
import { expectOk, MetricsRegistry, silentLogger } from "#base";
import { resources, startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, metadataOf, type KubeObject } from "#kube";
import type { FakeClock } from "#base";
import { InformerSet } from "../cache.ts";
import { ApplyEngine } from "./engine.ts";
import { FIELD_MANAGER, type ApplyOwner } from "../identity.ts";
import { holdsOnce, ONCE_FIELD_MANAGER, withOnce, type WantedObject } from "./once.ts";

const { deployments, configmaps, secrets } = resources;
const template = { metadata: { labels: { app: "api" } }, spec: { containers: [{ name: "main", image: "a:1" }] } };
const deployment = (spec: object = {}): KubeObject => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "api", namespace: "default" },
    spec: { selector: { matchLabels: { app: "api" } }, template, ...spec },
  };
  return object;
};
const ONCE = { spec: { replicas: 3 } };
const KEY = { namespace: "default", name: "api" };

class Bench {
  readonly cluster: EmbeddedCluster<FakeClock>;
  readonly informers: InformerSet;
  readonly owner: ApplyOwner;
  readonly #stop = new AbortController();

  constructor(cluster: EmbeddedCluster<FakeClock>, owner: KubeObject) {
    this.cluster = cluster;
    const { client, clock } = cluster;
    const kinds = [configmaps, deployments, metadataOf(secrets)];
    this.informers = new InformerSet({ client, clock, random: () => 0.5, logger: silentLogger, metrics: new MetricsRegistry() }, kinds);
    this.owner = { controller: "test", object: owner };
    void this.informers.run(this.#stop.signal);
  }

  static async start(): Promise<Bench> {
    const cluster = await startEmbeddedCluster({ clock: "fake" });
    const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", namespace: "default" } };
    return new Bench(cluster, expectOk(await cluster.client.create(configmaps, owner)));
  }

  engine(): ApplyEngine {
    const resourcesOwned = [deployments, metadataOf(secrets)];
    return new ApplyEngine({ client: this.cluster.client, cache: this.informers, ownerResource: configmaps, resources: resourcesOwned });
  }

  async apply(planned: readonly WantedObject[], engine = this.engine()) {
    await this.cluster.clock.advance(100);
    return engine.apply({ owner: this.owner, planned, signal: new AbortController().signal });
  }

  async replicas() {
    const live = expectOk(await this.cluster.client.get(deployments, KEY));
    const owners = (live.metadata.managedFields ?? [])
      .filter((entry) => fieldAt(entry, "fieldsV1", "f:spec", "f:replicas") !== undefined)
      .map((entry) => fieldAt(entry, "manager"));
    return { replicas: fieldAt(live, "spec", "replicas"), owners };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.cluster.close();
  }
}

test("the object is created with them; from then on Lattice does not own them, and they stay as other clients set them", async () => {
  await using bench = await Bench.start();
  expect(await bench.apply([{ object: deployment(), once: ONCE }])).toMatchObject({ created: ["Deployment default/api"] });
  expect(await bench.replicas()).toEqual({ replicas: 3, owners: [ONCE_FIELD_MANAGER] });
  expect(await bench.apply([{ object: deployment(), once: { spec: { replicas: 9 } } }])).toMatchObject({
    unchanged: ["Deployment default/api"],
  });
  const patch = { spec: { replicas: 7 } };
  expectOk(await bench.cluster.client.patch(deployments, KEY, { type: "merge", patch }, { fieldManager: "autoscaler" }));
  const paused = { object: deployment({ minReadySeconds: 5 }), once: ONCE };
  expect(await bench.apply([paused])).toMatchObject({ configured: ["Deployment default/api"] });
  expect(await bench.replicas()).toMatchObject({ replicas: 7 });
});

test("a crash after any step is repaired by the next pass", async () => {
  for (const failing of [2, 3]) {
    await using bench = await Bench.start();
    let writes = 0;
    const fault = bench.cluster.intercept({ verb: "apply", resource: "deployments" }, (_action, next) => {
      writes += 1;
      if (writes === failing) throw new Error("cut off");
      return next();
    });
    const engine = bench.engine();
    const first = await bench.apply([{ object: deployment(), once: ONCE }], engine).catch(() => undefined);
    expect(first?.created ?? []).toEqual([]);
    fault.remove();
    await bench.apply([{ object: deployment(), once: ONCE }]);
    expect(await bench.replicas()).toEqual({ replicas: 3, owners: [ONCE_FIELD_MANAGER] });
  }
});

test("a field that was ours before is handed over with its current value", async () => {
  await using bench = await Bench.start();
  await bench.apply([deployment({ replicas: 5 })]);
  expect(await bench.replicas()).toEqual({ replicas: 5, owners: [FIELD_MANAGER] });
  await bench.apply([{ object: deployment(), once: ONCE }]);
  expect(await bench.replicas()).toEqual({ replicas: 5, owners: [ONCE_FIELD_MANAGER] });
  await bench.apply([deployment({ replicas: 2 })]);
  expect(await bench.replicas()).toMatchObject({ replicas: 2 });
});

test("fields of the object itself have precedence over fields that are written once", () => {
  expect(withOnce(deployment({ replicas: 1 }), ONCE)).toMatchObject({ spec: { replicas: 1 } });
  expect(withOnce(deployment(), { spec: 3, data: { a: "b" } })).toMatchObject({ spec: { selector: {} }, data: { a: "b" } });
  expect(holdsOnce(deployment(), { spec: 3 })).toBe(false);
});

test("a kind that is watched by metadata only is read when it changed, and only then", async () => {
  await using bench = await Bench.start();
  const secret = (value: string): KubeObject => {
    const object = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", namespace: "default" },
      type: "Opaque",
      data: { a: btoa(value) },
    };
    return object;
  };
  const engine = bench.engine();
  const data = async () => fieldAt(expectOk(await bench.cluster.client.get(secrets, { namespace: "default", name: "s" })), "data", "a");
  const readsOf = async (planned: KubeObject, by = engine) => {
    bench.cluster.actions.clear();
    const { created, configured, unchanged } = await bench.apply([planned], by);
    return {
      done: [created, configured, unchanged].map((list) => list.length),
      reads: bench.cluster.actions.filter({ verb: "get" }).length,
    };
  };
  expect(await readsOf(secret("one"))).toEqual({ done: [1, 0, 0], reads: 1 });
  expect(await readsOf(secret("one"))).toEqual({ done: [0, 0, 1], reads: 0 });
  expect(await readsOf(secret("two"))).toEqual({ done: [0, 1, 0], reads: 1 });
  expect(await data()).toBe(btoa("two"));
  expect(await readsOf(secret("two"), bench.engine())).toEqual({ done: [0, 0, 1], reads: 1 });
  const patch = { data: { a: btoa("by hand") } };
  expectOk(await bench.cluster.client.patch(secrets, { namespace: "default", name: "s" }, { type: "merge", patch }));
  expect(await readsOf(secret("two"))).toEqual({ done: [0, 1, 0], reads: 1 });
  expect(await data()).toBe(btoa("two"));
});

import { describe, expect, it } from "vitest";
import { expectOk, FakeClock } from "#base";
import { clusterBuilder, resources, startEmbeddedCluster } from "#embedded-cluster";
import { fileTree } from "../../test/builders/file-tree.ts";

const { configmaps, namespaces, pods } = resources;
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

describe("starting", () => {
  it("one call starts it, the end of the block closes it", async () => {
    await using cluster = await startEmbeddedCluster();
    const answer = await cluster.client.create(configmaps, configMap("a"));
    expect(answer).toMatchObject({ ok: true, value: { metadata: { name: "a", resourceVersion: expect.any(String) } } });
  });

  it("a fake clock does not advance by itself", async () => {
    await using cluster = await startEmbeddedCluster({ clock: "fake" });
    expect(cluster.clock).toBeInstanceOf(FakeClock);
    const before = expectOk(await cluster.client.create(configmaps, configMap("a")));
    await cluster.clock.advance(3_600_000);
    const after = expectOk(await cluster.client.create(configmaps, configMap("b")));
    expect([before, after].map(({ metadata }) => metadata.creationTimestamp)).toEqual(["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"]);
  });

  it("any clock can be given", async () => {
    const clock = new FakeClock(Date.UTC(2030, 0, 1));
    await using cluster = await startEmbeddedCluster({ clock });
    expect(cluster.clock).toBe(clock);
  });

  const uidOf = async (options: { seed?: number }) => {
    await using cluster = await startEmbeddedCluster(options);
    return expectOk(await cluster.client.create(configmaps, configMap("a"))).metadata.uid;
  };

  it("the same seed gives the same uids, another gives others", async () => {
    expect(await uidOf({})).toBe(await uidOf({ seed: 1 }));
    expect(await uidOf({ seed: 2 })).not.toBe(await uidOf({ seed: 1 }));
  });

  it("a data folder keeps objects, and fixtures are not stored again", async () => {
    const dataDir = await fileTree({});
    const options = { dataDir, objects: [configMap("fixture", { a: "1" })] };
    {
      await using first = await startEmbeddedCluster(options);
      await first.client.patch(configmaps, { namespace: "default", name: "fixture" }, { type: "merge", patch: { data: { a: "2" } } });
    }
    await using second = await startEmbeddedCluster(options);
    const kept = expectOk(await second.client.get(configmaps, { namespace: "default", name: "fixture" }));
    expect(kept.data).toEqual({ a: "2" });
  });

  it("a data folder that cannot be opened is an error", async () => {
    const root = await fileTree({ file: "" });
    await expect(startEmbeddedCluster({ dataDir: `${root}/file/x` })).rejects.toThrow(/cannot|not/);
  });

  it("an invalid token file is an error", async () => {
    await expect(startEmbeddedCluster({ tokens: "x" })).rejects.toThrow("the token file: line 1");
  });

  it("close can be called twice, and later calls fail", async () => {
    const cluster = await startEmbeddedCluster();
    await cluster.close();
    await cluster.close();
    expect(await cluster.client.get(namespaces, { name: "default" })).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  });

  it("no timer and no watch is left behind", async () => {
    const cluster = await startEmbeddedCluster({ clock: "fake" });
    const ended = (async () => {
      for await (const _ of cluster.client.watch(pods, {}, new AbortController().signal));
    })();
    await cluster.clock.advance(0);
    expect(cluster.clock.pending).toBeGreaterThan(0);
    await cluster.close();
    await ended;
    expect(cluster.clock.pending).toBe(0);
  });
});

describe("the builder", () => {
  it("is immutable: one base can be used twice", async () => {
    const base = clusterBuilder().withObjects(configMap("base")).withSeed(3).withClock("fake");
    await using one = await base.withObjects(configMap("one")).start();
    await using two = await base.withUsers({ name: "alice" }).start();
    const names = async (cluster: typeof one) =>
      expectOk(await cluster.client.list(configmaps, { namespace: "default" })).items.map((item) => item.metadata.name);
    expect(await names(one)).toEqual(["base", "one"]);
    expect(await names(two)).toEqual(["base"]);
    expect(one.clock).toBeInstanceOf(FakeClock);
  });

  it("has a method for every option", async () => {
    const root = await fileTree({
      "fixtures/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-file\n",
      "crds/widgets.yaml": widgetCrd,
      "data/.keep": "",
    });
    await using cluster = await clusterBuilder()
      .withFixtures(`${root}/fixtures`)
      .withCrds(`${root}/crds`)
      .withOpenApi({ definitions: {} })
      .withIndex(pods, "spec.owner", () => "me")
      .withInterceptor({ verb: "get", name: "ghost" }, () => ({ kind: "broken" }))
      .withControllers(false)
      .withDataDir(`${root}/data`)
      .withListTypePatches()
      .start();
    expect(await cluster.client.get(configmaps, { namespace: "default", name: "from-file" })).toMatchObject({ ok: true });
    expect(await cluster.client.get(configmaps, { namespace: "default", name: "ghost" })).toMatchObject({ error: { kind: "network" } });
    expect(cluster.resource("Widget")).toMatchObject({ group: "example.com", plural: "widgets" });
  });
});

const widgetCrd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

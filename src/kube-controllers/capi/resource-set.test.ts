import { expect, test } from "vitest";
import { expectOk } from "#base";
import { configMaps } from "#kube";
import { conditionOf } from "./objects.ts";
import { provisioned } from "./capi-steps.test-support.ts";
import type { CapiWorld } from "./capi-world.test-support.ts";

const text = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {key: ${value}}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: addons}\n`;

async function withSet(world: CapiWorld, strategy: string): Promise<void> {
  await world.parent.add({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "addons", namespace: "c1" },
    data: { "all.yaml": text("one") },
  });
  await world.parent.add({
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSet",
    metadata: { name: "addons", namespace: "c1" },
    spec: { strategy, clusterSelector: { matchLabels: { addons: "yes" } }, resources: [{ kind: "ConfigMap", name: "addons" }] },
  });
  await world.patch("Cluster", "c1", { metadata: { labels: { addons: "yes" } } });
}

const setting = async (world: CapiWorld) =>
  expectOk(await world.child.client.get(configMaps, { namespace: "default", name: "settings" })).data?.["key"];

test("a ClusterResourceSet is applied once to a matching cluster, and a binding records it", async () => {
  await using world = await provisioned({ workers: 0 });
  await withSet(world, "ApplyOnce");
  await world.live(15_000, 1_000);
  expect(await setting(world)).toBe("one");
  expect(await world.read("ClusterResourceSetBinding", "c1")).toMatchObject({
    spec: {
      clusterName: "c1",
      bindings: [{ clusterResourceSetName: "addons", resources: [{ kind: "ConfigMap", name: "addons", applied: true }] }],
    },
  });
  expect(conditionOf(await world.read("ClusterResourceSet", "addons"), "ResourcesApplied")).toMatchObject({
    status: "True",
    reason: "Applied",
  });
  await world.patch("ConfigMap", "addons", { data: { "all.yaml": text("two") } });
  await world.patch("ClusterResourceSet", "addons", { metadata: { labels: { changed: "yes" } } });
  await world.live(15_000, 1_000);
  expect(await setting(world)).toBe("one");
});

test("with strategy Reconcile a changed source is applied again", async () => {
  await using world = await provisioned({ workers: 0 });
  await withSet(world, "Reconcile");
  await world.live(15_000, 1_000);
  await world.patch("ConfigMap", "addons", { data: { "all.yaml": text("two") } });
  await world.patch("ClusterResourceSet", "addons", { metadata: { labels: { changed: "yes" } } });
  await world.live(15_000, 1_000);
  expect(await setting(world)).toBe("two");
  await world.delete("ClusterResourceSet", "addons");
  await world.until(async () => !(await world.exists("ClusterResourceSet", "addons")));
});

test("a source that is absent or not YAML is named in the condition", async () => {
  await using world = await provisioned({ workers: 0 });
  await withSet(world, "ApplyOnce");
  await world.patch("ClusterResourceSet", "addons", { spec: { resources: [{ kind: "Secret", name: "absent" }] } });
  await world.live(12_000, 2_000);
  expect(conditionOf(await world.read("ClusterResourceSet", "addons"), "ResourcesApplied")).toMatchObject({
    status: "False",
    message: "Secret absent: does not exist",
  });
  await world.patch("ConfigMap", "addons", { data: { "all.yaml": "apiVersion: nowhere.example/v1\nkind: Thing\nmetadata: {name: a}\n" } });
  await world.patch("ClusterResourceSet", "addons", {
    spec: {
      resources: [
        { kind: "ConfigMap", name: "addons" },
        { kind: "Secret", name: "absent" },
      ],
    },
  });
  await world.live(12_000, 2_000);
  expect(conditionOf(await world.read("ClusterResourceSet", "addons"), "ResourcesApplied")?.status).toBe("False");
});

/** One kind in some namespaces: one informer each, one cache for readers. */
import { expect, onTestFinished, test } from "vitest";
import { MetricsRegistry, silentLogger } from "#base";
import { failWith } from "#embedded-cluster";
import { defineResource, type KubeObject, type Resource } from "#kube";
import { ApiWorld } from "../../../test/builders/api-world.ts";
import type { ManagerScope } from "../scope.ts";
import { InformerGroup } from "./informer-group.ts";

const things = defineResource<KubeObject>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });
const fleets = defineResource<KubeObject>({ group: "example.org", version: "v1", kind: "Fleet", plural: "fleets", namespaced: false });
const namespaces = defineResource<KubeObject>({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

async function setUp(resource: Resource, scope: ManagerScope | undefined) {
  const api = await ApiWorld.open({ resources: [things, fleets], namespaces: ["a", "b", "c", "home", "other"] });
  onTestFinished(() => api[Symbol.asyncDispose]());
  const { client, clock, random } = api;
  const group = new InformerGroup({ client, resource, clock, random, logger: silentLogger, metrics: new MetricsRegistry() }, scope);
  group.addIndex("name", ({ metadata }) => [metadata.name]);
  const stop = new AbortController();
  const run = async (during: () => Promise<void>) => {
    const running = group.run(stop.signal);
    await clock.advance(1_000);
    await during();
    stop.abort();
    await clock.advance(1_000);
    await running;
  };
  const put = (namespace: string, name: string) =>
    api.put(things, { apiVersion: "example.org/v1", kind: "Thing", metadata: { name, namespace } });
  return { api, clock, group, put, run, stop };
}

const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).toSorted();

test("of a namespaced kind only the scope is read, one list per namespace, plus the namespaces that are listed for it", async () => {
  const scope = {
    namespaces: ["a", "b"],
    more: [
      { resource: things, namespace: "home" },
      { resource: fleets, namespace: "other" },
    ],
  };
  const { clock, group, put, run, stop } = await setUp(things, scope);
  for (const namespace of ["a", "b", "c", "home", "other"]) await put(namespace, `in-${namespace}`);
  const changes: string[] = [];
  const end = group.subscribe(({ key }) => changes.push(key.name));
  await run(async () => {
    expect(await group.synced(stop.signal)).toBe(true);
    expect(names(group.list())).toEqual(["in-a", "in-b", "in-home"]);
    expect([names(group.list("a")), names(group.list("c"))]).toEqual([["in-a"], []]);
    expect(group.get({ namespace: "b", name: "in-b" })?.metadata.name).toBe("in-b");
    expect(group.get({ namespace: "c", name: "in-c" })).toBeUndefined();
    expect(names(group.byIndex("name", "in-home"))).toEqual(["in-home"]);
    expect([group.access("a"), group.access("home"), group.access("c"), group.served]).toEqual([
      "readable",
      "readable",
      "not-followed",
      true,
    ]);
    expect([...group.health().keys()]).toEqual(["a", "b", "home"]);
    await put("a", "later");
    await clock.advance(1_000);
    end();
    await put("a", "after");
    await clock.advance(1_000);
  });
  expect(changes.toSorted()).toEqual(["in-a", "in-b", "in-home", "later"]);
});

test("a namespace that may not be read is forbidden, and the others are read", async () => {
  const { api, clock, group, put, run, stop } = await setUp(things, { namespaces: ["a", "b"] });
  let refused = true;
  api.intercept({ namespace: "b", when: () => refused, times: 1_000 }, failWith("forbidden"));
  let turns = 0;
  group.subscribeServed(() => (turns += 1));
  await put("a", "in-a");
  await put("b", "in-b");
  await run(async () => {
    expect(await group.synced(stop.signal)).toBe(true);
    expect([group.access("a"), group.access("b"), group.served, names(group.list())]).toEqual(["readable", "forbidden", true, ["in-a"]]);
    refused = false;
    await clock.advance(60_000);
    expect([group.access("b"), turns, names(group.list())]).toEqual(["readable", 1, ["in-a", "in-b"]]);
  });
});

test.each([
  { name: "without a scope a kind is listed once, for the whole cluster", resource: things, scope: undefined, want: [""] },
  { name: "a cluster-scoped kind is listed once", resource: fleets, scope: { namespaces: ["a", "b"] }, want: [""] },
  { name: "Namespaces are requested by name", resource: namespaces, scope: { namespaces: ["a", "b"] }, want: ["a", "b"] },
])("$name", async ({ resource, scope, want }) => {
  const { group } = await setUp(resource, scope);
  expect([...group.health().keys()]).toEqual(want);
  expect(group.access("a")).toBe("readable");
});

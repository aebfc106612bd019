/** Kinds that are added and removed. */
import { afterEach, describe, expect, test } from "vitest";
import { err, expectOk, ok } from "#base";
import { apiServices, customResourceDefinitions, defineResource, isJsonObject, parseJson, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { controlledCluster, type ControlledCluster } from "../../test/builders/controlled-cluster.ts";
import { openCrd } from "../../test/builders/open-crd.ts";
import type { EveryKind } from "./every-kind.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

const leases = defineResource({ group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true });
const lease: KubeObject = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l", namespace: "default" } };

async function start(raw?: (inner: KubeClient) => KubeClient["raw"], between?: (inner: KubeClient) => KubeClient) {
  const seen: string[] = [];
  let kinds: EveryKind | undefined;
  const listen = (everyKind: EveryKind, who: string) =>
    everyKind.subscribe({
      changed: ({ plural }, { before, after }) =>
        plural === "leases" &&
        (after ?? before)?.metadata.namespace === "default" &&
        void seen.push(`${who} ${before === undefined ? "new" : after === undefined ? "gone" : "changed"}`),
      ...(who === "first" ? { forgotten: ({ plural }) => void seen.push(`${who} forgotten ${plural}`) } : {}),
    });
  const cluster = await controlledCluster({
    controllers: [
      { name: "listener", start: (context) => (listen((kinds = context.everyKind()), "first"), expect(context.everyKind()).toBe(kinds)) },
    ],
    ...(raw === undefined ? {} : { between: (inner: KubeClient) => ({ ...inner, raw: raw(inner) }) }),
    ...(between === undefined ? {} : { between }),
  });
  clusters.push(cluster);
  await cluster.running.idle();
  const everyKind = kinds ?? expect.fail();
  return { ...cluster, everyKind, seen, listen };
}

/** An APIService without the label of those that the API server serves itself. */
const aggregated = () => {
  const spec = { group: "metrics.example.org", version: "v1", groupPriorityMinimum: 100, versionPriority: 100 };
  return { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1.metrics.example.org" }, spec };
};

test("every change of every kind reaches all subscribers, also late ones; events are excluded", async () => {
  const { client, running, everyKind, seen, listen } = await start();
  expectOk(await client.create(leases, lease));
  await running.idle();
  listen(everyKind, "late");
  await client.delete(leases, { namespace: "default", name: "l" });
  await running.idle();
  expect(seen).toEqual(["first new", "late new", "first gone", "late gone"]);
  expect(everyKind.syncedInformer(leases)).toBeDefined();
  expect(
    everyKind.syncedInformer(defineResource({ group: "", version: "v1", kind: "Event", plural: "events", namespaced: true })),
  ).toBeUndefined();
  expect(everyKind.find("coordination.k8s.io/v1", "Lease")?.plural).toBe("leases");
});

test("a group whose discovery fails keeps its kinds; the objects of a removed group are forgotten, not deleted", async () => {
  const state: { now: "served" | "down" | "gone" } = { now: "served" };
  const { client, running, everyKind, seen, advance } = await start((inner) => async (path, options) => {
    const answer = await inner.raw(path, options);
    if (state.now === "down" && path === "/apis/coordination.k8s.io/v1") return err({ kind: "unavailable", message: "down" });
    if (state.now !== "gone" || path !== "/apis" || !answer.ok) return answer;
    const { groups } = expectOk(parseJson(answer.value)) as { groups: readonly Json[] };
    return ok(JSON.stringify({ groups: groups.filter((group) => !isJsonObject(group) || group["name"] !== "coordination.k8s.io") }));
  });
  expectOk(await client.create<KubeObject>(apiServices, aggregated()));
  expectOk(await client.create(leases, lease));
  await running.idle();
  state.now = "down";
  await advance(30_000);
  expect([everyKind.syncedInformer(leases) !== undefined, everyKind.find("coordination.k8s.io/v1", "Lease")?.plural]).toEqual([
    true,
    "leases",
  ]);
  expect([...everyKind.discovered.failures.keys()]).toEqual(["coordination.k8s.io/v1"]);
  state.now = "gone";
  await advance(30_000);
  expect([everyKind.syncedInformer(leases), everyKind.find("coordination.k8s.io/v1", "Lease")]).toEqual([undefined, undefined]);
  state.now = "served";
  await advance(30_000);
  // two objects are forgotten: the server has a Lease of its own
  expect(seen).toEqual(["first new", "first forgotten leases", "first forgotten leases", "first new"]);
});

test("a definition that is not served yet is rediscovered soon, and not forever", async () => {
  const definitions = defineResource({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
  });
  let asked = 0;
  const hidden = { now: true };
  const { client, running, everyKind, advance } = await start((inner) => async (path, options) => {
    const answer = await inner.raw(path, options);
    if (path !== "/apis" || !answer.ok) return answer;
    asked += 1;
    const { groups } = expectOk(parseJson(answer.value)) as { groups: readonly Json[] };
    return ok(JSON.stringify({ groups: groups.filter((group) => !hidden.now || !isJsonObject(group) || group["name"] !== "example.org") }));
  });
  const spec = {
    group: "example.org",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.org" },
    spec,
  };
  expectOk(await client.create<KubeObject>(definitions, definition));
  await running.idle();
  const before = asked;
  await advance(5_000);
  expect(asked - before).toBe(6);
  await advance(60_000);
  expect(asked - before).toBeLessThan(15);
  hidden.now = false;
  await advance(30_000);
  expect(everyKind.find("example.org/v1", "Widget")?.plural).toBe("widgets");
});

describe("kinds are noticed at once", () => {
  const gadgets = defineResource<KubeObject>({ group: "example.org", version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true });
  const isKnown = (everyKind: EveryKind) =>
    everyKind.find("example.org/v1", "Gadget") !== undefined && everyKind.syncedInformer(gadgets) !== undefined;
  const install = async (client: KubeClient) =>
    void expectOk(await client.create<KubeObject>(customResourceDefinitions, openCrd(gadgets) as KubeObject));

  test("when a definition is established, removed and established again, without a step of the clock", async () => {
    const { client, running, everyKind } = await start();
    await install(client);
    await running.idle();
    expect(isKnown(everyKind)).toBe(true);
    await client.delete(customResourceDefinitions, { name: "gadgets.example.org" });
    await running.idle();
    expect([isKnown(everyKind), everyKind.find("example.org/v1", "Gadget")]).toEqual([false, undefined]);
    await install(client);
    await running.idle();
    expect(isKnown(everyKind)).toBe(true);
  });

  test("also while the list of another kind fails", async () => {
    const { client, clock, everyKind } = await start(undefined, (inner) => ({
      ...inner,
      list: (resource, ...call) =>
        resource.plural === "broken"
          ? Promise.resolve(err({ kind: "server-error", message: "conversion failed" }))
          : inner.list(resource, ...call),
    }));
    const broken = { ...gadgets, kind: "Broken", plural: "broken" };
    expectOk(await client.create<KubeObject>(customResourceDefinitions, openCrd(broken) as KubeObject));
    await clock.advance(1_000);
    await install(client);
    await clock.advance(100);
    expect(isKnown(everyKind)).toBe(true);
  });

  test("a kind that is still discovered shortly after its definition was removed is asked for again within a second", async () => {
    let stale: string | undefined;
    const { client, running, everyKind, clock } = await start((inner) => async (path, options) => {
      const answer = await inner.raw(path, options);
      if (path === "/apis" && stale !== undefined) return ok(stale);
      return answer;
    });
    await install(client);
    await running.idle();
    stale = expectOk(await client.raw("/apis"));
    await client.delete(customResourceDefinitions, { name: "gadgets.example.org" });
    await clock.advance(200);
    stale = undefined;
    await clock.advance(1_000);
    expect(everyKind.find("example.org/v1", "Gadget")).toBeUndefined();
  });

  test("a changed APIService repeats the discovery", async () => {
    let asked = 0;
    const { client, running } = await start((inner) => (path, options) => {
      if (path === "/apis") asked += 1;
      return inner.raw(path, options);
    });
    const before = asked;
    expectOk(await client.create<KubeObject>(apiServices, aggregated()));
    await running.idle();
    expect(asked).toBeGreaterThan(before);
  });

  test("discovery is repeated every half minute with an aggregated API server, and every ten minutes without one", async () => {
    let asked = 0;
    const { client, running, advance } = await start((inner) => (path, options) => {
      if (path === "/apis") asked += 1;
      return inner.raw(path, options);
    });
    const askedDuring = async (ms: number) => {
      const before = asked;
      await advance(ms);
      return asked - before;
    };
    await install(client);
    await running.idle();
    expect(await askedDuring(590_000)).toBe(0);
    expect(await askedDuring(20_000)).toBe(1);
    expectOk(await client.create<KubeObject>(apiServices, aggregated()));
    await running.idle();
    expect(await askedDuring(300_000)).toBe(10);
  });
});

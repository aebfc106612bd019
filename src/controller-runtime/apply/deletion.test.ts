/** Deletion of an owner's objects in the controller's own order, without owner references. */
import { describe, expect, test } from "vitest";
import { err, expectOk, ok } from "#base";
import { failWith } from "#embedded-cluster";
import { namespaces, type KubeObject } from "#kube";
import type { KubeReader } from "#kube-client";
import {
  capiController,
  capiObject,
  capiWorld,
  CLUSTER_FINALIZER,
  clusters,
  controlPlanes,
  freeCluster,
  holdCluster,
  machineTemplates,
  remaining,
} from "../../../test/builders/capi-controller.ts";
import { configMap, configMaps, widget, widgets, type ControllerWorld } from "../../../test/builders/controller-world.ts";
import { settled, waiting } from "../outcome.ts";
import { outcomeOfDeletion } from "./deletion.ts";
import { Inventory } from "./inventory.ts";

const ALL = [
  "Cluster a",
  "ConfigMap a-addons",
  "DockerMachineTemplate a-control-plane",
  "DockerMachineTemplate a-workers",
  "KubeadmControlPlane a",
];
const a = { namespace: "shop", name: "a" };

async function deployed(more: Parameters<typeof capiController>[0] = {}): Promise<ControllerWorld> {
  const world = await capiWorld();
  await start(world, more);
  return world;
}

async function start(world: ControllerWorld, more: Parameters<typeof capiController>[0] = {}): Promise<void> {
  await world.put(widgets, widget("a"));
  world.start([capiController(more)]);
  await world.clock.advance(1_000);
  await holdCluster(world, "a");
  await world.clock.advance(1_000);
}

const deletions = (world: ControllerWorld) =>
  world
    .requests()
    .filter(({ method, code = 0 }) => method === "DELETE" && code < 300)
    .map(({ path }) => path.replace(/^.*\/v[0-9a-z]+\//, "").replace("namespaces/shop/", ""));

test("a teardown deletes the Cluster, waits until it is gone, then deletes the rest, and performs its commands last", async () => {
  await using world = await deployed();
  expect(await remaining(world)).toEqual(ALL);
  await world.remove(widgets, a);
  await world.clock.advance(60_000);
  expect([await remaining(world), deletions(world)]).toEqual([ALL, ["clusters/a"]]);
  expect(await world.ready("a")).toMatchObject({ status: "False", reason: "TearingDown" });
  expect((await world.ready("a"))?.message).toMatch(
    /^wave 1 of 2: waiting for the deletion of Cluster shop\/a \(deleted at .*; finalizers: cluster\.cluster\.x-k8s\.io\)$/,
  );
  await freeCluster(world, "a");
  await world.clock.advance(1_000);
  expect(deletions(world).at(-1)).toBe("namespaces/a-place");
  expect(deletions(world).slice(1, -1).toSorted()).toEqual([
    "configmaps/a-addons",
    "dockermachinetemplates/a-control-plane",
    "dockermachinetemplates/a-workers",
    "kubeadmcontrolplanes/a",
  ]);
  expect([await remaining(world), await world.widget("a")]).toEqual([[], undefined]);
  expect(await world.end()).toBe(0);
});

test("every deletion has the uid as precondition", async () => {
  await using world = await deployed();
  await freeCluster(world, "a");
  await world.remove(widgets, a);
  await world.clock.advance(1_000);
  const bodies = world.requests().filter(({ method, path }) => method === "DELETE" && !path.endsWith("a-place"));
  expect(bodies).toHaveLength(5);
  for (const { body } of bodies) expect(body).toMatchObject({ preconditions: { uid: expect.any(String) as string } });
  await world.end();
});

test("a finalizer that is never removed is reported with its name, and the teardown continues once it is", async () => {
  await using world = await deployed();
  await world.remove(widgets, a);
  await world.clock.advance(11 * 60_000);
  const ready = await world.ready("a");
  expect(ready).toMatchObject({ status: "False", reason: "DeletionStuck" });
  expect(ready?.message).toContain(`finalizers: ${CLUSTER_FINALIZER}`);
  expect((await world.events()).filter((event) => event.startsWith("Warning DeletionStuck"))).toHaveLength(1);
  const version = (await world.widget("a"))?.metadata.resourceVersion;
  await world.clock.advance(30 * 60_000);
  expect((await world.widget("a"))?.metadata.resourceVersion).toBe(version);
  await freeCluster(world, "a");
  await world.clock.advance(1_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([[], undefined]);
  await world.end();
});

test("an object that another client created again during the teardown stays, also with a copied label", async () => {
  await using world = await deployed();
  const copied = expectOk(await world.cluster.client.get<KubeObject>(clusters, a)).metadata;
  await world.remove(widgets, a);
  await world.clock.advance(1_000);
  await freeCluster(world, "a");
  await world.put(clusters, capiObject(clusters, "a", { labels: copied.labels ?? {}, annotations: copied.annotations ?? {} }), "kubectl");
  await world.clock.advance(20_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([["Cluster a"], undefined]);
  await world.end();
});

test("an object that must not be pruned stays, and is not waited for", async () => {
  await using world = await deployed();
  const patch = { metadata: { annotations: { "lattice.dev/prune": "never" } } };
  expectOk(await world.cluster.client.patch(clusters, a, { type: "merge", patch }));
  await world.remove(widgets, a);
  await world.clock.advance(1_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([["Cluster a"], undefined]);
  await world.end();
});

describe("when requests fail", () => {
  const cases = [
    { name: "conflict", verb: "delete", answer: "conflict" },
    { name: "404 of a deletion", verb: "delete", answer: "not-found" },
    { name: "server error of a deletion", verb: "delete", answer: "server-error" },
    { name: "server error of a list", verb: "list", answer: "server-error" },
    { name: "forbidden list", verb: "list", answer: "forbidden" },
  ] as const;
  test.each(cases)("a $name delays the teardown and changes neither order nor result", async ({ verb, answer }) => {
    await using world = await deployed();
    await freeCluster(world, "a");
    await world.clock.advance(1_000);
    world.intercept({ verb, ...(verb === "list" ? { resource: "clusters" } : {}), times: 2 }, failWith(answer));
    await world.remove(widgets, a);
    await world.clock.advance(60_000);
    expect([await remaining(world), await world.widget("a"), deletions(world)[0], deletions(world).at(-1)]).toEqual([
      [],
      undefined,
      "clusters/a",
      "namespaces/a-place",
    ]);
    await world.end();
  });

  test("an object that changes with every request is deleted by a later pass", async () => {
    await using world = await deployed();
    await freeCluster(world, "a");
    await world.clock.advance(1_000);
    world.intercept({ verb: "delete", resource: "clusters", times: 4 }, failWith("conflict"));
    await world.remove(widgets, a);
    await world.clock.advance(100);
    expect(await world.ready("a")).toMatchObject({
      reason: "TearingDown",
      message: "wave 1 of 2: waiting for the deletion of Cluster shop/a",
    });
    await world.clock.advance(60_000);
    expect(await remaining(world)).toEqual([]);
    await world.end();
  });
});

test("an object that the cache lacks is deleted too", async () => {
  await using world = await capiWorld();
  const watches = world.cluster.interceptWatches({ resource: "dockermachinetemplates" });
  await start(world);
  watches.stall();
  const { labels = {}, annotations = {} } = expectOk(await world.cluster.client.get<KubeObject>(controlPlanes, a)).metadata;
  const late = capiObject(machineTemplates, "a-late", { labels, annotations });
  expectOk(await world.cluster.client.apply(machineTemplates, late, { fieldManager: "lattice" }));
  await freeCluster(world, "a");
  await world.remove(widgets, a);
  await world.clock.advance(1_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([[], undefined]);
  await world.end();
});

test("a plan can delete everything in an order, and its commands wait for that", async () => {
  const performed: string[] = [];
  await using world = await deployed({
    teardown: "by-plan",
    plan: ({ metadata }) =>
      metadata.deletionTimestamp === undefined
        ? ok({ apply: [capiObject(clusters, "a"), configMap("a-addons")], commands: [] })
        : ok({ apply: [], deletes: { order: [["Cluster"], ["ConfigMap"]] }, commands: ["after"] }),
    perform: (command) => {
      performed.push(command);
      return Promise.resolve(performed.length < 2 ? waiting("NotYet", 1_000) : settled);
    },
  });
  await world.remove(widgets, a);
  await world.clock.advance(5_000);
  expect([await remaining(world), performed]).toEqual([["Cluster a", "ConfigMap a-addons"], []]);
  await freeCluster(world, "a");
  await world.clock.advance(5_000);
  expect([await remaining(world), performed, await world.widget("a")]).toEqual([[], ["after", "after"], undefined]);
  await world.end();
});

test("a plan with objects and their deletion is a bug, and deletes nothing", async () => {
  await using world = await deployed({ plan: () => ok({ apply: [configMap("x")], deletes: { order: [] }, commands: [] }) });
  expect(await world.ready("a")).toMatchObject({ reason: "InternalError" });
  await world.end();
});

test("the message names few objects and few finalizers, however many there are", () => {
  const many = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at}`);
  const waitsFor = many(50, "Cluster shop/c").map((object) => ({ object, deletedAt: undefined, finalizers: many(90, "f") }));
  const outcome = outcomeOfDeletion({ wave: 1, waves: 2, waitsFor }, 0);
  expect(outcome).toMatchObject({ kind: "waiting", message: expect.stringContaining("f4 and 85 more) and 47 more") as string });
});

test("a changed owner stops a deletion in this pass", async () => {
  await using world = await deployed();
  await freeCluster(world, "a");
  const stale = { kind: "conflict", message: "the object changed while its objects were being deleted" };
  expect(outcomeOfDeletion("owner-changed", 0)).toEqual({ kind: "failed", cause: stale });
  world.intercept({ verb: "get", resource: "widgets" }, failWith("server-error"));
  world.intercept({ verb: "get", resource: "widgets" }, failWith("not-found"));
  await world.remove(widgets, a);
  await world.clock.advance(60_000);
  expect([await remaining(world), await world.object(namespaces, { name: "a-place" })]).toMatchObject([
    [],
    { metadata: { deletionTimestamp: expect.any(String) as string } },
  ]);
  expect(await world.objects(configMaps)).toEqual([]);
  await world.end();
});

test("a manager that works in some namespaces searches the objects there, and nowhere else", async () => {
  await using world = await capiWorld();
  await world.put(widgets, widget("a"));
  world.start([capiController()], { scope: { namespaces: ["shop"] } });
  await world.clock.advance(1_000);
  await world.remove(widgets, a);
  await world.clock.advance(1_000);
  const searches = world.requests().filter(({ verb, labelSelector }) => verb === "list" && labelSelector !== undefined);
  expect([await remaining(world), new Set(searches.map(({ namespace }) => namespace))]).toEqual([[], new Set(["shop"])]);
  await world.end();
});

test("a list in pages is read to its end, and a kind that is not served has no objects", async () => {
  const owner = { controller: "capi", object: widget("a"), ownerReferences: "none" as const };
  const pages: string[] = [];
  const client: Pick<KubeReader, "list"> = {
    list: (resource, query) => {
      pages.push(`${resource.plural} ${query?.continue ?? "first"}`);
      if (resource.plural !== "clusters") return Promise.resolve(err({ kind: "not-found", message: "the server has no such kind" }));
      const more = query?.continue === undefined ? { continue: "second" } : {};
      return Promise.resolve(ok({ items: [], metadata: { resourceVersion: "1", ...more } }));
    },
  };
  const inventory = new Inventory({ client });
  expect(await inventory.ownedBy(owner, [clusters, machineTemplates, namespaces], new AbortController().signal)).toEqual(ok([]));
  expect(pages).toEqual(["clusters first", "clusters second", "dockermachinetemplates first"]);
});

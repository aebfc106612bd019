/**
 * Kinds that are installed while controllers run, and objects without owner references, on a real API server. The controllers have a clock of their own,
 * which advances by less than the time to their next attempt: a kind is noticed by a watch or not at all.
 */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, FakeClock, MetricsRegistry, noTracing, ok, silentLogger, systemClock } from "#base";
import { bindController, createManager, defineController, type BoundController, type ControllerManager } from "#controller-runtime";
import { configMaps, customResourceDefinitions, defineResource, groupResourceOf, type KubeObject, type Resource } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { startKubeControllers } from "#kube-controllers";
import { openCrd } from "../builders/open-crd.ts";
import { eventually, realPlane, type RealPlane } from "./harness/index.ts";

const kind = (name: string) =>
  defineResource<KubeObject>({
    group: "new.story.lattice.dev",
    version: "v1",
    kind: name,
    plural: `${name.toLowerCase()}s`,
    namespaced: true,
  });
const [gadgets, parts, clusters] = [kind("Gadget"), kind("Part"), kind("Cluster")];

let plane: RealPlane;
let client: KubeClient;
let namespace: string;
const ends: (() => Promise<unknown>)[] = [];

async function connect(): Promise<KubeClient> {
  const config = await loadKubeconfig({ path: plane.kubeconfigPath, env: {}, home: "/", clock: systemClock });
  return createKubeClient({ transport: httpTransport(expectOk(config), { clock: systemClock }), clock: systemClock, random: Math.random });
}

beforeAll(async () => {
  plane = await realPlane({ controllerManager: "absent" });
  client = await connect();
  namespace = await plane.makeNamespace("new-kinds");
}, 120_000);

afterAll(async () => {
  for (const end of ends) await end();
  await client.close();
  await plane.stop();
}, 60_000);

const install = async (resource: Resource) =>
  void expectOk(await client.create<KubeObject>(customResourceDefinitions, openCrd(resource) as KubeObject));

const object = ({ kind, group, version }: Resource, name: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name, namespace, ...metadata },
});

/** The object, as soon as the server serves its kind. */
const create = (resource: Resource, value: KubeObject) =>
  eventually(`${resource.kind} can be created`, async () => {
    const made = await client.create<KubeObject>(resource, value);
    return made.ok ? made.value : undefined;
  });

/** Runs a manager with its own clock. */
async function manage(
  controllers: readonly BoundController[],
): Promise<{ readonly manager: ControllerManager; readonly clock: FakeClock }> {
  const [clock, own, stop] = [new FakeClock(), await connect(), new AbortController()];
  const metrics = new MetricsRegistry();
  const options = { clock, random: () => 1, logger: silentLogger, metrics, tracer: noTracing, identity: "story" };
  const manager = createManager({ client: own, controllers, ...options });
  const running = manager.run(stop.signal);
  ends.push(async () => {
    stop.abort();
    await clock.advance(60_000);
    await running;
    await own.close();
  });
  return { manager, clock };
}

/** Advances the clock in small steps, while the server answers in real time. */
const STEPS = 50;
/** An attempt that began has its answer by then; a later answer makes the wait longer, and nothing else. */
const ANSWER_MS = 300;
function stepped<T>(what: string, clock: FakeClock, check: () => Promise<T | undefined>, stepMs = 100): Promise<T> {
  let left = STEPS;
  return eventually(what, async () => {
    if (left > 0) await clock.advance(stepMs);
    left -= 1;
    return check();
  });
}

/** For `stepped`: undefined is "not yet". */
const when = (holds: boolean) => (holds ? true : undefined);

test("a controller gets an optional kind when its definition is established, and loses it when that is deleted", async () => {
  const controller = defineController<KubeObject, number, never>({
    name: "reader",
    reconciles: configMaps,
    reads: [gadgets],
    optional: [gadgets],
    writesStatus: false,
    observe: (_map, { cache }) => Promise.resolve(ok(cache.list(gadgets).length)),
    plan: () => ok({ apply: [], commands: [] }),
  });
  const { manager, clock } = await manage([bindController(controller, {})]);
  const failures = () =>
    Number(/, (\d+) failures/.exec(manager.health().details[`informer ${groupResourceOf(gadgets)}/v1`] ?? "")?.[1] ?? 0);
  // a minute without another attempt: definitions are watched, and it waits for them
  const stays = async () => {
    const before = failures();
    await clock.advance(60_000);
    await wait(ANSWER_MS);
    return when(before > 0 && failures() === before);
  };
  await stepped("the next attempt is minutes away", clock, stays);
  expect([manager.health().ready, manager.cache.isServed(gadgets)]).toEqual([true, false]);
  await install(gadgets);
  await create(gadgets, object(gadgets, "g"));
  await stepped("the object is cached", clock, () => Promise.resolve(when(manager.cache.list(gadgets).length === 1)));
  expectOk(await client.delete(customResourceDefinitions, { name: groupResourceOf(gadgets) }));
  await stepped("the kind is gone", clock, () => Promise.resolve(when(!manager.cache.isServed(gadgets))));
  expect(manager.cache.list(gadgets)).toEqual([]);
}, 120_000);

test("an object of a kind that was just installed is garbage collected", async () => {
  const [clock, own] = [new FakeClock(), await connect()];
  const running = expectOk(await startKubeControllers({ client: own, clock, random: () => 1, logger: silentLogger }));
  ends.push(async () => {
    await running.close();
    await own.close();
  });
  await stepped("the controllers are ready", clock, () => Promise.resolve(when(running.health().ready)));
  await install(parts);
  const owner = await create(parts, object(parts, "owner"));
  const reference = { apiVersion: owner.apiVersion, kind: owner.kind, name: "owner", uid: owner.metadata.uid ?? "" };
  await create(parts, object(parts, "dependent", { ownerReferences: [reference] }));
  expectOk(await client.delete(parts, { namespace, name: "owner" }));
  await stepped("the dependent is deleted", clock, async () => when(!(await client.get(parts, { namespace, name: "dependent" })).ok));
}, 120_000);

test("an upgrade to no owner references removes ours alone, and the teardown deletes in its order", async () => {
  await install(clusters);
  const declared = {
    name: "fleet",
    reconciles: configMaps,
    owns: [clusters, parts],
    writesStatus: false,
    finalizer: "lattice.dev/fleet",
    observe: () => Promise.resolve(ok(null)),
    plan: ({ metadata }: KubeObject) =>
      ok({ apply: metadata.name === "fleet" ? [object(clusters, "c"), object(parts, "p")] : [], commands: [] }),
  } as const;
  const read = async (resource: Resource, name: string) => {
    const found = await client.get<KubeObject>(resource, { namespace, name });
    return found.ok ? found.value : undefined;
  };
  await client.create<KubeObject>(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "fleet", namespace } });
  const before = defineController<KubeObject, null, never>({ ...declared, teardown: "by-plan" });
  const first = await manage([bindController(before, {})]);
  await stepped("it has a reference", first.clock, async () => when((await read(clusters, "c"))?.metadata.ownerReferences?.length === 1));
  await ends.pop()?.();
  const otherMap = expectOk(
    await client.create<KubeObject>(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other", namespace } }),
  );
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: otherMap.metadata.uid ?? "" };
  const operations = [{ op: "add", path: "/metadata/ownerReferences/-", value: other }];
  expectOk(await client.patch(clusters, { namespace, name: "c" }, { type: "json", operations }));
  expectOk(
    await client.patch(
      clusters,
      { namespace, name: "c" },
      { type: "merge", patch: { metadata: { finalizers: ["story.lattice.dev/hold"] } } },
    ),
  );

  const after = defineController<KubeObject, null, never>({ ...declared, ownerReferences: "none", teardown: { order: [["Cluster"]] } });
  const second = await manage([bindController(after, {})]);
  await stepped("it has no reference", second.clock, async () => when((await read(parts, "p"))?.metadata.ownerReferences === undefined));
  const cluster = await stepped("one reference is left", second.clock, async () => {
    const found = await read(clusters, "c");
    return found?.metadata.ownerReferences?.length === 1 ? found : undefined;
  });
  expect(cluster.metadata.ownerReferences).toEqual([other]);

  expectOk(await client.delete(configMaps, { namespace, name: "fleet" }));
  await stepped("it is deleted", second.clock, async () => when((await read(clusters, "c"))?.metadata.deletionTimestamp !== undefined));
  await second.clock.advance(60_000);
  expect((await read(parts, "p"))?.metadata.deletionTimestamp).toBeUndefined();
  expectOk(await client.patch(clusters, { namespace, name: "c" }, { type: "merge", patch: { metadata: { finalizers: [] } } }));
  await stepped("the owner is gone", second.clock, async () => when((await read(configMaps, "fleet")) === undefined));
  expect([await read(clusters, "c"), await read(parts, "p")]).toEqual([undefined, undefined]);
}, 120_000);

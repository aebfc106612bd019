import { describe, expect, test } from "vitest";
import { silentLogger } from "#base";
import { failWith } from "#embedded-cluster";
import type { KubeObject } from "#kube";
import {
  configMap,
  configMaps,
  ControllerWorld,
  policies,
  secrets,
  widget,
  widgets,
  type Policy,
} from "../../../test/builders/controller-world.ts";
import { InformerSet } from "../cache.ts";
import { NO_CHANGES } from "./change-set.ts";
import { ApplyEngine, type ApplyEngineOptions, type Prune } from "./engine.ts";
import { OWNER_LABEL, ownerLabelOf, type ApplyOwner } from "../identity.ts";

const never = new AbortController().signal;

class Bench {
  readonly world: ControllerWorld;
  readonly informers: InformerSet;
  readonly #stop = new AbortController();
  readonly #options: Partial<ApplyEngineOptions>;
  readonly engine: ApplyEngine;
  owner: ApplyOwner;

  private constructor(world: ControllerWorld, owner: KubeObject, options: Partial<ApplyEngineOptions>) {
    this.world = world;
    this.informers = new InformerSet({ ...world, logger: silentLogger, metrics: world.metrics }, [widgets, configMaps, secrets, policies]);
    this.owner = { controller: "test", object: owner };
    this.#options = options;
    this.engine = this.fresh();
    void this.informers.run(this.#stop.signal);
  }

  static async open(options: Partial<ApplyEngineOptions> = {}): Promise<Bench> {
    const world = await ControllerWorld.open();
    return new Bench(world, await world.put(widgets, widget("api", { count: 1 })), options);
  }

  /** An engine without memory, as after a restart. */
  fresh(): ApplyEngine {
    const { client } = this.world;
    return new ApplyEngine({
      client,
      cache: this.informers,
      ownerResource: widgets,
      resources: [configMaps, secrets, policies],
      ...this.#options,
    });
  }

  /** Waits for watch events, then applies. */
  async apply(planned: readonly KubeObject[], more: { prune?: Prune; engine?: ApplyEngine } = {}) {
    await this.world.clock.advance(100);
    return (more.engine ?? this.engine).apply({ owner: this.owner, planned, prune: more.prune, signal: never });
  }

  async version(name: string): Promise<string | undefined> {
    return (await this.world.object(configMaps, { namespace: "shop", name }))?.metadata.resourceVersion;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.world.clock.advance(100);
    await this.world[Symbol.asyncDispose]();
  }
}

test("objects are created, kept, changed and pruned, and an unchanged object keeps its resourceVersion", async () => {
  await using bench = await Bench.open();
  expect(await bench.apply([configMap("a", { k: "1" }), configMap("b")])).toMatchObject({
    created: ["ConfigMap shop/a", "ConfigMap shop/b"],
  });
  const [a, requests] = [await bench.version("a"), bench.world.requests().length];
  expect(await bench.apply([configMap("a", { k: "1" }), configMap("b")])).toEqual({
    ...NO_CHANGES,
    unchanged: ["ConfigMap shop/a", "ConfigMap shop/b"],
  });
  expect(
    bench.world
      .requests()
      .slice(requests)
      .filter(({ verb }) => verb !== "watch"),
  ).toEqual([]);
  expect(await bench.apply([configMap("a", { k: "1" }), configMap("b", { new: "x" })])).toMatchObject({
    unchanged: ["ConfigMap shop/a"],
    configured: ["ConfigMap shop/b"],
  });
  expect(await bench.apply([configMap("a", { k: "1" })])).toMatchObject({ unchanged: ["ConfigMap shop/a"], pruned: ["ConfigMap shop/b"] });
  expect([await bench.version("a"), await bench.version("b")]).toEqual([a, undefined]);
});

test("a field that is no longer wanted is removed, also by a process that did not set it", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a", { k: "1", old: "x" })]);
  expect(await bench.apply([configMap("a", { k: "1" })], { engine: bench.fresh() })).toMatchObject({ configured: ["ConfigMap shop/a"] });
  expect((await bench.world.object(configMaps, { namespace: "shop", name: "a" }))?.data).toEqual({ k: "1" });
});

test("drift is repaired, and fields that other clients added stay", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a", { k: "1" })]);
  const live = await bench.world.object(configMaps, { namespace: "shop", name: "a" });
  await bench.world.put(configMaps, { ...(live as ReturnType<typeof configMap>), data: { k: "edited", theirs: "y" } });
  expect(await bench.apply([configMap("a", { k: "1" })])).toMatchObject({ configured: ["ConfigMap shop/a"] });
  expect((await bench.world.object(configMaps, { namespace: "shop", name: "a" }))?.data).toEqual({ k: "1", theirs: "y" });
});

test("without force another manager's field is reported and not changed", async () => {
  await using bench = await Bench.open({ force: false });
  await bench.apply([configMap("a", { k: "1" })]);
  const live = await bench.world.object(configMaps, { namespace: "shop", name: "a" });
  await bench.world.put(configMaps, { ...(live as ReturnType<typeof configMap>), data: { k: "edited" } }, "kubectl-edit");
  expect((await bench.apply([configMap("a", { k: "1" })])).failed).toMatchObject([{ object: "ConfigMap shop/a", kind: "conflict" }]);
});

test("an object of another owner is not changed until it has the adopt annotation", async () => {
  await using bench = await Bench.open();
  const theirs = await bench.world.put(configMaps, configMap("a", { k: "theirs" }));
  for (const known of [false, true]) {
    if (known) await bench.world.clock.advance(100);
    const { failed } = await bench.engine.apply({ owner: bench.owner, planned: [configMap("a", { k: "1" })], signal: never });
    expect(failed).toMatchObject([{ kind: "not-ours", message: expect.stringContaining("lattice.dev/adopt=true") as string }]);
  }
  expect(await bench.version("a")).toBe(theirs.metadata.resourceVersion);
  await bench.world.put(configMaps, configMap("a", { k: "theirs" }, { annotations: { "lattice.dev/adopt": "true" } }));
  expect(await bench.apply([configMap("a", { k: "1" })])).toMatchObject({ configured: ["ConfigMap shop/a"], failed: [] });
});

test("an object cannot have two owners", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a")]);
  const first = bench.owner;
  bench.owner = { ...first, object: await bench.world.put(widgets, widget("second")) };
  expect((await bench.apply([configMap("a")])).failed).toMatchObject([
    { kind: "not-ours", message: expect.stringContaining(ownerLabelOf(first)) as string },
  ]);
});

describe("access objects", () => {
  const kinds = new Set(["Policy"]);
  const policy = (name: string, spec: Policy["spec"] = {}): Policy => ({
    apiVersion: "lattice.dev/v1",
    kind: "Policy",
    metadata: { name, namespace: "shop" },
    spec,
  });
  const request = (bench: Bench) => ({ owner: bench.owner, signal: never });
  const settle = (bench: Bench) => bench.world.clock.advance(100);

  test("are applied and pruned although an earlier object is refused", async () => {
    await using bench = await Bench.open({ access: [policies] });
    const open = [policy("kept", { to: "all" }), policy("gone")];
    await bench.engine.apply({ ...request(bench), planned: [configMap("a")], access: { apply: open, kinds } });
    await settle(bench);
    await bench.world.put(configMaps, configMap("b", { theirs: "yes" }));
    await settle(bench);
    const planned = [configMap("a"), configMap("b")];
    const changes = await bench.engine.apply({ ...request(bench), planned, access: { apply: [policy("kept", { to: "one" })], kinds } });
    expect(changes).toMatchObject({
      failed: [{ object: "ConfigMap shop/b", kind: "not-ours" }],
      configured: ["Policy shop/kept"],
      pruned: ["Policy shop/gone"],
    });
  });

  test("do not wait for one another, and a rejected one blocks no workload", async () => {
    await using bench = await Bench.open({ access: [policies] });
    await bench.world.put(policies, policy("a"));
    await settle(bench);
    const access = { apply: [policy("a"), policy("b")], kinds };
    expect(await bench.engine.apply({ ...request(bench), planned: [configMap("work")], access })).toMatchObject({
      failed: [{ object: "Policy shop/a" }],
      created: ["ConfigMap shop/work", "Policy shop/b"],
    });
  });

  test("are restricted before a workload is changed, and extended after it", async () => {
    await using bench = await Bench.open({ access: [policies] });
    await bench.engine.apply({ ...request(bench), planned: [], access: { apply: [policy("gone"), policy("kept", { to: "all" })], kinds } });
    await settle(bench);
    const before = bench.world.requests().length;
    const apply = [policy("new"), policy("kept", { to: "one" })];
    await bench.engine.apply({ ...request(bench), planned: [configMap("work")], access: { apply, kinds } });
    const written = bench.world
      .requests()
      .slice(before)
      .filter(({ method }) => method !== "GET");
    expect(written.map(({ path }) => /[^/]+$/.exec(path.split("?")[0] ?? "")?.[0])).toEqual(["gone", "kept", "work", "new"]);
  });

  test("a prune that cannot verify that its plan is current is reported as failed", async () => {
    await using bench = await Bench.open({ access: [policies] });
    await bench.engine.apply({ ...request(bench), planned: [], access: { apply: [policy("gone")], kinds } });
    await settle(bench);
    bench.world.intercept({ resource: widgets, name: "api", times: 99 }, failWith("gone"));
    const changes = await bench.engine.apply({ ...request(bench), planned: [], access: { apply: [], kinds } });
    expect(changes.failed).toMatchObject([{ object: "Policy shop/gone", kind: "rejected" }]);
  });

  test("contain no fields of other clients, also under a changed owner label or a reserved name", async () => {
    await using bench = await Bench.open({ access: [policies] });
    const access = { apply: [policy("a", { to: "one" })], kinds };
    const edit = async (labels: Readonly<Record<string, string>>, more: object = {}) => {
      const live = await bench.world.object(policies, { namespace: "shop", name: "a" });
      const metadata = { name: "a", namespace: "shop", ...more, labels };
      await bench.world.put(policies, { ...live, ...policy("a", { to: "one", also: "all" }), metadata }, "kubectl-edit");
      return settle(bench);
    };
    await bench.engine.apply({ ...request(bench), planned: [], access });
    const mine = { [OWNER_LABEL]: ownerLabelOf(bench.owner) };
    const body = () => bench.world.object(policies, { namespace: "shop", name: "a" });
    await edit(mine);
    expect(await bench.engine.apply({ ...request(bench), planned: [], access })).toMatchObject({
      healed: [{ object: "Policy shop/a", fields: expect.stringContaining("spec.also") as string }],
      failed: [],
    });
    expect((await body())?.spec).toEqual({ to: "one" });
    await settle(bench);
    await edit({}, { annotations: { "lattice.dev/owner": "shop/api" } });
    expect((await bench.engine.apply({ ...request(bench), planned: [], access })).failed).toEqual([]);
    expect((await body())?.spec).toEqual({ to: "one" });
    await settle(bench);
    await edit({ [OWNER_LABEL]: "another.1" });
    expect((await bench.engine.apply({ ...request(bench), planned: [], access })).failed).toMatchObject([{ kind: "not-ours" }]);
    const reserved = { ...access, reserved: new Set(["a"]) };
    expect((await bench.engine.apply({ ...request(bench), planned: [], access: reserved })).failed).toEqual([]);
    expect((await body())?.spec).toEqual({ to: "one" });
  });

  test("are deleted first when the owner is deleted, whether or not the garbage collector would delete them", async () => {
    await using bench = await Bench.open({ access: [policies] });
    await bench.engine.apply({ ...request(bench), planned: [configMap("work")], access: { apply: [policy("a")], kinds } });
    await settle(bench);
    expect(await bench.engine.release(bench.owner, never)).toMatchObject({ pruned: ["Policy shop/a"] });
  });
});

test("a later wave waits for the earlier one, and nothing is pruned when something failed", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("old")]);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "shop" } };
  bench.world.intercept({ verb: ["patch", "apply"] }, failWith("server-error"));
  const changes = await bench.apply([secret, configMap("a")]);
  expect(changes).toMatchObject({ skipped: ["Secret shop/s", "ConfigMap shop/old"], pruned: [], created: [] });
  expect(changes.failed).toMatchObject([{ object: "ConfigMap shop/a", kind: "unreachable" }]);
  expect(await bench.apply([secret, configMap("a")])).toMatchObject({
    created: ["ConfigMap shop/a", "Secret shop/s"],
    pruned: ["ConfigMap shop/old"],
  });
});

test("one failure does not hide the others of its wave", async () => {
  await using bench = await Bench.open();
  bench.world.intercept({ name: "b", times: 9 }, failWith("server-error"));
  expect(await bench.apply([configMap("a"), configMap("b"), configMap("c")])).toMatchObject({
    created: ["ConfigMap shop/a", "ConfigMap shop/c"],
    failed: [{ object: "ConfigMap shop/b" }],
  });
});

test("a kind that the controller does not declare is refused before anything is sent", async () => {
  await using bench = await Bench.open();
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace: "shop" } };
  expect((await bench.apply([service])).failed).toMatchObject([{ object: "Service shop/s", kind: "undeclared" }]);
});

test("an object that is listed as still in use is not pruned until it is no longer listed", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a"), configMap("used"), configMap("old")]);
  const kinds = new Set(["ConfigMap"]);
  const keep = new Set(["ConfigMap shop/used"]);
  expect(await bench.apply([configMap("a")], { prune: { kinds, keep } })).toMatchObject({ pruned: ["ConfigMap shop/old"], skipped: [] });
  expect(await bench.apply([configMap("a")], { prune: { kinds } })).toMatchObject({ pruned: ["ConfigMap shop/used"] });
});

test("an empty plan prunes nothing unless pruning is requested", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a")]);
  expect(await bench.apply([])).toEqual(NO_CHANGES);
  expect(await bench.apply([configMap("b")], { prune: false })).toMatchObject({ created: ["ConfigMap shop/b"], pruned: [] });
  expect(await bench.apply([], { prune: true })).toMatchObject({ pruned: ["ConfigMap shop/a", "ConfigMap shop/b"] });
});

test("a plan made from an old spec prunes nothing", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a"), configMap("b")]);
  await bench.world.put(widgets, { ...widget("api", { count: 2 }) });
  expect(await bench.apply([configMap("a")])).toMatchObject({ pruned: [], skipped: ["ConfigMap shop/b"] });
});

test("a copy of an owned object is not pruned, though it has the owner label", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a")]);
  await bench.world.put(configMaps, configMap("copy", {}, { labels: { [OWNER_LABEL]: ownerLabelOf(bench.owner) } }));
  expect(await bench.apply([configMap("a")])).toMatchObject({ pruned: [], failed: [] });
  expect(await bench.version("copy")).toBeDefined();
});

test("an object with the annotation never is not pruned", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a"), configMap("keep", {}, { annotations: { "lattice.dev/prune": "never" } })]);
  expect(await bench.apply([configMap("a")])).toMatchObject({ pruned: [], skipped: [] });
});

test("an object that is already deleted is not reported as pruned, and a failed deletion is reported", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("a"), configMap("b")]);
  bench.world.intercept({ verb: "delete" }, failWith("server-error"));
  expect((await bench.apply([configMap("a")])).failed).toMatchObject([{ object: "ConfigMap shop/b" }]);
  bench.world.intercept({ verb: "get", name: "b" }, failWith("server-error"));
  expect((await bench.apply([configMap("a")])).failed).toMatchObject([{ object: "ConfigMap shop/b" }]);
  await bench.world.remove(configMaps, { namespace: "shop", name: "b" });
  expect(await bench.engine.apply({ owner: bench.owner, planned: [configMap("a")], signal: never })).toMatchObject({
    pruned: [],
    failed: [],
  });
});

test("an object whose existence cannot be verified fails", async () => {
  await using bench = await Bench.open();
  bench.world.intercept({ verb: "get", name: "a" }, failWith("server-error"));
  expect((await bench.apply([configMap("a")])).failed).toMatchObject([{ kind: "unreachable" }]);
});

test("a value that the server rewrites costs one request, not one per pass", async () => {
  await using bench = await Bench.open();
  const { world } = bench;
  // like a server that stores "0.5" as "500m"
  const rewrite = async () => {
    const live = (await world.object(configMaps, { namespace: "shop", name: "a" })) as ReturnType<typeof configMap>;
    await world.put(configMaps, { ...live, data: { cpu: "500m" } });
    return world.object(configMaps, { namespace: "shop", name: "a" });
  };
  const { client } = world;
  const rewriting = {
    ...client,
    apply: async (...call: Parameters<typeof client.apply>) => (await client.apply(...call), { ok: true, value: await rewrite() }),
  };
  const engine = new ApplyEngine({
    client: rewriting as unknown as typeof client,
    cache: bench.informers,
    ownerResource: widgets,
    resources: [configMaps],
  });
  await bench.apply([configMap("a", { cpu: "0.5" })], { engine });
  const version = await bench.version("a");
  expect(await bench.apply([configMap("a", { cpu: "0.5" })], { engine })).toMatchObject({ unchanged: ["ConfigMap shop/a"] });
  expect(await bench.version("a")).toBe(version);
});

test("before an owner is deleted, objects that the garbage collector would not delete are deleted", async () => {
  await using bench = await Bench.open();
  await bench.apply([configMap("near"), configMap("far", {}, { namespace: "other" })]);
  await bench.world.clock.advance(100);
  expect(await bench.engine.release(bench.owner, never)).toEqual({ ...NO_CHANGES, pruned: ["ConfigMap other/far"] });
});

test("a plan for some kinds prunes those and no others", async () => {
  await using bench = await Bench.open();
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "shop" } };
  await bench.apply([configMap("a"), configMap("b"), secret]);
  await bench.world.clock.advance(100);
  const prune = { kinds: new Set(["ConfigMap"]) };
  expect(await bench.engine.apply({ owner: bench.owner, planned: [configMap("a")], prune, signal: never })).toMatchObject({
    unchanged: ["ConfigMap shop/a"],
    pruned: ["ConfigMap shop/b"],
  });
  await bench.world.clock.advance(100);
  expect(await bench.world.objects(secrets)).toHaveLength(1);
});

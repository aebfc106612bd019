/** Moves of a child between two embedded clusters, through tunnels in memory. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { capiClusters, capiProviders, type KubeObject } from "#kube";
import { JumpClock } from "../../../../test/builders/jump-clock.ts";
import { localCluster } from "../../../../test/builders/cell-world.ts";
import { isUnpaused, makeProvisioned } from "../../../../test/builders/move-world.ts";
import { MIRROR_ANNOTATION, PIVOT_REQUEST_ANNOTATION, specDigest } from "#controllers";
import type { PivotRunner } from "./pivot-runner.ts";
import { CAPI, isDone, isWaiting, PivotWorld, untilView } from "./pivot-world.test-support.ts";

async function open(): Promise<PivotWorld> {
  const world = await PivotWorld.open();
  onTestFinished(() => world.close());
  return world;
}

/** The next attempt is due at once. */
const HASTY = { retry: { initialMs: 0, maxMs: 0, factor: 1 } };

const released = (cluster: LatticeCluster): LatticeCluster => ({
  ...cluster,
  spec: { ...cluster.spec, deletion: { ...cluster.spec.deletion, unpivot: false } },
});

test("a child gets its resource and all objects, and the parent keeps none", async () => {
  const world = await open();
  const before = await world.objects(world.parent);
  const annotations = { "lattice.dev/backend": "inMemory", "example.com/note": "of the parent" };
  expectOk(await world.parent.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: { metadata: { annotations } } }));
  const runner = world.runner();
  const steps = new Set<string>();
  runner.subscribe(() => steps.add(runner.view("prod")?.step ?? ""));
  runner.start(await world.cluster());
  runner.start(await world.cluster());
  const view = await untilView(runner, isDone);
  expect(view).toMatchObject({ direction: "to-child", step: "done", moved: before.length, total: before.length, epoch: 1 });
  expect(view.report).toMatch(/^move [0-9a-f]{16}: \d+ objects in \d+ ms \(.*commit/);
  expect([...steps]).toEqual(expect.arrayContaining(["prepare", "copy-cluster", "transfer", "commit", "delete-source", "done"]));
  expect(world.orders).toEqual(["pivot prod"]);
  expect([await world.objects(world.parent), await world.objects(world.child)]).toEqual([[], before]);
  expect([world.ownership("parent"), world.ownership("child")]).toEqual([{ state: "never-moved" }, { state: "owner", epoch: 1 }]);
  const copy = expectOk(await world.child.client.get(latticeClusters, { name: "prod" }));
  const ours = await world.cluster();
  expect(copy.spec).toEqual(ours.spec);
  // what it is compiled from, and nothing else
  expect(copy.metadata.annotations).toEqual({ "lattice.dev/backend": "inMemory" });
  expect(ours.metadata.annotations?.[MIRROR_ANNOTATION]).toBe(specDigest(copy));
  runner.start(ours);
  expect(runner.view("prod")?.state).toBe("done");
});

test("the objects are taken back, and the child keeps none", async () => {
  const world = await open();
  const before = await world.objects(world.parent);
  const runner = world.runner();
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  await world.writeKubeconfig(world.parent, "of the parent");
  runner.unpivot(await world.cluster());
  const view = await untilView(runner, (one) => one.direction === "to-parent" && isDone(one));
  expect(view).toMatchObject({ moved: before.length, epoch: 2 });
  expect([await world.objects(world.parent), await world.objects(world.child)]).toEqual([before, []]);
  expect(world.ownership("parent")).toEqual({ state: "owner", epoch: 2 });
});

test("a plan that is refused has all reasons, changes nothing, and is tried again", async () => {
  const world = await open();
  const providers = expectOk(await world.child.client.list<KubeObject>(capiProviders)).items;
  for (const { metadata } of providers) {
    const { name, namespace = "" } = metadata;
    expectOk(await world.child.client.delete(capiProviders, { name, namespace }));
  }
  const runner = world.runner(HASTY);
  runner.start(await world.cluster());
  const view = await untilView(runner, isWaiting);
  expect(view.problem?.kind).toBe("refused");
  expect(view.problem?.message.match(/the target has no provider/g)).toHaveLength(providers.length);
  expect(world.ownership("parent")).toEqual({ state: "never-moved" });
  await world.child.add(
    ...providers.map(({ metadata: { name, namespace }, ...rest }) => ({ ...rest, metadata: { name, namespace } }) as never),
  );
  runner.start(await world.cluster());
  expect((await untilView(runner, isDone)).problem).toBeUndefined();
});

test("a namespace with a second Cluster is refused, and both stay at the parent", async () => {
  const world = await open();
  await makeProvisioned(world.parent.client, "other", 0, CAPI);
  const before = await world.objects(world.parent);
  const runner = world.runner();
  runner.start(await world.cluster());
  const { problem } = await untilView(runner, isWaiting);
  expect(problem?.kind).toBe("refused");
  expect(problem?.message).toContain("Cluster capi-prod/other is in the namespace of Cluster prod; a pivot moves one Cluster");
  expect([await world.objects(world.parent), await world.objects(world.child)]).toEqual([before, []]);
  expect(world.ownership("parent")).toEqual({ state: "never-moved" });
});

test("an agent that cannot prepare its cluster refuses with its own sentence", async () => {
  const world = await open();
  world.refusal = "ServiceAccount lattice-cluster-api does not exist";
  const runner = world.runner();
  runner.start(await world.cluster());
  const { problem } = await untilView(runner, isWaiting);
  expect(problem).toEqual({ kind: "refused", message: `the agent cannot prepare the cluster: ${world.refusal}` });
  expect(runner.view("prod")?.retryAt).toBeGreaterThan(systemClock.now());
});

test("a child that is not connected is waited for, in both directions", async () => {
  const world = await open();
  world.setConnected(false);
  const runner = world.runner(HASTY);
  runner.start(await world.cluster());
  expect((await untilView(runner, isWaiting)).problem).toMatchObject({ kind: "unreachable" });
  world.setConnected(true);
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  world.setConnected(false);
  runner.unpivot(await world.cluster());
  const { problem } = await untilView(runner, (view) => view.direction === "to-parent" && isWaiting(view));
  expect(problem?.message).toBe("the agent of prod is not connected; the move continues when it is");
});

test("an agent that has not completed its bootstrap is waited for", async () => {
  const world = await open();
  world.agent = { ...world.agent, bootstrapComplete: false };
  const runner = world.runner();
  runner.start(await world.cluster());
  await untilView(runner, ({ step }) => step === "prepare");
  expect(world.orders).toEqual([]);
  world.agent = { ...world.agent, bootstrapComplete: true };
  await untilView(runner, isDone);
});

test("a cluster that has children keeps its objects, and they are named", async () => {
  const world = await open();
  const runner = world.runner(HASTY);
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  await world.child.add(localCluster("shop"), localCluster("blog"));
  await world.writeKubeconfig(world.parent, "of the parent");
  runner.unpivot(await world.cluster());
  const { problem } = await untilView(runner, (view) => view.direction === "to-parent" && isWaiting(view));
  expect(problem).toMatchObject({
    kind: "has-children",
    message: expect.stringContaining("prod has clusters of its own: blog, shop;") as string,
  });
  expect(world.ownership("child")).toEqual({ state: "owner", epoch: 1 });
  for (const name of ["shop", "blog"]) expectOk(await world.child.client.delete(latticeClusters, { name }));
  runner.unpivot(await world.cluster());
  await untilView(runner, isDone);
});

test("a deletion during a pivot undoes it, or finishes it once the child may own the objects", async () => {
  for (const [step, want] of [
    ["transfer", "parent"],
    ["delete-source", "child"],
  ] as const) {
    const world = await open();
    const runner = world.runner();
    runner.start(await world.cluster());
    await untilView(runner, (view) => view.step === step || isDone(view));
    runner.unpivot(await world.cluster(released));
    await untilView(runner, (view) => view.direction === "to-parent" && isDone(view));
    const [parent, child] = [await world.objects(world.parent), await world.objects(world.child)];
    expect([step, parent.length > 0 ? "parent" : "", child.length > 0 ? "child" : ""].filter((one) => one !== "")).toEqual([step, want]);
  }
});

test("an abort undoes a pivot, or finishes it once the child owns the objects, and a later pivot begins anew", async () => {
  for (const [step, want] of [
    ["transfer", "parent"],
    ["delete-source", "child"],
  ] as const) {
    const world = await open();
    const runner = world.runner();
    runner.start(await world.cluster());
    await untilView(runner, (view) => view.step === step || isDone(view));
    runner.abort(await world.cluster());
    await untilView(runner, (view) => view.direction === "abort" && isDone(view));
    const [parent, child] = [await world.objects(world.parent), await world.objects(world.child)];
    expect([step, parent.length > 0 ? "parent" : "", child.length > 0 ? "child" : ""].filter((one) => one !== "")).toEqual([step, want]);
    if (want === "child") continue;
    runner.start(await world.cluster());
    await untilView(runner, (view) => view.direction === "to-child" && isDone(view));
    expect(await world.objects(world.parent)).toEqual([]);
  }
});

test("an abort whose outcome is in doubt is refused with the reason of the specification, and is decided when the child answers", async () => {
  const world = await open();
  const first = world.runner();
  first.start(await world.cluster());
  await untilView(first, ({ step }) => step === "announce-commit" || step === "commit");
  world.setConnected(false);
  await first.close();
  const runner = world.runner(HASTY);
  runner.abort(await world.cluster());
  const { problem } = await untilView(runner, (view) => view.direction === "abort" && (isWaiting(view) || isDone(view)));
  if (problem !== undefined)
    expect(problem.message).toMatch(
      /the target does not answer, so (whether it owns the clusters is in doubt|its copies cannot be deleted)/,
    );
  world.setConnected(true);
  runner.abort(await world.cluster());
  await untilView(runner, (view) => view.direction === "abort" && isDone(view));
  const sides = [world.ownership("parent"), world.ownership("child")].map(({ state }) => state);
  expect(sides.filter((state) => state === "moving")).toEqual([]);
});

test("an attempt follows soon, however many have failed before", async () => {
  const world = await open();
  const clock = new JumpClock();
  const runner = world.runner({ clock, random: () => 0.5 });
  world.refusal = "its API server does not answer";
  for (let attempt = 0; attempt < 8; attempt += 1) {
    runner.start(await world.cluster());
    const { retryAt = 0 } = await untilView(runner, isWaiting);
    expect(retryAt - clock.now()).toBeLessThanOrEqual(30_000);
    clock.jump(retryAt - clock.now());
  }
  world.refusal = undefined;
  runner.start(await world.cluster());
  await untilView(runner, isDone);
});

test("another request to abort is tried at once, and the view names the request", async () => {
  const world = await open();
  const asked = (id: string) =>
    world.cluster(({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, annotations: { [PIVOT_REQUEST_ANNOTATION]: id } } }));
  const first = world.runner();
  first.start(await world.cluster());
  await untilView(first, ({ step }) => step === "transfer");
  world.setConnected(false);
  await first.close();
  // the next attempt of the same request is far away
  const runner = world.runner({ retry: { initialMs: 3_600_000, maxMs: 3_600_000, factor: 1 } });
  runner.abort(await asked("r1"));
  expect(await untilView(runner, isWaiting)).toMatchObject({ request: "r1", problem: { kind: "refused" } });
  world.setConnected(true);
  runner.abort(await asked("r1"));
  expect(runner.view("prod")).toMatchObject({ request: "r1", state: "waiting" });
  runner.abort(await asked("r2"));
  expect(await untilView(runner, isDone)).toMatchObject({ direction: "abort", request: "r2" });
  runner.abort(await asked("r3"));
  expect(await untilView(runner, (view) => isDone(view) && view.request === "r3")).toMatchObject({ direction: "abort" });
});

test("a release of a cluster that owns itself leaves its objects there", async () => {
  const world = await open();
  const runner = world.runner();
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  const before = await world.objects(world.child);
  runner.unpivot(await world.cluster(released));
  await untilView(runner, (view) => view.direction === "to-parent" && isDone(view));
  expect(await world.objects(world.child)).toEqual(before);
});

/** Delete, then release while the take-back is at this step. */
async function releaseAt(step: string, release = untilReleased): Promise<{ readonly world: PivotWorld; readonly runner: PivotRunner }> {
  const world = await open();
  const options = { ...HASTY, leaseMs: 2_000 };
  const first = world.runner(options);
  first.start(await world.cluster());
  await untilView(first, isDone);
  await world.writeKubeconfig(world.parent, "of the parent");
  first.unpivot(await world.cluster());
  await untilView(first, (view) => view.direction === "to-parent" && (view.step === step || isDone(view)));
  world.setConnected(false);
  await untilView(first, (view) => view.direction === "to-parent" && (isWaiting(view) || isDone(view)));
  await first.close();
  world.setConnected(true);
  const runner = world.runner(options);
  await release(world, runner);
  return { world, runner };
}

/** As the cluster controller does, it asks again whenever an attempt has ended, such as one that could not renew its lease in time. */
async function untilReleased(world: PivotWorld, runner: PivotRunner): Promise<void> {
  const ask = async () => runner.unpivot(await world.cluster(released));
  const again = runner.subscribe(() => void (runner.view("prod")?.state === "waiting" && ask()));
  await ask();
  await untilView(runner, isDone);
  again();
}

test.each(["transfer", "announce-commit"])(
  "a take-back that was interrupted at %s is undone when the cluster is released",
  { timeout: 120_000 },
  async (step) => {
    const { world, runner } = await releaseAt(step);
    expect(runner.view("prod")).toMatchObject({ state: "done" });
    expect([world.ownership("parent"), world.ownership("child").state]).toEqual([{ state: "never-moved" }, "owner"]);
    expect([isUnpaused(world.parent, "prod", CAPI), isUnpaused(world.child, "prod", CAPI)]).toEqual([false, true]);
    expect(await world.objects(world.parent)).toEqual([]);
  },
);

test.each(["note-commit", "done"])(
  "a take-back that is committed at %s is finished and given back when the cluster is released",
  { timeout: 120_000 },
  async (step) => {
    const { world } = await releaseAt(step);
    expect([world.ownership("parent"), world.ownership("child")]).toEqual([{ state: "never-moved" }, { state: "owner", epoch: 3 }]);
    expect([isUnpaused(world.parent, "prod", CAPI), isUnpaused(world.child, "prod", CAPI)]).toEqual([false, true]);
    expect(await world.objects(world.parent)).toEqual([]);
  },
);

test.each(["copy-cluster", "transfer", "announce-commit", "note-commit"])(
  "objects that are given back arrive, also when the operator dies at %s",
  { timeout: 120_000 },
  async (step) => {
    const { world, runner } = await releaseAt("done", async (world, runner) => runner.unpivot(await world.cluster(released)));
    let wasBack = false;
    await untilView(runner, (view) => {
      wasBack ||= view.step === "copy-cluster";
      return (wasBack && view.step === step) || isWaiting(view) || isDone(view);
    });
    await runner.close();
    const next = world.runner({ ...HASTY, leaseMs: 2_000 });
    await untilReleased(world, next);
    expect([world.ownership("parent"), world.ownership("child").state]).toEqual([{ state: "never-moved" }, "owner"]);
    expect([await world.objects(world.parent), isUnpaused(world.child, "prod", CAPI)]).toEqual([[], true]);
  },
);

test("the record of a take-back whose abort was killed before its last write is deleted when the cluster is released", async () => {
  const world = await open();
  const runner = world.runner(HASTY);
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  const data = { id: "b", state: "revoked", epoch: "2", source: "s", startedAt: "", objects: "1", digest: "", finishedAt: "" };
  await world.parent.add({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: CAPI, name: "lattice-move-record" }, data });
  runner.unpivot(await world.cluster(released));
  await untilView(runner, (view) => view.direction === "to-parent" && (isDone(view) || isWaiting(view)));
  expect([world.ownership("parent").state, world.ownership("child").state]).toEqual(["never-moved", "owner"]);
});

test("a release that was withdrawn takes the objects back after all", async () => {
  const { world, runner } = await releaseAt("transfer");
  runner.unpivot(await world.cluster());
  await untilView(runner, (view) => isDone(view) && view.moved !== undefined);
  expect([world.ownership("parent").state, world.ownership("child").state]).toEqual(["owner", "never-moved"]);
});

test("a Cluster that neither side has is reported with what to do", async () => {
  const world = await open();
  const runner = world.runner();
  await world.child.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: CAPI } });
  const key = { namespace: CAPI, name: "prod" };
  expectOk(await world.parent.client.patch(capiClusters, key, { type: "merge", patch: { metadata: { finalizers: null } } }));
  expectOk(await world.parent.client.delete(capiClusters, key));
  runner.unpivot(await world.cluster());
  const { problem } = await untilView(runner, isWaiting);
  expect(problem).toMatchObject({ kind: "refused", message: expect.stringContaining("set spec.deletion.unpivot to false") as string });
});

test("nothing is taken back when the objects are here already, as after a run that was killed after its last step", async () => {
  const world = await open();
  const runner = world.runner();
  await world.child.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: CAPI } });
  const before = await world.objects(world.parent);
  runner.unpivot(await world.cluster());
  await untilView(runner, (view) => view.direction === "to-parent" && isDone(view));
  expect(await world.objects(world.parent)).toEqual(before);
});

test("the spec of a child that owns itself is copied to the parent, unless a user has edited it there", async () => {
  const world = await open();
  const runner = world.runner(HASTY);
  runner.start(await world.cluster());
  await untilView(runner, isDone);
  const scale = (workers: number) => ({ type: "merge" as const, patch: { spec: { nodes: { workers } } } });
  const theirs = expectOk(await world.child.client.patch(latticeClusters, { name: "prod" }, scale(7)));
  runner.mirror("prod");
  runner.mirror("prod");
  await expect.poll(async () => (await world.cluster()).spec.nodes.workers, { timeout: 10_000 }).toBe(7);
  expect((await world.cluster()).metadata.annotations?.[MIRROR_ANNOTATION]).toBe(specDigest(theirs));
  expectOk(await world.parent.client.patch(latticeClusters, { name: "prod" }, scale(1)));
  expectOk(await world.child.client.patch(latticeClusters, { name: "prod" }, scale(8)));
  runner.mirror("prod");
  await runner.close();
  expect((await world.cluster()).spec.nodes.workers).toBe(1);
});

/** Objects that change at the source between two runs of a move: the journal still finds their copies, and the copies become what they are. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { apiVersionOf, capiClusters, capiMachines, configMaps, secrets, type Json, type KubeObject, type Resource } from "#kube";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { contentsOf, isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { compareMoved, contextFor } from "./move-crashes.test-support.ts";
import type { MoveContext } from "./context.ts";
import { moveNamespace, type MoveOptions } from "./move-namespace.ts";
import { runMove } from "./move.ts";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
});

const key = (name: string) => ({ namespace: "c1", name });
const options = (): MoveOptions => ({
  source: world.source.client,
  target: world.target.client,
  namespace: "c1",
  identity: "test-1",
  clock: systemClock,
  random: seededRandom(1),
  signal: new AbortController().signal,
  waitMs: 50,
  leaseMs: 600_000,
  onWait: () => {},
  report: () => {},
});

async function change(resource: Resource, name: string, patch: Json): Promise<void> {
  expectOk(await world.source.client.patch<KubeObject>(resource, key(name), { type: "merge", patch }, { fieldManager: "person" }));
}

/** A run that is killed when it reports `line` for the `count`th time. */
async function killAt(line: string, count = 1): Promise<void> {
  const process = new MortalProcess(undefined);
  let seen = 0;
  const report: MoveContext["report"] = ({ step, done }) => {
    if (!`${step} ${done ?? ""}`.trim().startsWith(line)) return;
    seen += 1;
    if (seen === count) process.dead = true;
  };
  expect((await runMove({ ...contextFor(world.source, world.target, process, count), report })).ok).toBe(false);
  expect(process.dead).toBe(true);
}

const contents = async () => [...(await contentsOf(world.source.client, "c1"))].filter(([name]) => name !== "Secret c1/unrelated");

/** What the target has to have in the end: the objects before the move, and of the changed ones what they are now. */
async function expectedAfter(before: Contents, changed: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  return new Map([...before, ...(await contents()).filter(([name]) => changed.includes(name))]);
}

type Contents = Awaited<ReturnType<typeof contents>>;

/** The move succeeds, or it is refused and leaves nothing at the target. */
async function endMove(expected: ReadonlyMap<string, unknown>): Promise<void> {
  const moved = await moveNamespace(options());
  if (moved.ok) expect(await compareMoved(world.source, world.target, expected)).toEqual([]);
  else {
    expect([...(await contentsOf(world.target.client, "c1")).keys()], moved.error.message).toEqual([]);
    expect(isUnpaused(world.source, "c1")).toBe(true);
  }
}

async function own(resource: Resource, name: string, owners: readonly { resource: Resource; name: string }[]): Promise<void> {
  const ownerReferences = owners.map((owner) => {
    const { uid = "" } = world.source.peek<KubeObject>(owner.resource, key(owner.name))?.metadata ?? {};
    return { apiVersion: apiVersionOf(owner.resource), kind: owner.resource.kind, name: owner.name, uid };
  });
  await change(resource, name, { metadata: { ownerReferences } });
}

const movedOwners: readonly { way: string; resource: Resource; name: string; owners: Parameters<typeof own>[2] }[] = [
  { way: "a later", resource: configMaps, name: "c1-addon", owners: [{ resource: capiMachines, name: "c1-cp-1" }] },
  { way: "an earlier", resource: secrets, name: "c1-md-1-1", owners: [{ resource: capiClusters, name: "c1" }] },
];

test.for(movedOwners.flatMap((row) => [1, 2, 3, 4, 5].map((batches) => ({ batches, ...row }))))(
  "an object that belongs to $way batch than before is found at the target by a run after one that was killed after batch $batches",
  async ({ batches, resource, name, owners }) => {
    const before = await contents();
    await killAt("announce-commit");
    await own(resource, name, owners);
    await killAt("transfer", batches + 1);
    await endMove(await expectedAfter(before, [`${resource.kind} c1/${name}`]));
  },
);

/** What a person removes, and adds again. */
const removals: readonly { what: string; resource: Resource; name: string; removed: Json; added: Json }[] = [
  {
    what: "a label, an annotation, a field of the spec and the finalizers of a Machine",
    resource: capiMachines,
    name: "c1-cp-1",
    removed: {
      metadata: { labels: { "example.com/added": null }, annotations: { "example.com/team": null }, finalizers: null },
      spec: { providerID: null },
    },
    added: {
      metadata: {
        labels: { "example.com/added": "1" },
        annotations: { "example.com/team": "a" },
        finalizers: ["machines.cluster.x-k8s.io"],
      },
      spec: { providerID: "in-memory:////c1-cp-1" },
    },
  },
  {
    what: "the data and the labels of a Secret",
    resource: secrets,
    name: "c1-ca",
    removed: { metadata: { labels: null }, data: null },
    added: { metadata: { labels: { "example.com/added": "1" } }, data: { value: "eA==" } },
  },
  {
    what: "the only owner of a ConfigMap that has a label for the move",
    resource: configMaps,
    name: "c1-addon",
    removed: { metadata: { ownerReferences: null, labels: { "example.com/added": null } } },
    added: { metadata: { labels: { "example.com/added": "1" } } },
  },
];

const prepare = () => change(configMaps, "c1-addon", { metadata: { labels: { "clusterctl.cluster.x-k8s.io/move": "" } } });

test.for(removals)("$what: removed after it was copied, and gone from the target", async ({ resource, name, removed }) => {
  await prepare();
  const before = await contents();
  await killAt("announce-commit");
  await change(resource, name, removed);
  const expected = await expectedAfter(before, [`${resource.kind} c1/${name}`]);
  expectOk(await moveNamespace(options()));
  expect(await compareMoved(world.source, world.target, expected)).toEqual([]);
});

test.for(removals)("$what: removed while its batch is copied, and gone from the target", async ({ resource, name, removed }) => {
  await prepare();
  const before = await contents();
  let expected: ReadonlyMap<string, unknown> = new Map();
  world.target.intercept({ verb: "patch", resource: resource.plural, name }, async (_action, next) => {
    await change(resource, name, removed);
    expected = await expectedAfter(before, [`${resource.kind} c1/${name}`]);
    return next();
  });
  expectOk(await moveNamespace(options()));
  expect(await compareMoved(world.source, world.target, expected)).toEqual([]);
});

const kills = [1, 2, 3, 4, 5, 6].map((batches) => ({ line: "transfer", count: batches + 1 }));

test.for(removals.flatMap((row) => kills.map((kill) => ({ ...kill, ...row }))))(
  "$what: removed, added and removed again between runs that are killed at '$line' $count, and gone from the target",
  async ({ line, count, resource, name, removed, added }) => {
    await prepare();
    const before = await contents();
    await killAt("announce-commit");
    for (const patch of [removed, added, removed, added]) {
      await change(resource, name, patch);
      await killAt(line, count);
    }
    await change(resource, name, removed);
    const expected = await expectedAfter(before, [`${resource.kind} c1/${name}`]);
    expectOk(await moveNamespace(options()));
    expect(await compareMoved(world.source, world.target, expected)).toEqual([]);
  },
);

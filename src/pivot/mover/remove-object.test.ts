/** The requests that delete the objects of a move at the source. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, secrets, type KubeObject } from "#kube";
import { openSide } from "./api-side.ts";
import { freeObjects, removeOnce, stillThere, type RemovedObject } from "./remove-object.ts";

const FINALIZER = "example.com/finalizer";
const KEY = { namespace: "default", name: "a" };

async function open(): Promise<{
  readonly cluster: EmbeddedCluster;
  readonly side: ReturnType<typeof openSide>;
  readonly object: RemovedObject;
}> {
  const cluster = await startEmbeddedCluster({ logActions: true });
  onTestFinished(() => cluster.close());
  const signal = new AbortController().signal;
  const side = openSide({ client: cluster.client, side: "source", clock: systemClock, random: seededRandom(1), signal });
  return { cluster, side, object: { kind: secrets, key: KEY, uid: "" } };
}

const secret = (finalizers: readonly string[]): KubeObject => ({ apiVersion: "v1", kind: "Secret", metadata: { ...KEY, finalizers } });

type Row = {
  readonly name: string;
  readonly given: { readonly finalizers: readonly string[]; readonly changedAfterRead?: object };
  readonly want: { readonly verbs: readonly string[]; readonly left: number };
};

const rows: readonly Row[] = [
  { name: "without finalizers: one request", given: { finalizers: [] }, want: { verbs: ["delete"], left: 0 } },
  { name: "with finalizers: they are removed first", given: { finalizers: [FINALIZER] }, want: { verbs: ["patch", "delete"], left: 0 } },
  {
    name: "a finalizer that is added after the read: nothing is half deleted",
    given: { finalizers: [], changedAfterRead: { metadata: { finalizers: [FINALIZER] } } },
    want: { verbs: ["delete"], left: 1 },
  },
];

test.for(rows)("a Secret $name", async ({ given: { finalizers, changedAfterRead }, want }) => {
  const { cluster, side, object } = await open();
  const { metadata } = expectOk(await cluster.client.create<KubeObject>(secrets, secret(finalizers)));
  const objects = [{ ...object, uid: metadata.uid ?? "" }];
  const free = expectOk(await freeObjects(side, objects));
  if (changedAfterRead !== undefined)
    expectOk(await cluster.client.patch(secrets, KEY, { type: "merge", patch: changedAfterRead as never }));
  const before = cluster.actions.filter({ resource: secrets, verb: ["patch", "delete"] }).length;
  expectOk(await removeOnce(side, objects, free));
  const sent = cluster.actions.filter({ resource: secrets, verb: ["patch", "delete"] }).slice(before);
  expect(sent.map(({ verb }) => verb)).toEqual(want.verbs);
  const left = expectOk(await stillThere(side, objects));
  expect(left).toHaveLength(want.left);
  const stored = cluster.peek<KubeObject>(secrets, KEY);
  expect(stored?.metadata.deletionTimestamp).toBeUndefined();
});

test("an object of another uid is never free", async () => {
  const { cluster, side, object } = await open();
  expectOk(await cluster.client.create<KubeObject>(secrets, secret([])));
  const free = expectOk(await freeObjects(side, [{ ...object, uid: "another" }]));
  expect(free.has("another")).toBe(false);
});

test("kinds of custom resources are not read: their webhooks may ask for the annotation", async () => {
  const { cluster, side } = await open();
  const kind = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true };
  const before = [...cluster.actions].length;
  const free = expectOk(await freeObjects(side, [{ kind, key: KEY, uid: "u" }]));
  expect([free.size, [...cluster.actions].length]).toEqual([0, before]);
  expect(expectOk(await freeObjects(side, [{ kind: configMaps, key: KEY, uid: "u" }])).has("u")).toBe(false);
});

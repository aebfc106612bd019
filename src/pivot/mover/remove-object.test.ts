import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { secrets, type KubeObject } from "#kube";
import { openSide } from "./api-side.ts";
import { removeObjects, removeOnce } from "./remove-object.ts";

const KEY = { namespace: "default", name: "prod-kubeconfig" };
const SECRET = { apiVersion: "v1", kind: "Secret", metadata: KEY } as KubeObject;

async function open() {
  const cluster = await startEmbeddedCluster();
  onTestFinished(() => cluster.close());
  const shared = { clock: systemClock, random: seededRandom(1), signal: new AbortController().signal };
  const side = openSide({ ...shared, client: cluster.client, side: "source" });
  const made = expectOk(await cluster.client.create<KubeObject>(secrets, SECRET));
  return { cluster, side, removed: { kind: secrets, key: KEY, uid: made.metadata.uid ?? "" } };
}

test("an object that was created again under the same name is another one, and stays", async () => {
  const { cluster, side, removed } = await open();
  expectOk(await cluster.client.delete(secrets, KEY));
  const again = expectOk(await cluster.client.create<KubeObject>(secrets, SECRET));
  expectOk(await removeOnce(side, [removed]));
  expectOk(await removeObjects(side, [removed]));
  expect(cluster.peek<KubeObject>(secrets, KEY)?.metadata).toEqual(again.metadata);
});

test("an object that cannot be changed is a failure", async () => {
  const { side, removed } = await open();
  const patched = await side.patch(secrets, KEY, { metadata: { uid: removed.uid, finalizers: ["not a name"] } });
  expect(patched).toMatchObject({ ok: false, error: { kind: "failed" } });
});

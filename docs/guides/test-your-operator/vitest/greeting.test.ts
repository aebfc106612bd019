import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk, failWith, startEmbeddedCluster, type EmbeddedCluster } from "@lattice-fleet/lattice/kube-server";
import { configMaps, greetings, reconcile } from "../greeting-operator.ts";

const hello = { namespace: "shop", name: "hello" };
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ crds: "crds", fixtures: "fixtures" });
});
afterEach(() => cluster.close());

test("a greeting gets its ConfigMap and becomes ready", async () => {
  expect(await reconcile(cluster.client, hello)).toBe("done");
  expect(expectOk(await cluster.client.get(configMaps, hello)).data).toEqual({ text: "Hello!" });
  expect(expectOk(await cluster.client.get(greetings, hello)).status).toEqual({ ready: true });
});

test("it asks again when the API server is busy, and then succeeds", async () => {
  cluster.intercept({ verb: "apply", resource: "configmaps", times: 1 }, failWith("too-many-requests"));
  expect(await reconcile(cluster.client, hello)).toBe("again");
  expect(await reconcile(cluster.client, hello)).toBe("done");
});

test("a second pass changes nothing", async () => {
  await reconcile(cluster.client, hello);
  const before = expectOk(await cluster.client.get(configMaps, hello));
  cluster.actions.clear();
  await reconcile(cluster.client, hello);
  expect(expectOk(await cluster.client.get(configMaps, hello)), cluster.actions.toString()).toEqual(before);
});

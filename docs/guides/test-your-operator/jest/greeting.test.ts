import { afterEach, beforeEach, expect, test } from "@jest/globals";
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

test("it retries when another writer was faster", async () => {
  cluster.intercept({ verb: "apply", times: 1 }, failWith("conflict"));
  expect(await reconcile(cluster.client, hello)).toBe("again");
  expect(await reconcile(cluster.client, hello)).toBe("done");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectOk, failWith, startEmbeddedCluster } from "@lattice-fleet/lattice/kube-server";
import { configMaps, greetings, reconcile } from "../greeting-operator.ts";

const hello = { namespace: "shop", name: "hello" };

await test("a greeting gets its ConfigMap and becomes ready", async () => {
  await using cluster = await startEmbeddedCluster({ crds: "crds", fixtures: "fixtures" });
  assert.equal(await reconcile(cluster.client, hello), "done");
  assert.deepEqual(expectOk(await cluster.client.get(configMaps, hello)).data, { text: "Hello!" });
  assert.deepEqual(expectOk(await cluster.client.get(greetings, hello)).status, { ready: true });
});

await test("it asks again when the connection breaks after the write", async () => {
  await using cluster = await startEmbeddedCluster({ crds: "crds", fixtures: "fixtures" });
  using broken = cluster.intercept({ verb: "apply", resource: "greetings/status", times: 1 }, failWith("network"));
  assert.equal(await reconcile(cluster.client, hello), "again");
  assert.equal(await reconcile(cluster.client, hello), "done", cluster.actions.toString());
  assert.equal(broken.calls, 1);
});

import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { failWith, resources, startEmbeddedCluster, type AnyObject } from "#embedded-cluster";

const { configmaps, namespaces, serviceaccounts } = resources;
const configMap = (name: string, owner?: AnyObject): AnyObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name,
    namespace: "default",
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner.metadata.name, uid: owner.metadata.uid ?? "" }] }),
  },
});

describe("with controllers", () => {
  it("what loses its owner is collected, as in a cluster and not in envtest", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    const owner = expectOk(await cluster.client.create(configmaps, configMap("owner")));
    await cluster.client.create(configmaps, configMap("owned", owner));
    await cluster.settled();
    await cluster.client.delete(configmaps, { namespace: "default", name: "owner" });
    await cluster.settled();
    expect(await cluster.client.get(configmaps, { namespace: "default", name: "owned" })).toMatchObject({ error: { kind: "not-found" } });
  });

  it("namespaces go away with what is in them, and new ones get their ServiceAccount", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true });
    await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await cluster.waitFor(serviceaccounts, { namespace: "shop", name: "default" }, (account) => account !== undefined);
    await cluster.client.delete(namespaces, { name: "shop" });
    await cluster.waitFor(namespaces, { name: "shop" }, (namespace) => namespace === undefined);
  });

  it("their requests are in no log and meet no interceptor, unless it names them", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    using everybody = cluster.intercept({ verb: "create", resource: "serviceaccounts" }, failWith("forbidden"));
    using controllers = cluster.intercept({ user: "system:kube-controller-manager", resource: "serviceaccounts" }, (_action, next) =>
      next(),
    );
    await cluster.settled();
    cluster.actions.clear();
    await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await cluster.settled();
    expect(await cluster.client.get(serviceaccounts, { namespace: "shop", name: "default" })).toMatchObject({ ok: true });
    expect([everybody.calls, controllers.calls > 0]).toEqual([0, true]);
    expect([...cluster.actions].map(({ verb }) => verb)).toEqual(["create", "get"]);
  });

  it("nothing is left behind when it closes", async () => {
    const cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    await cluster.settled();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { failWith, resources, startEmbeddedCluster, type AnyObject } from "#embedded-cluster";

const { configmaps, deployments, namespaces, pods, serviceaccounts } = resources;
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
  it("objects without owners are collected, unlike in envtest", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    const owner = expectOk(await cluster.client.create(configmaps, configMap("owner")));
    await cluster.client.create(configmaps, configMap("owned", owner));
    await cluster.settled();
    await cluster.client.delete(configmaps, { namespace: "default", name: "owner" });
    await cluster.settled();
    expect(await cluster.client.get(configmaps, { namespace: "default", name: "owned" })).toMatchObject({ error: { kind: "not-found" } });
  });

  it("namespaces are deleted with their objects, and new ones get their ServiceAccount", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true });
    await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await cluster.waitFor(serviceaccounts, { namespace: "shop", name: "default" }, (account) => account !== undefined);
    await cluster.client.delete(namespaces, { name: "shop" });
    await cluster.waitFor(namespaces, { name: "shop" }, (namespace) => namespace === undefined);
  });

  it("their requests are not logged and not intercepted, unless an interceptor names their user", async () => {
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

  const web = (image = "web:1"): AnyObject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
    },
  });
  const key = { namespace: "default", name: "web" };
  const isReady = (deployment: AnyObject | undefined) => deployment?.status?.["readyReplicas"] === 3;

  it("a Deployment becomes Ready on simulated nodes", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true, objects: [web()] });
    await cluster.waitFor(deployments, key, isReady);
    const { items } = expectOk(await cluster.client.list(pods, { namespace: "default", labelSelector: "app=web" }));
    expect(items.map(({ status }) => status?.["phase"])).toEqual(["Running", "Running", "Running"]);
  });

  it("Pods get the ServiceAccount of their namespace, those of fixtures are unchanged", async () => {
    const pod = (name: string): AnyObject => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "shop" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await using cluster = await startEmbeddedCluster({ controllers: true, clock: "fake", objects: [pod("fixture")] });
    await cluster.settled();
    const created = expectOk(await cluster.client.create(pods, pod("new")));
    expect(created.spec).toMatchObject({ serviceAccountName: "default", volumes: [{ name: expect.stringMatching(/^kube-api-access-/) }] });
    const fixture = expectOk(await cluster.client.get(pods, { namespace: "shop", name: "fixture" }));
    expect(fixture.spec?.["volumes"]).toBeUndefined();
  });

  it("a fake clock decides when Pods become Ready", async () => {
    await using cluster = await startEmbeddedCluster({
      controllers: { simulation: { nodes: 2, speeds: { startMs: 60_000 } } },
      clock: "fake",
    });
    await cluster.client.create(deployments, web());
    await cluster.settled();
    expect(isReady(expectOk(await cluster.client.get(deployments, key)))).toBe(false);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await cluster.clock.advance(60_000);
      await cluster.settled();
    }
    expect(isReady(expectOk(await cluster.client.get(deployments, key)))).toBe(true);
    expect(cluster.simulation.nodes.names).toHaveLength(2);
  });

  it("faults of the nodes can be added and removed", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    const fault = cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:broken" } });
    await cluster.client.create(deployments, web("web:broken"));
    for (const ms of [1_000, 1_000]) {
      await cluster.clock.advance(ms);
      await cluster.settled();
    }
    expect(expectOk(await cluster.client.get(deployments, key)).status).toMatchObject({ unavailableReplicas: 3 });
    fault.lift();
    for (const ms of [600_000, 1_000, 1_000]) {
      await cluster.clock.advance(ms);
      await cluster.settled();
    }
    expect(isReady(expectOk(await cluster.client.get(deployments, key)))).toBe(true);
  });

  it("without a simulation Pods stay Pending, and faults are an error", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: { simulation: false }, clock: "fake" });
    await cluster.client.create(deployments, web());
    await cluster.settled();
    const { items } = expectOk(await cluster.client.list(pods, { namespace: "default" }));
    expect(items.map(({ status }) => status?.["phase"])).toEqual(["Pending", "Pending", "Pending"]);
    expect(() => cluster.simulation).toThrow("this cluster has no simulation; start it with `controllers: true`");
  });

  it("no timer or watch is left when it closes", async () => {
    const cluster = await startEmbeddedCluster({ controllers: true, clock: "fake" });
    await cluster.settled();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });
});

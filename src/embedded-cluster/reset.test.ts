/** A cluster whose initial state is restored between test suites. */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { resources, startEmbeddedCluster, type AnyObject } from "#embedded-cluster";
import { parseYaml } from "#kube";

const { configmaps, deployments, namespaces, pods } = resources;
const CRDS = "docs/guides/test-your-operator/crds";
const configMap = (name: string, more: object = {}): AnyObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", ...more },
});

test("after a reset the cluster has its initial objects, and no others", async () => {
  const first = { ...configMap("first"), data: { a: "1" } };
  await using cluster = await startEmbeddedCluster({ crds: CRDS, objects: [first, configMap("second")], resettable: true });
  const { client } = cluster;
  const before = expectOk(await client.list(configmaps)).items;
  const definition = { namespace: "default", name: "greetings.example.com" };
  const crds = cluster.resource("CustomResourceDefinition");
  await client.create(configmaps, configMap("third", { finalizers: ["example.com/keep"] }));
  await client.patch(configmaps, { namespace: "default", name: "first" }, { type: "merge", patch: { data: { a: "2" } } });
  await client.delete(configmaps, { namespace: "default", name: "second" });
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.delete(crds, definition);
  await cluster.reset();
  const after = expectOk(await client.list(configmaps)).items;
  expect(after.map(({ metadata, data }) => [metadata.name, metadata.uid, data])).toEqual(
    before.map(({ metadata, data }) => [metadata.name, metadata.uid, data]),
  );
  expect(await client.get(namespaces, { name: "shop" })).toMatchObject({ ok: false, error: { kind: "not-found" } });
  const greeting = { apiVersion: "example.com/v1", kind: "Greeting", metadata: { name: "a", namespace: "default" }, spec: { text: "t" } };
  expectOk(await client.create(cluster.resource("Greeting"), greeting));
  await cluster.reset();
  expect(await client.list(cluster.resource("Greeting"))).toMatchObject({ ok: true, value: { items: [] } });
  await cluster.reset();
});

test("workloads and their Pods are gone after a reset, and the next suite starts the same ones", async () => {
  await using cluster = await startEmbeddedCluster({ controllers: true, resettable: true });
  const web: AnyObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  };
  const key = { namespace: "default", name: "web" };
  for (const round of [1, 2]) {
    expectOk(await cluster.client.create(deployments, web));
    await cluster.waitFor(deployments, key, (deployment) => deployment?.status?.["readyReplicas"] === 2);
    await cluster.reset();
    const left = expectOk(await cluster.client.list(pods)).items;
    expect([round, left.map(({ metadata }) => metadata.name)]).toEqual([round, []]);
    expect(await cluster.client.get(deployments, key)).toMatchObject({ ok: false });
    expect(expectOk(await cluster.client.list(resources.nodes)).items).toHaveLength(1);
  }
});

test("POST /lattice/reset is for administrators, and only with `resettable`", async () => {
  await using cluster = await startEmbeddedCluster({ resettable: true, users: [{ name: "bob" }] });
  const { url } = await cluster.listen({ http: true });
  const tokenOf = async (user: string) => {
    const parsed = parseYaml(await cluster.kubeconfig({ user }));
    const [config] = parsed.ok ? (parsed.value as readonly { users: readonly { user: { token: string } }[] }[]) : [];
    return config?.users[0]?.user.token ?? "";
  };
  const reset = async (user: string, method = "POST") =>
    fetch(`${url}/lattice/reset`, { method, headers: { authorization: `Bearer ${await tokenOf(user)}` } });
  expectOk(await cluster.client.create(configmaps, configMap("a")));
  const refused = await reset("bob");
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { message: 'forbidden: User "bob" cannot post path "/lattice/reset"' },
  ]);
  expect((await reset("admin", "GET")).status).toBe(404);
  const done = await reset("admin");
  expect([done.status, await done.json()]).toMatchObject([200, { kind: "Status", status: "Success" }]);
  expect(await cluster.client.get(configmaps, { namespace: "default", name: "a" })).toMatchObject({ ok: false });
  await using other = await startEmbeddedCluster();
  await expect(other.reset()).rejects.toThrow("this cluster cannot be reset; start it with `resettable: true`");
  expect((await other.request("POST", "/lattice/reset")).code).toBe(404);
});

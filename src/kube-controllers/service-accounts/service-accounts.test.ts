/** Objects that every namespace gets. */
import { afterEach, expect, test } from "vitest";
import { err, expectOk } from "#base";
import { configMaps, namespaces, serviceAccounts } from "#kube";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "../../../test/builders/controlled-cluster.ts";
import { serviceAccountController } from "./default-account.ts";
import { rootCaPublisher } from "./root-ca.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

async function start(options: ControlledClusterOptions = {}) {
  const cluster = await controlledCluster({ controllers: [serviceAccountController, rootCaPublisher("PEM")], ...options });
  clusters.push(cluster);
  const { client } = cluster;
  expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }));
  await cluster.running.idle();
  return cluster;
}

const account = { namespace: "shop", name: "default" };
const published = { namespace: "shop", name: "kube-root-ca.crt" };

test("every namespace gets a ServiceAccount and the root certificate, once", async () => {
  const { client, writes } = await start();
  const accounts = expectOk(await client.list(serviceAccounts)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(accounts).toEqual(["default/default", "kube-node-lease/default", "kube-public/default", "kube-system/default", "shop/default"]);
  expect(expectOk(await client.get(configMaps, published))).toMatchObject({
    data: { "ca.crt": "PEM" },
    metadata: {
      annotations: {
        "kubernetes.io/description":
          "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
      },
    },
  });
  expect(writes).toHaveLength(10);
});

test("deleted ones are created again", async () => {
  const { client, running } = await start();
  await client.delete(serviceAccounts, account);
  await client.delete(configMaps, published);
  await running.idle();
  expect([(await client.get(serviceAccounts, account)).ok, (await client.get(configMaps, published)).ok]).toEqual([true, true]);
});

test("a changed certificate is restored, and other annotations stay", async () => {
  const { client, running } = await start();
  const patch = { data: { "ca.crt": "other", more: "x" }, metadata: { annotations: { "kubernetes.io/description": null, mine: "y" } } };
  await client.patch(configMaps, published, { type: "merge", patch });
  await running.idle();
  const { data, metadata } = expectOk(await client.get(configMaps, published));
  expect([data, Object.keys(metadata.annotations ?? {}).toSorted()]).toEqual([{ "ca.crt": "PEM" }, ["kubernetes.io/description", "mine"]]);
});

test("a terminating namespace gets nothing", async () => {
  const { client, running, writes } = await start();
  await client.delete(namespaces, { name: "shop" });
  await running.idle();
  const before = writes.length;
  await client.delete(serviceAccounts, account);
  await client.delete(configMaps, published);
  await running.idle();
  expect(writes).toHaveLength(before);
});

test("a rejected write is retried, unless the namespace is terminating", async () => {
  const refusals = { left: 2, causes: undefined as { reason: string }[] | undefined };
  const { client, running, advance } = await start({
    between: (inner) => ({
      ...inner,
      create: (resource, object, options) => {
        if (object.metadata.namespace !== "shop" || refusals.left <= 0) return inner.create(resource, object, options);
        refusals.left -= 1;
        const status = {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Failure",
          details: { causes: refusals.causes ?? [] },
        } as const;
        return Promise.resolve(err({ kind: "forbidden", message: "no", status }));
      },
    }),
  });
  expect((await client.get(serviceAccounts, account)).ok).toBe(false);
  await advance(1_000);
  expect((await client.get(serviceAccounts, account)).ok).toBe(true);
  refusals.left = 2;
  refusals.causes = [{ reason: "NamespaceTerminating" }];
  await client.delete(serviceAccounts, account);
  await running.idle();
  await advance(60_000);
  expect((await client.get(serviceAccounts, account)).ok).toBe(false);
});

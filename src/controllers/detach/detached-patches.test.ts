import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { deployments } from "#kube";
import { workloadPatchName } from "#workload-patch";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { patchWebhook } from "../../../test/builders/patch-webhook.ts";
import { account as nginxAccount } from "../../../test/builders/patched-service.ts";
import { sharedDeployment, shopEnvironment, tenantService } from "../../../test/builders/shared-deployment.ts";
import { patchIn } from "../patch-config-map.ts";

const account: FixtureObject = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "web", namespace: "shop" } };
const deployment: FixtureObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { serviceAccountName: "web", containers: [{ name: "main", image: "nginx:1" }] },
    },
  },
};
const service = latticeService("shop/patching", {
  workloadRef: { name: "web", namespace: "shop" },
  containers: { main: { variables: { LEVEL: "debug" } } },
});

/** Of each stored patch: whether it takes changes off. */
async function storedPatches(operated: OperatedCluster): Promise<readonly boolean[]> {
  const names = (await operated.names("ConfigMap", "lattice-system")).filter((name) => name.startsWith("workload-patch-"));
  const stored = await Promise.all(names.map((name) => operated.read("ConfigMap", `lattice-system/${name}`)));
  return stored.map((configMap) => patchIn(configMap)?.detach ?? false);
}

/** A service that is deleted while the webhook does not answer: its Deployment is being detached. */
async function startDetaching(): Promise<OperatedCluster> {
  const webhook = { isUp: true };
  const operated = await OperatedCluster.start({ rbac: true });
  patchWebhook(operated.cluster, () => webhook.isUp);
  await operated.apply(account, deployment, service);
  await operated.live(6_000, 500);
  expect(await storedPatches(operated)).toEqual([false]);
  webhook.isUp = false;
  await operated.remove(latticeServices, "shop/patching");
  await operated.live(5_000, 500);
  expect(await storedPatches(operated)).toEqual([true]);
  return operated;
}

test("a patch that takes changes off is deleted when its Deployment is deleted first", async () => {
  await using operated = await startDetaching();
  await operated.remove(deployments, "shop/web");
  await operated.live(5_000, 500);
  expect(await storedPatches(operated)).toEqual([]);
  expect(await operated.read("LatticeService", "shop/patching")).toBeUndefined();
});

test("the patch of a service is kept for a Deployment that does not exist yet, or any more", async () => {
  await using operated = await OperatedCluster.start({ rbac: true });
  await operated.apply(account, service);
  await operated.live(3_000, 500);
  const before = await storedPatches(operated);
  await operated.apply(deployment);
  await operated.live(2_000, 500);
  await operated.remove(deployments, "shop/web");
  await operated.live(3_000, 500);
  expect([before, await storedPatches(operated)]).toEqual([[false], [false]]);
});

describe("a stored patch that cannot be read", () => {
  const name = workloadPatchName({ namespace: "shop", name: "web" });
  const unreadable: FixtureObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "lattice-system", labels: { "lattice.dev/workload-patch": "true" } },
    data: { "patch.json": '{"service":"a/b/c"}' },
  };
  const record = JSON.stringify({ version: 1, service: `a/b/${"x".repeat(10_000)}`, fields: [] });
  const forged: FixtureObject = {
    ...deployment,
    metadata: { name: "web", namespace: "shop", annotations: { "lattice.dev/patched-fields": record } },
  };
  const names = async (operated: OperatedCluster) =>
    (await operated.names("ConfigMap", "lattice-system")).filter((one) => one.startsWith("workload-patch-"));

  test.each([
    { what: "does not exist", objects: [] },
    { what: "has no record", objects: [deployment] },
  ])("is deleted when its Deployment $what", async ({ objects }) => {
    await using operated = await OperatedCluster.start({ rbac: true });
    await operated.apply(...objects, unreadable);
    await operated.live(3_000, 500);
    expect(await names(operated)).toEqual([]);
  });

  test("is deleted after its Deployment, whose owner wrote a record that names no service", async () => {
    await using operated = await OperatedCluster.start({ rbac: true });
    await operated.apply(forged);
    await operated.live(5_000, 500);
    expect(await names(operated)).toEqual([name]);
    await operated.remove(deployments, "shop/web");
    await operated.live(3_000, 500);
    expect(await names(operated)).toEqual([]);
  });

  test("is deleted after the record that names no service was taken off without a webhook", async () => {
    await using operated = await OperatedCluster.start({ rbac: true });
    await operated.apply(forged);
    await operated.live(120_000, 2_000);
    expect((await operated.read("Deployment", "shop/web"))?.metadata.annotations).not.toHaveProperty(["lattice.dev/patched-fields"]);
    expect(await names(operated)).toEqual([]);
  });
});

test("a stored patch for a Deployment that does not exist is deleted when its service may not run in the namespace any more", async () => {
  await using operated = await OperatedCluster.start({ rbac: true });
  await operated.apply(shopEnvironment(["tenant"]), sharedDeployment, nginxAccount(), tenantService());
  await operated.live(6_000, 500);
  expect(await storedPatches(operated)).toEqual([false]);
  await operated.remove(deployments, "shop/nginx");
  await operated.apply(shopEnvironment([]));
  await operated.live(3_000, 500);
  expect(await storedPatches(operated)).toEqual([]);
});

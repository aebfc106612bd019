import { expect, test } from "vitest";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { deployments } from "#kube";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { patchWebhook } from "../../../test/builders/patch-webhook.ts";
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

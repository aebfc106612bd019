/** A request for a patch that had no effect, and what ends it. A service that waits for something else then must not be reconciled without a pause. */
import { describe, expect, test } from "vitest";
import type { FixtureObject } from "#embedded-cluster";
import { deployments } from "#kube";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { patchWebhook } from "../../../test/builders/patch-webhook.ts";

const account: FixtureObject = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "web", namespace: "shop" } };
const template = {
  metadata: { labels: { app: "web" } },
  spec: { serviceAccountName: "web", containers: [{ name: "main", image: "nginx:1" }] },
};
const deployment = (replicas: number): FixtureObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template },
});
const service = latticeService("shop/patching", {
  workloadRef: { name: "web", namespace: "shop" },
  containers: { main: { variables: { LEVEL: "debug" } } },
});

function passesOf({ metrics }: OperatedCluster): number {
  const counts = metrics.render().matchAll(/^lattice_reconcile_total\{controller="service",[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("after a request that had no effect, a service is reconciled seldom when", () => {
  const rows = [
    {
      name: "its Deployment is deleted",
      end: (operated: OperatedCluster) => operated.remove(deployments, "shop/web"),
      reason: "WorkloadNotFound",
    },
    {
      name: "the owner's next write is patched, and its pods do not become ready",
      end: (operated: OperatedCluster) => operated.apply(deployment(2)),
      reason: "RollingOut",
    },
  ];
  test.each(rows)("$name", async ({ end, reason }) => {
    const webhook = { isUp: false };
    // without controllers no pod is ever ready
    await using operated = await OperatedCluster.start({ controllers: false });
    patchWebhook(operated.cluster, () => webhook.isUp);
    await operated.apply(account, deployment(1), service);
    await operated.live(2_000, 500);
    expect(await operated.condition("shop/patching", "Ready")).toMatchObject({ reason: "PatchRequested" });
    webhook.isUp = true;
    await end(operated);
    await operated.live(1_000, 500);
    const before = passesOf(operated);
    // a second at a time, in steps: passes that follow each other at once would never let it end
    for (let second = 0; second < 5 && passesOf(operated) - before < 20; second += 1) await operated.clock.advance(1_000);
    expect(await operated.condition("shop/patching", "Ready")).toMatchObject({ reason });
    expect(passesOf(operated) - before).toBeLessThan(20);
  });
});

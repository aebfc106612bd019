/** A cluster without Flagger, ServiceEntries or other kinds: the other objects are applied, and the rest once the kind is served. */
import { expect, test } from "vitest";
import { reducedMeshCrds } from "../reduced-mesh-crds.ts";
import { environment, externalService, isCalledBy, calls, latticeService, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const api = latticeService("shop/api", { environment: "shop", ...withVariables({ A: "b" }), resources: isCalledBy("front") });
const front = latticeService("shop/front", { environment: "shop", resources: calls("api") });

test("an external service reports that the cluster has no ServiceEntries, and recovers when they are served", async () => {
  const stripe = externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com" } });
  await using operated = await OperatedCluster.start({ mesh: false, objects: [environment("shop"), api, front, stripe] });
  expect(operated.manager.health()).toMatchObject({ live: true, ready: true });
  expect(await operated.read("LatticeExternalService", "shop/stripe")).toMatchObject({
    status: {
      phase: "Pending",
      message: expect.stringContaining("the cluster does not have serviceentries.networking.istio.io; everything else") as string,
    },
  });
  await operated.live(100_000, 10_000);
  expect(operated.lines.filter(({ level, message }) => level === "warn" && message === "informer starts again")).toEqual([]);
  await operated.apply(...reducedMeshCrds());
  await operated.live(45_000, 500);
  expect(await operated.read("LatticeExternalService", "shop/stripe")).toMatchObject({
    status: { phase: "Ready", hosts: ["api.stripe.com"] },
  });
});

test("one kind alone may be missing: only resources that need it report it", async () => {
  const withoutFlagger = reducedMeshCrds().filter(({ metadata }) => !metadata.name.endsWith("flagger.app"));
  const canary = latticeService("shop/canary", { deploy: { strategy: "canary" } });
  await using operated = await OperatedCluster.start({ mesh: withoutFlagger, objects: [latticeService("shop/plain"), canary] });
  expect((await operated.service("shop/plain")).status?.phase).toBe("Ready");
  expect(await operated.condition("shop/canary", "PoliciesApplied")).toMatchObject({
    reason: "CRDsMissing",
    message: expect.stringContaining("does not have canaries.flagger.app;") as string,
  });
  expect(await operated.names("CiliumNetworkPolicy", "shop")).toEqual(["canary", "lattice-default-deny", "plain", "waypoint"]);
});

test("while a kind is missing nothing is pruned, and a kind that is no longer served is noticed", async () => {
  await using operated = await OperatedCluster.start({ objects: [environment("shop"), api, front] });
  await operated.remove(operated.cluster.resource("CustomResourceDefinition"), "ciliumnetworkpolicies.cilium.io");
  await operated.live(400_000, 5_000);
  expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({
    reason: "CRDsMissing",
    message: expect.stringContaining("does not have ciliumnetworkpolicies.cilium.io,") as string,
  });
  expect(await operated.names("AuthorizationPolicy", "shop")).toEqual(["api", "lattice-default-deny"]);
});

/** Deletion of services, and services that cannot be applied. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import { calls, environment, isCalledBy, latticeService, withVariables } from "../../../test/builders/lattice-objects.ts";
import { openServiceCrd } from "../../../test/builders/open-crd.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const READY = { type: "Ready", status: "True", reason: "Compiled" };

describe("deletion", () => {
  test("removes the applied objects and the rules of other services' policies that allowed it", async () => {
    const front = latticeService("shop/front", { resources: calls("api") });
    const api = latticeService("shop/api", { ...withVariables({ A: "b" }), resources: isCalledBy("front") });
    await using operated = await OperatedCluster.start({ objects: [front, api] });
    const egress = async () => JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/front"));
    expect(await egress()).toContain('"k8s:lattice.dev/service":"api"');
    await operated.remove(latticeServices, "shop/api");
    await operated.live(3_000);
    expect(await operated.read("LatticeService", "shop/api")).toBeUndefined();
    for (const kind of ["Deployment", "Service", "CiliumNetworkPolicy", "ServiceAccount"]) {
      expect([kind, await operated.read(kind, "shop/api")]).toEqual([kind, undefined]);
    }
    expect(await operated.read("ConfigMap", "shop/api-env")).toBeUndefined();
    expect(await egress()).not.toContain('"k8s:lattice.dev/service":"api"');
  });

  test("removes it from the policies of a service that cannot be compiled without it, and does not change that workload", async () => {
    const front = latticeService("shop/front", {
      ...withVariables({ URL: "${resources.api.url}" }),
      resources: { ...calls("api"), ...isCalledBy("x") },
    });
    const objects = [
      front,
      latticeService("shop/api", { resources: isCalledBy("front") }),
      latticeService("shop/x", { resources: calls("front") }),
    ];
    await using operated = await OperatedCluster.start({ objects });
    const before = await operated.read("Deployment", "shop/front");
    await operated.remove(latticeServices, "shop/api");
    await operated.live(3_000);
    expect((await operated.service("shop/front")).status).toMatchObject({ phase: "Pending" });
    expect(JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/front"))).not.toContain('"k8s:lattice.dev/service":"api"');
    expect(await operated.condition("shop/front", "PoliciesApplied")).toMatchObject({ status: "True" });
    expect((await operated.read("Deployment", "shop/front"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    expect(await operated.names("ConfigMap", "shop")).toContain("front-env");
    // its last caller is deleted: the policy that allowed the caller is deleted too, and nothing else
    expect(await operated.names("AuthorizationPolicy", "shop")).toContain("front");
    await operated.remove(latticeServices, "shop/x");
    await operated.live(3_000);
    expect(await operated.names("AuthorizationPolicy", "shop")).not.toContain("front");
    expect(await operated.names("Deployment", "shop")).toEqual(["front"]);
  });

  test("removes objects in the namespace of an environment too, where owner references are not possible, and keeps data", async () => {
    const spec = {
      environment: "prod",
      resources: { data: { type: "volume", params: { size: "1Gi" } } },
      containers: { main: { image: "a:1", volumes: { "/d": { source: "${resources.data.ref}" } } } },
    };
    await using operated = await OperatedCluster.start({
      objects: [environment("prod", { sourceNamespaces: ["team"] }), latticeService("team/api", spec)],
    });
    expect(await operated.names("Deployment", "prod")).toEqual(["api"]);
    expect((await operated.read("PersistentVolumeClaim", "prod/data"))?.metadata.ownerReferences).toBeUndefined();
    await operated.remove(latticeServices, "team/api");
    await operated.live(3_000);
    expect([await operated.names("Deployment", "prod"), await operated.names("ServiceAccount", "prod")]).toEqual([[], ["default"]]);
    expect(await operated.names("PersistentVolumeClaim", "prod")).toEqual(["data"]);
  });

  test("moving to another environment moves all objects", async () => {
    const environments = ["blue", "green"].map((name) => environment(name, { sourceNamespaces: ["team"] }));
    await using operated = await OperatedCluster.start({ objects: [...environments, latticeService("team/api", { environment: "blue" })] });
    await operated.apply(latticeService("team/api", { environment: "green" }));
    await operated.live(5_000);
    expect([await operated.names("Deployment", "blue"), await operated.names("Deployment", "green")]).toEqual([[], ["api"]]);
  });
});

describe("a service that cannot be applied", () => {
  test("because its namespace is not allowed reports it with the fix", async () => {
    await using operated = await OperatedCluster.start({
      objects: [environment("prod"), latticeService("team/api", { environment: "prod" })],
    });
    const { status } = await operated.service("team/api");
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining("add team to spec.sourceNamespaces") as string });
    await operated.apply(environment("prod", { sourceNamespaces: ["team"] }));
    await operated.live(3_000);
    expect(await operated.condition("team/api", "Ready")).toMatchObject(READY);
  });

  test("because it is older than the schema is rejected with its fields, and validated again after five minutes", async () => {
    const bad = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeService",
      metadata: { name: "api", namespace: "shop" },
      spec: { containers: {} },
    };
    await using operated = await OperatedCluster.start({ objects: [openServiceCrd()] });
    await operated.apply(bad);
    await operated.live(1_000);
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("at least one container") as string,
    });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(await operated.condition("shop/api", "Accepted")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    const passes = () => operated.lines.filter(({ fields }) => fields["controller"] === "service" && fields["name"] === "api").length;
    const before = passes();
    await operated.live(290_000, 10_000);
    expect(passes()).toBe(before);
    await operated.live(20_000, 10_000);
    expect(passes()).toBe(before + 1);
  });
});

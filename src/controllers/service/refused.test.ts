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

  test("because it uses patch mode is accepted, and reports that patch mode is not built yet", async () => {
    const workloadRef = { name: "nginx", namespace: "shop" };
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", { workloadRef })] });
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Pending",
      mode: "Patch",
      workloadRef: { resolved: false, ...workloadRef },
      message: "patch mode is not built yet: Deployment shop/nginx is left as it is",
    });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "PatchModeNotBuilt" });
    expect(await operated.condition("shop/api", "Implemented")).toMatchObject({
      status: "False",
      message: "this release of Lattice does not act on spec.workloadRef yet",
    });
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
  });

  describe("a service that had objects and now has a workloadRef", () => {
    const owned = (spec: object = {}) =>
      latticeService("shop/api", { ...withVariables({ A: "b" }), resources: isCalledBy("front", "other"), ...spec });
    const callers = ["front", "other"].map((name) => latticeService(`shop/${name}`, { resources: calls("api") }));
    const patched = (resources: object = isCalledBy("front", "other")) =>
      latticeService("shop/api", { resources, workloadRef: { name: "nginx", namespace: "shop" } });

    test("lists the remaining objects, that they stay, and what to do", async () => {
      await using operated = await OperatedCluster.start({ objects: [...callers, owned()] });
      const before = await operated.read("Deployment", "shop/api");
      await operated.apply(patched());
      await operated.live(5_000);
      const message =
        "patch mode is not built yet: Deployment shop/nginx is left as it is; what was made for this service before goes on as it was, and is not deleted: " +
        "Deployment shop/api, Service shop/api, ConfigMap shop/api-env, ServiceAccount shop/api and 2 more; " +
        "take spec.workloadRef out to go on with them, or delete the LatticeService to delete them (volume claims stay)";
      expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Pending", mode: "Patch", message });
      expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "PatchModeNotBuilt", message });
      expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True", reason: "RolloutComplete" });
      for (const type of ["TemplatesResolved", "ConfigCompiled"])
        expect(await operated.condition("shop/api", type)).toMatchObject({ status: "Unknown", reason: "PatchModeNotBuilt" });
      expect((await operated.read("Deployment", "shop/api"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
      expect((await operated.events()).map(({ reason }) => reason)).toContain("PatchModeNotBuilt");
    });

    test("has policies that follow its declarations: a withdrawn agreement removes the rule", async () => {
      await using operated = await OperatedCluster.start({ objects: [...callers, owned()] });
      await operated.apply(patched(isCalledBy("front")));
      await operated.live(5_000);
      const policies = JSON.stringify(await operated.read("AuthorizationPolicy", "shop/api"));
      expect([policies.includes("sa/front"), policies.includes("sa/other")]).toEqual([true, false]);
      expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True" });
    });

    test("manages them again when the workloadRef is removed, and deletes them when it is deleted", async () => {
      await using operated = await OperatedCluster.start({ objects: [...callers, owned()] });
      const uid = (await operated.read("Deployment", "shop/api"))?.metadata.uid;
      await operated.apply(patched());
      await operated.live(5_000);
      await operated.apply(owned());
      await operated.live(5_000);
      expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
      expect((await operated.read("Deployment", "shop/api"))?.metadata.uid).toBe(uid);
      await operated.apply(patched());
      await operated.live(5_000);
      await operated.remove(latticeServices, "shop/api");
      await operated.live(5_000);
      expect(await operated.names("Deployment", "shop")).toEqual(["front", "other"]);
    });
  });
});

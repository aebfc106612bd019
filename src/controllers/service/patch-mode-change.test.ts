/** A LatticeService that changes its mode or its Deployment: what is kept, what is removed, and which condition reports it. */
import { describe, expect, test } from "vitest";
import { deployments, fieldAt } from "#kube";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import {
  deployment,
  account,
  workloadRef,
  patching,
  startPatching,
  specOf,
  main,
  nginx,
  storedPatches,
  isPatched,
} from "../../../test/builders/patched-service.ts";

describe("a change of the mode", () => {
  const owning = () => latticeService("shop/web", { containers: { main: { image: "web:1", variables: { LEVEL: "debug" } } } });

  test("from ownership to patch keeps the own Deployment until the other is patched and available, and deletes it then", async () => {
    await using started = await startPatching([account(), owning()]);
    const { operated } = started;
    await operated.apply(patching());
    await operated.live(6_000, 500);
    expect(await operated.read("Deployment", "shop/web")).toBeDefined();
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      reason: "WorkloadNotFound",
      message: expect.stringMatching(
        /made for this service in ownership mode, kept until Deployment shop\/nginx is patched and available, and deleted then: Deployment shop\/web, ServiceAccount shop\/web/,
      ) as string,
    });
    await operated.apply(deployment());
    await operated.live(10_000, 500);
    expect(await operated.names("Deployment", "shop")).toEqual(["nginx"]);
    expect(await operated.names("ServiceAccount", "shop")).not.toContain("web");
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("from ownership to patch keeps and then deletes the autoscaler and the budget too, and keeps the Service, the config and the policies", async () => {
    const scaled = { replicas: { min: 2, max: 4 } };
    const own = latticeService("shop/web", { containers: { main: { image: "web:1", variables: { LEVEL: "debug" } } }, ...scaled });
    await using started = await startPatching([account(), own]);
    const { operated } = started;
    const kinds = ["Deployment", "ServiceAccount", "HorizontalPodAutoscaler", "PodDisruptionBudget"];
    const uid = async (kind: string, name: string) => (await operated.read(kind, `shop/${name}`))?.metadata.uid;
    for (const kind of kinds) expect(await operated.names(kind, "shop")).toContain("web");
    const kept = { Service: "web", AuthorizationPolicy: "web", CiliumNetworkPolicy: "web", ConfigMap: "web-env" };
    const uids = await Promise.all(Object.entries(kept).map(([kind, name]) => uid(kind, name)));
    await operated.apply(patching({ service: { ports: { http: { port: 8080 } } } }));
    await operated.live(6_000, 500);
    const { message = "" } = (await operated.condition("shop/web", "WorkloadPatched")) ?? {};
    for (const kind of kinds) expect(message).toContain(`${kind} shop/web`);
    for (const kind of kinds) expect(await operated.names(kind, "shop")).toContain("web");
    await operated.apply(deployment());
    await operated.live(10_000, 500);
    for (const kind of kinds) expect(await operated.names(kind, "shop")).not.toContain("web");
    expect(await Promise.all(Object.entries(kept).map(([kind, name]) => uid(kind, name)))).toEqual(uids);
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      status: "True",
      message: "Deployment shop/nginx has the patch",
    });
  });

  test("from patch to ownership makes no own Deployment while the other has the patch, and the conditions say so", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated, webhook } = started;
    webhook.isUp = false;
    await operated.apply(owning());
    await operated.live(6_000, 500);
    expect(await operated.read("Deployment", "shop/web")).toBeUndefined();
    for (const type of ["Ready", "WorkloadPatched"])
      expect(await operated.condition("shop/web", type)).toMatchObject({
        status: "False",
        reason: "Detaching",
        message: expect.stringContaining("Deployment shop/nginx") as string,
      });
    webhook.isUp = true;
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      status: "False",
      reason: "OwnershipMode",
      message: "Lattice makes and owns the Deployment",
    });
    expect(await storedPatches(operated)).toEqual([]);
    expect(JSON.stringify(await operated.read("Deployment", "shop/web"))).toContain('"serviceAccountName":"web"');
  });

  test("from patch to ownership restores the Deployment first, and makes an own one then", async () => {
    await using started = await startPatching([account(), deployment()]);
    const { operated } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    await operated.apply(owning());
    await operated.live(12_000, 500);
    expect(specOf(await nginx(started))).toBe(specOf(before));
    expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Ready", mode: "Ownership" });
    expect((await operated.service("shop/web")).status?.workloadRef).toBeUndefined();
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "False", reason: "OwnershipMode" });
  });

  test("to another Deployment restores the first, except what its owner changed since, which an event names", async () => {
    await using started = await startPatching([account(), deployment(), deployment({ name: "other" }), patching()]);
    const { operated } = started;
    const memory = { path: "/spec/template/spec/containers/0/resources/limits/memory", value: "3Gi" };
    started.webhook.isUp = false;
    await operated.client.patch(deployments, workloadRef, { type: "json", operations: [{ op: "replace", ...memory }] });
    await operated.apply(patching({ workloadRef: { ...workloadRef, name: "other" } }));
    started.webhook.isUp = true;
    await operated.live(12_000, 500);
    const first = await nginx(started);
    expect([isPatched(first), main(first)?.env, fieldAt(main(first), "resources", "limits")]).toEqual([
      false,
      [{ name: "LEVEL", value: "info" }],
      { memory: "3Gi" },
    ]);
    expect(isPatched(await operated.read("Deployment", "shop/other"))).toBe(true);
    const note = (await operated.events()).find(({ reason }) => reason === "PatchPartlyReverted")?.note;
    expect(note).toContain("not restored, because they were changed since: spec.template.spec.containers[main].resources.limits.memory");
  });
});

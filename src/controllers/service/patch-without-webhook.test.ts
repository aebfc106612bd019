/** Patch mode while the webhook or the operator is away. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import { fieldAt, type Deployment } from "#kube";
import { revertWorkloadPatch } from "#workload-patch";
import {
  container,
  deployment,
  account,
  patching,
  startPatching,
  specOf,
  main,
  nginx,
  storedPatches,
  isPatched,
} from "../../../test/builders/patched-service.ts";

describe("a webhook that does not act", () => {
  test("is reported, the Deployment is written again with growing waits, and it converges when the webhook is back", async () => {
    await using started = await startPatching([account()]);
    const { operated, webhook } = started;
    webhook.isUp = false;
    await operated.apply(deployment(), patching());
    await operated.live(20_000, 1_000);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({
      status: "False",
      reason: "WebhookDidNotAct",
      message: expect.stringContaining("MutatingWebhookConfiguration lattice-workload-patches") as string,
    });
    webhook.isUp = true;
    await operated.live(40_000, 1_000);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("misses an upgrade: the Deployment is patched again, and the upgrade stays", async () => {
    const containers = { main: { variables: { LEVEL: "debug", REGION: "eu" }, image: "nginx:debug" } };
    await using started = await startPatching([account(), deployment(), patching({ containers })]);
    const { operated, webhook } = started;
    webhook.isUp = false;
    await operated.apply(deployment({ containers: [{ ...container(), env: [{ name: "LEVEL", value: "warn" }] }] }));
    expect(main(await nginx(started))?.env).toContainEqual({ name: "LEVEL", value: "warn" });
    webhook.isUp = true;
    await operated.live(6_000, 500);
    const patched = await nginx(started);
    expect(main(patched)).toMatchObject({ image: "nginx:debug" });
    expect(main(patched)?.env).toContainEqual({ name: "LEVEL", value: "$(LATTICE_LEVEL)" });
    expect(patched === undefined ? undefined : main(revertWorkloadPatch(patched).deployment as Deployment)?.env).toEqual([
      { name: "LEVEL", value: "warn" },
    ]);
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True" });
  });

  test("while a service is deleted: after a minute the operator restores the Deployment itself, and owns none of its fields", async () => {
    await using started = await startPatching([account(), deployment()]);
    const { operated, webhook } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    webhook.isUp = false;
    await operated.remove(latticeServices, "shop/web");
    await operated.live(30_000, 1_000);
    expect(isPatched(await nginx(started))).toBe(true);
    await operated.live(60_000, 1_000);
    const after = await nginx(started);
    expect(specOf(after)).toBe(specOf(before));
    expect(after?.metadata.managedFields?.map((entry) => fieldAt(entry, "manager"))).not.toContain("lattice");
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
    const note = (await operated.events()).find(({ reason }) => reason === "PatchReverted")?.note;
    expect(note).toContain("the admission webhook did not act, so the operator wrote the Deployment itself");
  });
});

describe("an operator that was removed", () => {
  test("finds the Deployment of a service that was deleted meanwhile, and restores it", async () => {
    await using started = await startPatching([account(), deployment()]);
    const { operated } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    await operated.stopOperator();
    await operated.client.patch(
      latticeServices,
      { namespace: "shop", name: "web" },
      { type: "merge", patch: { metadata: { finalizers: null } } },
    );
    await operated.remove(latticeServices, "shop/web");
    await operated.client.deleteCollection(operated.cluster.resource("ConfigMap"), { namespace: "lattice-system" });
    operated.startOperator();
    await operated.live(10_000, 500);
    expect(specOf(await nginx(started))).toBe(specOf(before));
    expect(await storedPatches(operated)).toEqual([]);
  });
});

/** A patch is checked by the API server before it is stored, so that no write of the Deployment's owner is refused because of it. */
import { describe, expect, test } from "vitest";
import { failWith } from "#embedded-cluster";
import { deployments, field } from "#kube";
import {
  account,
  container,
  deployment,
  isPatched,
  main,
  nginx,
  patching,
  refusingImage,
  startPatching,
  storedPatches,
  workloadRef,
} from "../../../test/builders/patched-service.ts";

const withImage = (image: string) => patching({ containers: { main: { image, variables: { LEVEL: "debug" } } } });
const upgraded = deployment({ containers: [{ ...container(), command: ["upgraded"] }] });

describe("a new version of a patch that is on its Deployment", () => {
  test("is refused when the API server refuses it, and its owner can write the Deployment", async () => {
    await using started = await startPatching([account(), ...refusingImage("nginx:bad"), deployment(), withImage("nginx:2")]);
    const { operated } = started;
    await operated.apply(withImage("nginx:bad"));
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      reason: "PatchRejected",
      message: expect.stringContaining("the API server refuses Deployment shop/nginx with this patch") as string,
    });
    await operated.apply(upgraded);
    expect(field(main(await nginx(started)), "command")).toEqual(["upgraded"]);
  });
});

test("a patch that only the request is refused for is not kept in the store, and the condition has the reason", async () => {
  await using started = await startPatching([account(), deployment()]);
  const { operated } = started;
  const refuse = failWith("invalid", { message: "refused by a webhook that does not answer dry runs" });
  const isRequest = { verb: ["patch"], resource: "deployments", name: workloadRef.name } as const;
  using _refusing = operated.cluster.intercept(isRequest, (action, next, context) =>
    action.dryRun || action.user.name !== operated.user.name ? next() : refuse(action, next, context),
  );
  await operated.apply(patching());
  await operated.live(6_000, 500);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
    reason: "PatchRejected",
    message: expect.stringContaining("refused by a webhook that does not answer dry runs") as string,
  });
  expect(await storedPatches(operated)).toEqual([]);
  const body = { type: "merge", patch: { spec: { replicas: 2 } } } as const;
  expect((await operated.cluster.client.patch(deployments, workloadRef, body)).ok).toBe(true);
  expect(isPatched(await nginx(started))).toBe(false);
});

describe("a Deployment that does not exist", () => {
  test("is created by its owner although the API server refuses it with the patch; it is patched when the service is corrected", async () => {
    await using started = await startPatching([account(), ...refusingImage("nginx:bad"), withImage("nginx:bad")]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      reason: "PatchRejected",
      message: expect.stringContaining("the API server would refuse its creation with this patch") as string,
    });
    expect(await storedPatches(operated)).toEqual([]);
    await operated.apply(deployment());
    await operated.live(6_000, 500);
    expect(main(await nginx(started))?.image).toBe("nginx:1");
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "PatchRejected" });
    await operated.apply(withImage("nginx:2"));
    await operated.live(6_000, 500);
    expect(main(await nginx(started))?.image).toBe("nginx:2");
  });

  test("can be deleted and created again while its patch is refused", async () => {
    await using started = await startPatching([account(), ...refusingImage("nginx:bad"), deployment(), withImage("nginx:bad")]);
    const { operated } = started;
    await operated.remove(deployments, "shop/nginx");
    await operated.live(6_000, 500);
    expect(await storedPatches(operated)).toEqual([]);
    await operated.apply(deployment());
    expect(isPatched(await nginx(started))).toBe(false);
  });

  test("is patched at its creation when the API server refuses the check without the patch, too", async () => {
    const refused = "registry.k8s.io/pause:3.10";
    await using started = await startPatching([account(), ...refusingImage(refused), patching()]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "WorkloadNotFound" });
    await operated.apply(deployment());
    expect(isPatched(await nginx(started))).toBe(true);
  });

  test("is checked once for each patch", async () => {
    await using started = await startPatching([account(), patching()]);
    const { operated } = started;
    const checks = () => [...operated.cluster.actions].filter(({ fieldManager }) => fieldManager === "lattice-patch-check").length;
    expect([checks(), await storedPatches(operated)]).toEqual([1, [expect.any(String)]]);
    await operated.live(120_000, 5_000);
    expect(checks()).toBe(1);
    await operated.apply(withImage("nginx:3"));
    await operated.live(6_000, 500);
    expect(checks()).toBe(2);
  });
});

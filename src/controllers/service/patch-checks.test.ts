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

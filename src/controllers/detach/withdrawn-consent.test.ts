/** A Deployment of another namespace is patched only as long as its owner and the environment allow it. */
import { describe, expect, test } from "vitest";
import { deployments } from "#kube";
import { shopEnvironment, sharedDeployment, startSharing, tenantService } from "../../../test/builders/shared-deployment.ts";
import {
  account,
  container,
  deployment,
  isPatched,
  main,
  nginx,
  patching,
  specOf,
  startPatching,
  storedPatches,
} from "../../../test/builders/patched-service.ts";

const unlabelled = deployment({ metadata: { labels: {} } });

describe.each([
  { name: "the owner removes the label", withdraw: unlabelled, reason: "WorkloadNotAllowed" },
  { name: "the environment no longer names the namespace", withdraw: shopEnvironment([]), reason: "CompileError" },
])("when $name", ({ withdraw, reason }) => {
  test("the Deployment is restored, and the next upgrade is the owner's", async () => {
    await using started = await startSharing();
    const { operated } = started;
    expect(isPatched(await nginx(started))).toBe(true);
    await operated.apply(withdraw);
    await operated.live(10_000, 500);
    expect(await operated.condition("tenant/web", "Ready")).toMatchObject({ status: "False", reason });
    expect([isPatched(await nginx(started)), await storedPatches(operated)]).toEqual([false, []]);
    const upgrade = deployment({ containers: [{ ...container(), image: "nginx:9" }] });
    await operated.apply(upgrade);
    await operated.live(3_000, 500);
    expect([main(await nginx(started))?.image, main(await nginx(started))?.env, isPatched(await nginx(started))]).toEqual([
      "nginx:9",
      [{ name: "LEVEL", value: "info" }],
      false,
    ]);
  });

  test("the Deployment is patched again when it is allowed again", async () => {
    await using started = await startSharing();
    const { operated } = started;
    const before = specOf(await nginx(started));
    await operated.apply(withdraw);
    await operated.live(10_000, 500);
    await operated.apply(shopEnvironment(["tenant"]), sharedDeployment);
    await operated.live(70_000, 1_000);
    expect(specOf(await nginx(started))).toBe(before);
    expect(await operated.condition("tenant/web", "Ready")).toMatchObject({ status: "True" });
  });
});

test("a stored patch that is no longer allowed is deleted when the Deployment has no record", async () => {
  await using started = await startSharing();
  const { operated, webhook } = started;
  webhook.isUp = false;
  await operated.remove(deployments, "shop/nginx");
  await operated.live(1_000, 500);
  await operated.apply(deployment());
  await operated.live(3_000, 500);
  webhook.isUp = true;
  expect(await storedPatches(operated)).toEqual([]);
  await operated.apply(deployment({ containers: [{ ...container(), image: "nginx:9" }] }));
  expect(isPatched(await nginx(started))).toBe(false);
});

test("a service with another error keeps the patch of its Deployment", async () => {
  await using started = await startPatching([account(), deployment(), patching()]);
  const { operated } = started;
  await operated.apply(patching({ containers: { main: { variables: { LEVEL: "${resources.none.url}" } } } }));
  await operated.live(10_000, 500);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False" });
  expect(isPatched(await nginx(started))).toBe(true);
});

test("an older service that the owner does not allow does not take the Deployment from another", async () => {
  await using started = await startPatching([account(), shopEnvironment(["tenant"]), deployment(), tenantService("tenant/older")]);
  const { operated } = started;
  expect(isPatched(await nginx(started))).toBe(false);
  await operated.apply(patching());
  await operated.live(6_000, 500);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  expect((await nginx(started))?.metadata.labels).toMatchObject({ "lattice.dev/service": "web" });
  expect(await operated.condition("tenant/older", "Ready")).toMatchObject({ reason: "WorkloadNotAllowed" });
});

test("a Deployment that its owner creates without the label is never patched by a service of another namespace", async () => {
  await using started = await startPatching([account(), shopEnvironment(["tenant"]), tenantService()]);
  const { operated } = started;
  expect(await operated.condition("tenant/web", "Ready")).toMatchObject({ reason: "WorkloadNotFound" });
  await operated.apply(deployment());
  expect(isPatched(await nginx(started))).toBe(false);
  await operated.live(6_000, 500);
  expect((await nginx(started))?.metadata.generation).toBe(1);
  expect(await operated.condition("tenant/web", "Ready")).toMatchObject({ reason: "WorkloadNotAllowed" });
  await operated.apply(sharedDeployment);
  await operated.live(6_000, 500);
  expect(isPatched(await nginx(started))).toBe(true);
});

describe("a Deployment that its owner creates with the label", () => {
  test("is patched by a service of another namespace in the same request", async () => {
    await using started = await startPatching([account(), shopEnvironment(["tenant"]), tenantService()]);
    const { operated } = started;
    expect(await storedPatches(operated)).toHaveLength(1);
    await operated.apply(sharedDeployment);
    expect(main(await nginx(started))?.env).toContainEqual({ name: "LEVEL", value: "$(LATTICE_LEVEL)" });
    await operated.live(6_000, 500);
    expect(await operated.condition("tenant/web", "Ready")).toMatchObject({ status: "True" });
    expect(operated.writes().filter((write) => write.includes("deployments"))).toEqual([]);
  });

  test("is not patched when the environment does not name the namespace of the service any more", async () => {
    await using started = await startPatching([account(), shopEnvironment(["tenant"]), tenantService()]);
    const { operated } = started;
    await operated.apply(shopEnvironment([]));
    await operated.live(3_000, 500);
    expect(await storedPatches(operated)).toEqual([]);
    await operated.apply(sharedDeployment);
    await operated.live(6_000, 500);
    expect(isPatched(await nginx(started))).toBe(false);
  });
});

test("a write that removes the label restores the Deployment itself", async () => {
  await using started = await startSharing();
  const { operated } = started;
  await operated.apply(unlabelled);
  expect([isPatched(await nginx(started)), main(await nginx(started))?.env]).toEqual([false, [{ name: "LEVEL", value: "info" }]]);
});

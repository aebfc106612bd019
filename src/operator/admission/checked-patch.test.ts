/** The check of a new version of a patch goes through the webhook that has the version before. The operator and its webhook run as in a cluster. */
import { expect, test } from "vitest";
import { PatchedWorld, until } from "../../../test/builders/patched-world.ts";
import { account, deployment, main, patching, refusingImage, workloadRef } from "../../../test/builders/patched-service.ts";
import { deployments, type Deployment } from "#kube";

const withImage = (image: string) => patching({ containers: { main: { image, variables: { LEVEL: "debug" } } } });
const imageIn = async (world: PatchedWorld) => main((await world.read("Deployment", "shop/nginx")) as Deployment | undefined)?.image;

test("a new version of a patch is accepted although the API server has come to refuse the version before it", async () => {
  await using world = await PatchedWorld.start();
  await world.apply(account(), deployment(), withImage("nginx:2"));
  await until(async () => expect(await imageIn(world)).toBe("nginx:2"));
  await world.apply(...refusingImage("nginx:2"));
  await world.apply(withImage("nginx:3"));
  await until(async () => expect(await imageIn(world)).toBe("nginx:3"));
}, 60_000);

test("the check for a Deployment that does not exist goes through the webhook unchanged: a new version is refused although the version before it is not", async () => {
  await using world = await PatchedWorld.start();
  const patched = async () => (await world.conditions("shop/web")).get("WorkloadPatched");
  await world.apply(account(), ...refusingImage("nginx:bad"), withImage("nginx:2"));
  // the webhook is configured when it has the patch
  await world.apply(deployment());
  await until(async () => expect(await imageIn(world)).toBe("nginx:2"));
  await world.cluster.client.delete(deployments, workloadRef);
  await until(async () => expect(await patched()).toMatchObject({ reason: "WorkloadNotFound" }));
  await world.apply(withImage("nginx:bad"));
  await until(async () => expect(await patched()).toMatchObject({ reason: "PatchRejected" }));
  await world.apply(deployment());
  expect(await imageIn(world)).toBe("nginx:1");
}, 60_000);

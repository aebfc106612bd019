/** The check of a new version of a patch goes through the webhook that has the version before. The operator and its webhook run as in a cluster. */
import { expect, test } from "vitest";
import { PatchedWorld, until } from "../../../test/builders/patched-world.ts";
import { account, deployment, main, patching, refusingImage } from "../../../test/builders/patched-service.ts";
import type { Deployment } from "#kube";

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

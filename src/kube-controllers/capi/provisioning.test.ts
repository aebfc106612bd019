import { expect, test } from "vitest";
import { conditionsOf, textAt } from "./objects.ts";
import { CapiWorld } from "../../../test/builders/capi-world.ts";
import { localClusterYaml } from "../../../test/builders/capi-objects.ts";

async function isAvailable(world: CapiWorld): Promise<boolean> {
  const cluster = await world.read("Cluster", "c1");
  const machines = await world.all("Machine");
  return (
    conditionsOf(cluster).some(({ type, status }) => type === "Available" && status === "True") &&
    machines.every((machine) => textAt(machine, "status", "phase") === "Running")
  );
}

test("one control plane and two workers become available", async () => {
  await using world = await CapiWorld.start();
  await world.apply(localClusterYaml("c1"));
  await world.giveKubeconfig();
  await world.until(async () => (await world.all("Machine")).length === 3 && (await isAvailable(world)));
  expect(await world.nodeNames()).toHaveLength(3);
});

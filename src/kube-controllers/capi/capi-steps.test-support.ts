/** Steps that tests of the simulator of Cluster API share. */
import { isTrue, listAt, textAt } from "./objects.ts";
import { localClusterYaml, type LocalClusterShape } from "../../../test/builders/capi-objects.ts";
import { CapiWorld } from "./capi-world.test-support.ts";

/** The cluster is available, and has this many machines, all of them running and up to date. */
export async function isProvisioned(world: CapiWorld, machines: number): Promise<boolean> {
  const found = await world.all("Machine");
  if (found.length !== machines) return false;
  if (
    !found.every(
      (machine) => textAt(machine, "status", "phase") === "Running" && isTrue(machine, "Available") && isTrue(machine, "UpToDate"),
    )
  )
    return false;
  const cluster = await world.read("Cluster", "c1");
  return isTrue(cluster, "Available") && listAt(cluster, "status", "conditions").length > 10;
}

export async function provisioned(shape: LocalClusterShape = {}): Promise<CapiWorld> {
  const world = await CapiWorld.start();
  const { controlPlanes = 1, workers = 2 } = shape;
  await world.apply(localClusterYaml("c1", shape));
  await world.giveKubeconfig();
  await world.until(() => isProvisioned(world, controlPlanes + workers));
  return world;
}

import { expect, test } from "vitest";
import { conditionOf } from "./objects.ts";
import { localClusterYaml } from "../../../test/builders/capi-objects.ts";
import { isProvisioned, provisioned } from "./capi-steps.test-support.ts";
import { CapiWorld } from "./capi-world.test-support.ts";

const KINDS = [
  "Cluster",
  "LocalCluster",
  "KubeadmControlPlane",
  "MachineDeployment",
  "MachineSet",
  "Machine",
  "LocalMachine",
  "KubeadmConfig",
];
const TEMPLATES = ["LocalMachineTemplate", "KubeadmConfigTemplate"];

async function remains(world: CapiWorld): Promise<readonly string[]> {
  const found: string[] = [];
  for (const kind of [...KINDS, ...TEMPLATES, "Secret"]) {
    for (const { metadata } of await world.all(kind)) found.push(`${kind}/${metadata.name}`);
  }
  return found;
}

test("deleting a Cluster leaves nothing but the kubeconfig that was there before, in order", async () => {
  await using world = await provisioned({ controlPlanes: 3, workers: 2 });
  const from = world.writes.length;
  const stages: string[] = [];
  world.observe("Cluster", (cluster) => {
    const reason = conditionOf(cluster, "Deleting")?.reason ?? "";
    if (reason.startsWith("Waiting") && stages.at(-1) !== reason) stages.push(reason);
  });
  await world.delete("Cluster", "c1");
  await world.until(async () => (await remains(world)).every((one) => one === "Secret/c1-kubeconfig"));
  const order = ["machinedeployments", "machinesets", "kubeadmcontrolplanes", "localclusters"].map((plural) =>
    world.writes.slice(from).findIndex((write) => write.startsWith(`DELETE ${plural}/`)),
  );
  expect(order.every((at) => at >= 0)).toBe(true);
  expect(order).toEqual([...order].toSorted((left, right) => left - right));
  expect(stages).toEqual(["WaitingForWorkersDeletion", "WaitingForControlPlaneDeletion", "WaitingForInfrastructureDeletion"]);
  const lastWorker = world.writes.findLastIndex((write) => /PATCH machines\/c1\/c1-md/.test(write));
  expect(lastWorker).toBeLessThan(world.writes.findIndex((write) => write.startsWith("DELETE kubeadmcontrolplanes")));
  expect(world.host.runs.size).toBe(0);
});

test("a machine goes in order: its infrastructure, its bootstrap config, its Node", async () => {
  await using world = await provisioned({ workers: 2 });
  const [worker] = (await world.all("Machine")).filter(({ metadata }) => metadata.name.startsWith("c1-md"));
  const name = worker?.metadata.name ?? "";
  const from = world.writes.length;
  await world.delete("Machine", name);
  await world.until(async () => !(await world.exists("Machine", name)));
  const own = world.writes.slice(from).filter((write) => write.endsWith(`/${name}`) && write.startsWith("DELETE"));
  expect(own.slice(0, 2)).toEqual([`DELETE localmachines/c1/${name}`, `DELETE kubeadmconfigs/c1/${name}`]);
  expect(await world.nodeNames()).not.toContain(name);
  await world.until(() => isProvisioned(world, 3));
});

test("a machine whose child cannot be reached goes after the timeout of its Node", async () => {
  await using world = await provisioned({ workers: 1 });
  const [worker] = (await world.all("Machine")).filter(({ metadata }) => metadata.name.startsWith("c1-md"));
  world.childUp(false);
  await world.delete("Machine", worker?.metadata.name ?? "");
  await world.live(5_000, 1_000);
  expect(conditionOf(await world.read("Machine", worker?.metadata.name ?? ""), "Deleting")).toMatchObject({ reason: "DeletingNode" });
  await world.until(async () => !(await world.exists("Machine", worker?.metadata.name ?? "")), 20_000);
});

test("controllers that crash after every single write still create the cluster, scale it and delete it", async () => {
  await using world = await CapiWorld.start();
  await world.stop();
  await world.apply(localClusterYaml("c1", { controlPlanes: 1, workers: 1 }));
  await world.giveKubeconfig();
  const crashUntil = async (holds: () => Promise<boolean>) => {
    let restarts = 0;
    while (!(await holds())) {
      expect((restarts += 1), await world.summary()).toBeLessThan(400);
      await world.begin(1);
      for (let step = 0; step < 20 && !world.isCrashed; step += 1) await world.live(1_000, 1_000);
      await world.stop();
    }
    return restarts;
  };
  expect(await crashUntil(() => isProvisioned(world, 2))).toBeGreaterThan(20);
  expect(world.host.started).toHaveLength(2);
  expect(await world.all("LocalMachine")).toHaveLength(2);
  expect(await world.all("KubeadmConfig")).toHaveLength(2);
  await world.patch("MachineDeployment", "c1-md", { spec: { template: { spec: { version: "v1.37.0" } } } });
  await crashUntil(
    async () =>
      (await world.all("MachineSet")).length === 1 &&
      (await isProvisioned(world, 2)) &&
      JSON.stringify(await world.all("Machine")).includes("v1.37.0"),
  );
  await world.delete("Cluster", "c1");
  await crashUntil(async () => (await remains(world)).every((one) => one === "Secret/c1-kubeconfig"));
  expect(world.host.runs.size).toBe(0);
}, 120_000);

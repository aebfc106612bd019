/**
 * From `kubectl apply` of a LatticeCluster to a child that owns itself, on one machine: its machines run the same bootstrap script as in
 * production, it registers, its operator starts from the Deployment that it got, and its Cluster API objects are moved into it. Nothing dials the
 * child: every address of it that the parent can see is 127.0.0.9, where nothing listens.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { capiClusters, capiMachines, clusterResourceSets, fieldAt, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { FleetCell } from "../builders/fleet/child-of-a-cell.ts";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder } from "../builders/fleet/fleet-process.ts";

const folder = fleetFolder();
let fleet: FleetProcess;
let client: KubeClient;
let cell: FleetCell;

beforeAll(async () => {
  fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "1"]);
  await fleet.untilRunning(1);
  client = await clientOf(fleet.clusters()[0]?.kubeconfig ?? "");
  cell = new FleetCell(fleet, client);
}, 120_000);

afterAll(async () => {
  await client.close();
  await fleet.end();
  folder.remove();
}, 60_000);

test("a management cluster becomes a cell", { timeout: 120_000 }, async () => {
  await cell.becomeCell();
  expect((await cell.read("mgmt"))?.status).toMatchObject({ phase: "Ready", ownedBy: "self" });
});

test("a child is provisioned, registers, connects, and owns itself", { timeout: 240_000 }, async () => {
  await cell.create("prod", { nodes: { controlPlane: 1, workers: 1 } });
  await cell.untilPivoted("prod", 2);
  const cluster = await cell.read("prod");
  expect(cluster?.status).toMatchObject({
    phase: "Ready",
    readyNodes: 2,
    totalNodes: 2,
    kubernetesVersion: "v1.36.3",
    pools: { default: { desired: 1, ready: 1 } },
    ownedBy: "self",
    endpoint: "127.0.0.9:6443",
    agent: { state: "Ready" },
    pivot: { step: "done", epoch: 1 },
  });
  expect(cluster?.spec.cellRef).toBe("mgmt");
  expect(expectOk(await client.list<KubeObject>(capiClusters, { namespace: "capi-prod" })).items).toEqual([]);
  const child = await clientOf(fleet.clusters().find(({ name }) => name === "prod")?.kubeconfig ?? "");
  const machines = expectOk(await child.list<KubeObject>(capiMachines, { namespace: "capi-prod" })).items;
  expect(
    machines.map((machine) => [fieldAt(machine, "status", "phase"), fieldAt(machine, "status", "nodeRef", "name") !== undefined]),
  ).toEqual([
    ["Running", true],
    ["Running", true],
  ]);
  const capi = expectOk(await child.get<KubeObject>(capiClusters, { namespace: "capi-prod", name: "prod" }));
  expect(fieldAt(capi, "spec", "controlPlaneEndpoint", "host")).toBe("127.0.0.9");
  for (const side of [client, child]) expect(expectOk(await side.list<KubeObject>(clusterResourceSets)).items).toEqual([]);
  await child.close();
});

test("a deleted child leaves nothing", { timeout: 240_000 }, async () => {
  expectOk(await client.delete(latticeClusters, { name: "prod" }));
  await fleet.until("the child is gone", async () => (await cell.read("prod")) === undefined);
  await fleet.until("its processes are gone", () => fleet.clusters().every(({ name }) => name !== "prod"));
});

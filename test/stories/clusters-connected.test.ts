/**
 * From `kubectl apply` of a LatticeCluster to a child whose agent is connected, on one machine: its machines run the same bootstrap script as in
 * production, it registers, its operator starts from the Deployment that it got, and the parent reports it. Nothing dials the child: every address
 * of it that the parent can see is 127.0.0.9, where nothing listens.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import {
  capiClusters,
  capiMachines,
  clusterResourceSets,
  configMaps,
  fieldAt,
  findCondition,
  type ConfigMap,
  type KubeObject,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder } from "../builders/fleet/fleet-process.ts";
import { freePorts } from "../builders/two-clusters.ts";

const folder = fleetFolder();
let fleet: FleetProcess;
let client: KubeClient;

function localCluster(name: string, spec: object): LatticeCluster {
  const provider = { type: "local", kubernetes: { version: "v1.36.3" } };
  const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name }, spec: { provider, ...spec } };
  return object as unknown as LatticeCluster;
}

beforeAll(async () => {
  fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "1"]);
  await fleet.untilRunning(1);
  client = await clientOf(fleet.clusters()[0]?.kubeconfig ?? "");
}, 120_000);

afterAll(async () => {
  await client.close();
  await fleet.end();
  folder.remove();
}, 60_000);

const read = async (name: string) => {
  const found = await client.get(latticeClusters, { name });
  return found.ok ? found.value : undefined;
};
const condition = async (name: string, type: string) => findCondition((await read(name))?.status?.conditions, type);

test("a management cluster becomes a cell", { timeout: 120_000 }, async () => {
  const identity: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "lattice-identity", namespace: "lattice-system" },
    data: { cluster: "mgmt" },
  };
  const [grpcPort, bootstrapPort, proxyPort] = await freePorts(3);
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  expectOk(await client.create(configMaps, identity));
  expectOk(await client.create(latticeClusters, localCluster("mgmt", { nodes: { controlPlane: 1, workers: 0 }, endpoints })));
  await fleet.until("the own cluster is ready", async () => (await condition("mgmt", "Ready"))?.status === "True");
  expect((await read("mgmt"))?.status).toMatchObject({ phase: "Ready", ownedBy: "self" });
});

test("a child is provisioned, registers, and its agent connects", { timeout: 240_000 }, async () => {
  expectOk(await client.create(latticeClusters, localCluster("prod", { nodes: { controlPlane: 1, workers: 1 } })));
  await fleet.until("the agent is connected", async () => (await condition("prod", "AgentConnected"))?.status === "True");
  await fleet.until("the child is complete", async () => (await condition("prod", "Ready"))?.reason === "PivotNotBuilt");
  await fleet.until("all nodes are reported", async () => (await read("prod"))?.status?.readyNodes === 2);
  const cluster = await read("prod");
  expect(cluster?.status).toMatchObject({
    phase: "Provisioning",
    readyNodes: 2,
    totalNodes: 2,
    kubernetesVersion: "v1.36.3",
    pools: { default: { desired: 1, ready: 1 } },
    ownedBy: "mgmt",
    endpoint: "127.0.0.9:6443",
    agent: { state: "Ready" },
  });
  expect(cluster?.spec.cellRef).toBe("mgmt");
  const machines = expectOk(await client.list<KubeObject>(capiMachines, { namespace: "capi-prod" })).items;
  expect(
    machines.map((machine) => [fieldAt(machine, "status", "phase"), fieldAt(machine, "status", "nodeRef", "name") !== undefined]),
  ).toEqual([
    ["Running", true],
    ["Running", true],
  ]);
  const capi = expectOk(await client.get<KubeObject>(capiClusters, { namespace: "capi-prod", name: "prod" }));
  expect(fieldAt(capi, "spec", "controlPlaneEndpoint", "host")).toBe("127.0.0.9");
  expect(expectOk(await client.list<KubeObject>(clusterResourceSets)).items).toEqual([]);
});

test("a deleted child leaves nothing", { timeout: 240_000 }, async () => {
  expectOk(await client.delete(latticeClusters, { name: "prod" }));
  await fleet.until("the child is gone", async () => (await read("prod")) === undefined);
  await fleet.until("its processes are gone", () => fleet.clusters().every(({ name }) => name !== "prod"));
});

/**
 * The program that pivot-e2e.test.ts runs, where only loopback exists: `lattice up`, then everything that a cluster which owns itself must do
 * without its parent. It prints a line for each point that it has seen.
 */
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { capiClusters, fieldAt, secrets } from "#kube";
import { FleetProcess, fleetFolder } from "../../builders/fleet/fleet-process.ts";
import { RunCluster, runLattice } from "./laptop-run.ts";
import { applyMesh, areServicesReady, copyShop, MESH_NAMESPACE, randomMesh } from "./random-mesh.ts";

const FROM = "v1.36.3";
const TO = "v1.37.0";
const SEED = 20_261_117;

const folder = fleetFolder();
const second = fleetFolder();
const fleets = [new FleetProcess(folder.path, [])];
const [fleet] = fleets as [FleetProcess];

function passed(point: string): void {
  console.log(`${(performance.now() / 1_000).toFixed(0)} s  ${point}`);
}

function check(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`not true: ${what}\n${fleet.output}`);
}

async function main(): Promise<void> {
  const mgmt = await RunCluster.open(fleet, "mgmt");
  await mgmt.untilOwnsItself();
  await fleet.until("the bootstrap cluster is gone", () => fleet.clusters().every(({ name }) => name !== "lattice-bootstrap"));
  const parent = await mgmt.client.get(secrets, { namespace: "lattice-system", name: "lattice-parent-config" });
  check("the management cluster has no parent", !parent.ok && parent.error.kind === "not-found");
  passed("the management cluster was made by a bootstrap cluster, and owns itself");

  const [east, west] = [await RunCluster.open(fleet, "east"), await RunCluster.open(fleet, "west")];
  for (const child of [east, west]) await ownedAwayFrom(mgmt, child);
  passed("workload clusters own themselves, and their parent has none of their objects");

  const edge = await RunCluster.open(fleet, "edge");
  await ownedAwayFrom(east, edge);
  passed("a leaf that a workload cluster made owns itself");

  const stopped = await runLattice("stop", "mgmt", "--data-dir", folder.path);
  check(`the parent is stopped: ${stopped.output}`, stopped.code === 0);
  rmSync(join(dirname(mgmt.kubeconfig), "data"), { recursive: true });
  passed("the parent is gone, with its data");
  await Promise.all([east, edge].map(manageItself));
  passed("a cell and a leaf have scaled, upgraded and replaced a worker and a control-plane machine");

  await adopt([east, edge]);
  passed("another parent has adopted the cell and the leaf");

  await copyShop(west.client, edge.client);
  await edge.until("the shop is ready", () => areServicesReady(edge.client, "default"));
  await meshOf(edge);
  passed("the agreements of the shop and of a mesh on the pivoted leaf are as declared");
}

/** Both sides are asked: exactly one has the objects, and no address of the child that its parent has seen can be reached. */
async function ownedAwayFrom(parent: RunCluster, child: RunCluster): Promise<void> {
  await child.untilOwnsItself();
  await parent.until(`its mirror of ${child.name} is Ready`, async () => {
    const { phase, ownedBy } = (await parent.read(child.name))?.status ?? {};
    return phase === "Ready" && ownedBy === "self";
  });
  check(`${parent.name} has no Cluster of ${child.name}`, !(await parent.hasClusterApi(child.name)));
  const cluster = await child.client.get(capiClusters, { namespace: `capi-${child.name}`, name: child.name });
  const host = cluster.ok ? fieldAt(cluster.value, "spec", "controlPlaneEndpoint", "host") : undefined;
  check(`nothing listens at the address of ${child.name} that its parent saw (${JSON.stringify(host)})`, host === "127.0.0.9");
}

async function manageItself(cluster: RunCluster): Promise<void> {
  await cluster.patch({ nodes: { controlPlane: 3, workers: 2 } });
  await cluster.until("scales", async () => (await cluster.running(true)).length === 3 && (await cluster.running(false)).length === 2);
  await cluster.patch({ provider: { kubernetes: { version: TO } } });
  await cluster.until(`is upgraded from ${FROM}`, async () => {
    const [planes, workers] = [await cluster.running(true, TO), await cluster.running(false, TO)];
    return planes.length === 3 && workers.length === 2 && (await cluster.machines()).length === 5;
  });
  await cluster.replace(false, TO);
  await cluster.replace(true, TO);
}

/** The cell's former parent is gone; that of the leaf is the cell, which runs. */
async function adopt(children: readonly RunCluster[]): Promise<void> {
  const other = new FleetProcess(second.path, ["--empty", "--cell"]);
  fleets.push(other);
  const parent = await RunCluster.open(other, "mgmt");
  await parent.until("is a cell", async () => (await parent.read())?.status?.phase === "Ready");
  for (const child of children) {
    const result = await runLattice("reparent", child.name, "--kubeconfig", child.kubeconfig, "--to", parent.kubeconfig);
    check(`lattice reparent ends with 0: ${result.output}`, result.code === 0);
    await parent.until(`shows ${child.name}`, async () => {
      const { phase, ownedBy, agent } = (await parent.read(child.name))?.status ?? {};
      return phase === "Ready" && ownedBy === "self" && agent?.state === "Ready";
    });
    check("the new parent has made no machines", !(await parent.hasClusterApi(child.name)));
  }
}

async function meshOf(cluster: RunCluster): Promise<void> {
  const closed = await runLattice("why", "cart", "catalog", "--kubeconfig", cluster.kubeconfig);
  check(`the shop's missing agreement is closed: ${closed.output}`, closed.code === 1);
  const open = await runLattice("why", "storefront", "cart", "--kubeconfig", cluster.kubeconfig);
  check(`the shop's other agreements are open: ${open.output}`, open.code === 0);
  const mesh = randomMesh(SEED);
  check(
    "some pairs are open",
    mesh.assertions.some(({ expect }) => expect === "open"),
  );
  await applyMesh(cluster.client, mesh);
  await cluster.until("the mesh is ready", () => areServicesReady(cluster.client, MESH_NAMESPACE, mesh.services.length));
  const file = join(folder.path, "assertions.yaml");
  writeFileSync(file, JSON.stringify(mesh.assertions));
  const asserted = await runLattice("why", "--assert", file, "--kubeconfig", cluster.kubeconfig);
  check(`${mesh.assertions.length} pairs are as declared: ${asserted.output.slice(-2_000)}`, asserted.code === 0);
}

try {
  await main();
} finally {
  for (const one of fleets) await one.end();
  for (const one of [folder, second]) one.remove();
}

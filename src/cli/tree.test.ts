/** `lattice tree` on embedded clusters over HTTP: one cluster, and the files of a local fleet. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, nodeProcesses, systemClock } from "#base";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { clusterFolder, fleetFolder } from "#fleet";
import { configMaps, namespaces } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";

let clusters: readonly EmbeddedCluster[];
let empty: EmbeddedCluster;
let cwd: string;
const started = async () => startEmbeddedCluster({ objects: latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject) });

async function fill({ client }: EmbeddedCluster, name: string, children: readonly string[]): Promise<void> {
  expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } }));
  const metadata = { name: "lattice-identity", namespace: "lattice-system" };
  expectOk(await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { cluster: name } }));
  for (const one of [name, ...children]) {
    const spec = { provider: { type: "local", kubernetes: { version: "v1.36.3" } }, nodes: { controlPlane: 1, workers: 0 } };
    const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name: one }, spec };
    const made = expectOk(await client.create(latticeClusters, object as unknown as LatticeCluster));
    const conditions = [{ type: "Ready", status: "True", reason: "SelfManaged", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }];
    const status = { phase: "Ready", ownedBy: "self", readyNodes: 1, totalNodes: 1, conditions };
    expectOk(await client.update(latticeClusters, { ...made, status } as unknown as LatticeCluster, { subresource: "status" }));
  }
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-tree-"));
  clusters = [await started(), await started()];
  const [mgmt, east] = clusters;
  if (mgmt === undefined || east === undefined) return;
  await fill(mgmt, "mgmt", ["east", "west"]);
  await fill(east, "east", ["edge"]);
  empty = await startEmbeddedCluster();
  const folder = fleetFolder(join(cwd, ".lattice"));
  const listed = [
    { name: "mgmt", state: "Running" },
    { name: "east", parent: "mgmt", state: "Running" },
    { name: "west", parent: "mgmt", state: "Stopped" },
    { name: "lost", state: "Running" },
  ];
  for (const [at, { name }] of listed.entries()) {
    const { kubeconfig } = clusterFolder(folder, name);
    mkdirSync(dirname(kubeconfig), { recursive: true, mode: 0o700 });
    const served = clusters[at];
    if (served !== undefined) writeFileSync(kubeconfig, await served.kubeconfig({ http: true }), { mode: 0o600 });
  }
  writeFileSync(folder.kubeconfig, await mgmt.kubeconfig({ http: true }), { mode: 0o600 });
  writeFileSync(folder.state, JSON.stringify({ clusters: listed }));
  writeFileSync(folder.record, JSON.stringify({ pid: process.pid, process: nodeProcesses.identify(process.pid), processes: [] }));
});

afterAll(async () => {
  for (const cluster of [...clusters, empty]) await cluster.close();
  rmSync(cwd, { recursive: true });
});

const run = (argv: readonly string[], more: object = {}) =>
  runCli(["tree", ...argv], { cwd, clock: systemClock, userId: statSync(cwd).uid, ...more });

test("a local fleet is shown with all its levels, and clusters that do not answer with the reason", async () => {
  const { code, stdout, stderr } = await run([]);
  expect(stderr).toBe("");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^mgmt .*\n├─ east .*healthy\n│ {2}└─ edge .*healthy\n└─ west .*does not answer: it is stopped; lattice start west starts it\nlost /m,
  );
  expect(stdout).toMatch(/^lost .*does not answer: .*\/lost\/kubeconfig is not used: /m);
  expect(stdout).toMatch(/^3 of 5 clusters are healthy$/m);
});

test("without lattice up, a stopped cluster names the command that starts the fleet", async () => {
  const { kubeconfig, record } = fleetFolder(join(cwd, ".lattice"));
  const kept = readFileSync(record, "utf8");
  rmSync(record);
  try {
    const { stdout } = await run(["--kubeconfig", kubeconfig]);
    expect(stdout).toMatch(/west .*does not answer: it is stopped; lattice up starts the fleet\n/);
  } finally {
    writeFileSync(record, kept);
  }
});

test("a tree begins at the cluster of the kubeconfig", async () => {
  const kubeconfig = clusterFolder(fleetFolder(join(cwd, ".lattice")), "east").kubeconfig;
  expect(await run(["--kubeconfig", kubeconfig])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^CLUSTER[^]*\neast [^]*\n└─ edge /) as string,
  });
  const { stdout } = await run(["-o", "json", "--depth", "0"], { env: { KUBECONFIG: kubeconfig } });
  expect(JSON.parse(stdout)).toMatchObject({ clusters: [{ name: "east", hidden: 1, children: [] }] });
});

test("another cluster is shown with its children", async () => {
  const kubeconfig = join(cwd, "other");
  writeFileSync(kubeconfig, (await clusters[0]?.kubeconfig({ http: true })) ?? "");
  const { code, stdout } = await run(["--kubeconfig", kubeconfig]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^mgmt [^]*\n├─ east [^]*\n└─ west [^]*\n3 of 3 clusters are healthy\n$/m);
});

test("a cluster without the kinds, one that does not exist and a wrong depth are one sentence each", async () => {
  const kubeconfig = join(cwd, "empty");
  writeFileSync(kubeconfig, await empty.kubeconfig({ http: true }));
  expect(await run(["--kubeconfig", kubeconfig])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the cluster has no LatticeClusters") as string,
  });
  expect(await run(["--kubeconfig", join(cwd, "nothing")])).toMatchObject({ code: 2, stdout: "" });
  expect(await run(["--depth", "x"])).toMatchObject({ code: 2, stderr: 'lattice: --depth: "x" is not a number of levels such as 1\n' });
});

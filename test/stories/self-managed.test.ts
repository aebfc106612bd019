/**
 * A child after its pivot, with its parent stopped: it scales, goes to the next minor version of Kubernetes in stages, and replaces a worker and a
 * control-plane machine. Real processes; Cluster API in the child reaches it by the kubeconfig that its own operator has written.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import {
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  fieldAt,
  findCondition,
  kubeadmControlPlanes,
  nodes,
  secrets,
  type KubeObject,
  type Node,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { runCli } from "../builders/cli-io.ts";
import { FleetCell } from "../builders/fleet/child-of-a-cell.ts";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder } from "../builders/fleet/fleet-process.ts";

const [OLD, NEW] = ["v1.35.3", "v1.36.3"];
const NAMESPACE = { namespace: "capi-dev" };
const folder = fleetFolder();
let fleet: FleetProcess;
let parent: KubeClient;
let child: KubeClient;

beforeAll(async () => {
  fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "1"]);
  await fleet.untilRunning(1);
  parent = await clientOf(fleet.clusters()[0]?.kubeconfig ?? "");
  const cell = new FleetCell(fleet, parent);
  await cell.becomeCell();
  const provider = { type: "local", kubernetes: { version: OLD } };
  await cell.create("dev", { provider, nodes: { controlPlane: 3, workers: 1, workerPools: { batch: { replicas: 1 } } } });
  await fleet.until("the child owns itself", async () => (await cell.read("dev"))?.status?.ownedBy === "self");
  child = await clientOf(fleet.clusters().find(({ name }) => name === "dev")?.kubeconfig ?? "");
  expect(await runCli(["stop", "mgmt", "--data-dir", folder.path], { clock: systemClock })).toMatchObject({ code: 0 });
}, 300_000);

afterAll(async () => {
  await Promise.all([parent, child].map((client) => client.close()));
  await fleet.end();
  folder.remove();
}, 60_000);

const own = async (): Promise<LatticeCluster> => expectOk(await child.get(latticeClusters, { name: "dev" }));
const listNodes = async (): Promise<readonly Node[]> => expectOk(await child.list(nodes)).items;
const machines = async (): Promise<readonly KubeObject[]> => expectOk(await child.list<KubeObject>(capiMachines, NAMESPACE)).items;
const isControlPlane = ({ metadata }: KubeObject) => metadata.labels?.["cluster.x-k8s.io/control-plane"] !== undefined;

async function change(spec: object): Promise<void> {
  expectOk(await child.patch(latticeClusters, { name: "dev" }, { type: "merge", patch: { spec } as never }));
}

/** All machines run with one version, and the cluster's own resource reports it. */
async function untilSettled(count: number, version: string): Promise<void> {
  await fleet.until(`${count} machines run ${version}`, async () => {
    const all = await machines();
    const { status } = await own();
    const isRunning = (machine: KubeObject) =>
      fieldAt(machine, "status", "phase") === "Running" && fieldAt(machine, "spec", "version") === version;
    const isReady = findCondition(status?.conditions, "Ready");
    return all.length === count && all.every(isRunning) && status?.readyNodes === count && isReady?.reason === "SelfManaged";
  });
}

describe("a child that owns itself, while its parent is stopped", { timeout: 240_000 }, () => {
  test("reports that it owns itself, and reaches itself with an account of its own", async () => {
    await untilSettled(5, OLD);
    expect((await own()).status).toMatchObject({ phase: "Ready", ownedBy: "self", pools: { batch: { ready: 1 }, default: { ready: 1 } } });
    const secret = expectOk(await child.get<KubeObject>(secrets, { ...NAMESPACE, name: "dev-kubeconfig" }));
    const value = Buffer.from(String(fieldAt(secret, "data", "value")), "base64").toString();
    expect(value).toContain("lattice-cluster-api");
    expect(value).not.toContain("/clusters/dev");
    expect(Object.keys(Object(fieldAt(secret, "data")))).toEqual(["value"]);
  });

  test("scales a pool up and down", async () => {
    await change({ nodes: { workers: 3 } });
    await untilSettled(7, OLD);
    await change({ nodes: { workers: 1 } });
    await untilSettled(5, OLD);
    expect((await listNodes()).length).toBe(5);
  });

  test("goes to the next minor version: the control plane, then one pool after the other, never with kubelets that are newer", async () => {
    const seen = new Set<string>();
    await change({ provider: { kubernetes: { version: NEW } } });
    await fleet.until("all have the new version", async () => {
      const controlPlane = expectOk(await child.list<KubeObject>(kubeadmControlPlanes, NAMESPACE)).items[0];
      const pools = expectOk(await child.list<KubeObject>(capiMachineDeployments, NAMESPACE)).items;
      const versions = pools.map((pool) => String(fieldAt(pool, "spec", "template", "spec", "version")));
      seen.add([fieldAt(controlPlane, "spec", "version"), ...versions].join(" "));
      return versions.every((version) => version === NEW);
    });
    await untilSettled(5, NEW);
    // pools in the order of their names: batch, default; a stage may be shorter than a look
    const stages = [`${OLD} ${OLD} ${OLD}`, `${NEW} ${OLD} ${OLD}`, `${NEW} ${NEW} ${OLD}`, `${NEW} ${NEW} ${NEW}`];
    expect(stages.filter((stage) => seen.has(stage))).toEqual([...seen]);
    expect(seen).toContain(stages[1]);
    expect((await listNodes()).map(({ status }) => status?.nodeInfo?.["kubeletVersion"])).toEqual(Array.from({ length: 5 }, () => NEW));
  });

  test("replaces a worker and a control-plane machine that are deleted", async () => {
    const before = await machines();
    const gone = [before.find(isControlPlane), before.find((machine) => !isControlPlane(machine))].flatMap(
      (machine) => machine?.metadata.name ?? [],
    );
    expect(gone).toHaveLength(2);
    for (const name of gone) expectOk(await child.delete(capiMachines, { ...NAMESPACE, name }));
    await fleet.until("both machines are gone", async () => !(await machines()).some(({ metadata }) => gone.includes(metadata.name)));
    await untilSettled(5, NEW);
    expect((await listNodes()).some(({ metadata }) => gone.includes(metadata.name))).toBe(false);
  });

  test("replaces a worker that its health check has to repair", async () => {
    const name =
      (await machines()).find(({ metadata }) => metadata.labels?.["cluster.x-k8s.io/deployment-name"] === "dev-default")?.metadata.name ??
      "";
    expect(expectOk(await child.list<KubeObject>(capiMachineHealthChecks, NAMESPACE)).items).toHaveLength(3);
    const marked = { metadata: { annotations: { "cluster.x-k8s.io/remediate-machine": "" } } };
    expectOk(await child.patch(capiMachines, { ...NAMESPACE, name }, { type: "merge", patch: marked }));
    await fleet.until("the machine is gone", async () => !(await machines()).some(({ metadata }) => metadata.name === name));
    await untilSettled(5, NEW);
  });

  test("refuses a downgrade and a skipped minor version with a sentence, and stays as it is", async () => {
    for (const [version, want] of [
      [OLD, "cannot go back from v1.36.3 to v1.35.3"],
      ["v1.38.0", "is not supported"],
    ] as const) {
      await change({ provider: { kubernetes: { version } } });
      await fleet.until(`${version} is refused`, async () => (await own()).status?.message?.includes(want) === true);
      expect(findCondition((await own()).status?.conditions, "Ready")).toMatchObject({ status: "False", reason: "CompileError" });
    }
    await change({ provider: { kubernetes: { version: NEW } } });
    await untilSettled(5, NEW);
  });
});

/**
 * The operator of a cluster is its Deployment: scaling it starts and ends processes, `kubectl logs` shows their output, and a node that is
 * powered off or deleted takes its processes with it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { deployments, nodes, pods, type Pod } from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf, leaseHolder, untilLeads } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder, processesOf } from "../builders/fleet/fleet-process.ts";

const OPERATOR = { namespace: "lattice-system", name: "lattice-operator" };
const folder = fleetFolder();
let fleet: FleetProcess;
let client: KubeClient;

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

async function operatorPods(): Promise<readonly Pod[]> {
  const found = await client.list(pods, { namespace: OPERATOR.namespace });
  return found.ok ? found.value.items : [];
}

const isReady = ({ status }: Pod) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
/** All processes of the cluster but the API server. */
const operatorPids = () => fleet.clusters()[0]?.pids.slice(1) ?? [];

async function scale(replicas: number): Promise<void> {
  expectOk(await client.patch(deployments, OPERATOR, { type: "merge", patch: { spec: { replicas } } }));
  await fleet.until(`${replicas} operators run`, async () => {
    const found = await operatorPods();
    return found.length === replicas && found.every(isReady) && operatorPids().length === replicas;
  });
}

test("scaling the Deployment to 0 ends the process", { timeout: 120_000 }, async () => {
  const [before = 0] = operatorPids();
  await scale(0);
  expect(processesOf(folder.path)).not.toContain(before);
  expect(expectOk(await client.get(deployments, OPERATOR)).status?.readyReplicas ?? 0).toBe(0);
});

test(
  "with two replicas two processes run and one of them leads; the other takes over when that Pod is deleted",
  { timeout: 120_000 },
  async () => {
    const since = Date.now();
    await scale(2);
    await untilLeads(client, since, 20_000);
    const leading = await Promise.all((await operatorPods()).map(async (pod) => [pod.metadata.name, await logOf(pod)] as const));
    expect(leading.filter(([, log]) => log.includes(" leading ")).length).toBe(1);
    const leader = leading.find(([, log]) => log.includes(" leading "))?.[0] ?? "";
    const holder = await leaseHolder(client);
    expectOk(await client.delete(pods, { namespace: OPERATOR.namespace, name: leader }));
    await fleet.until("the other one leads", async () => {
      const now = await leaseHolder(client);
      return now !== "" && now !== holder;
    });
  },
);

async function logOf({ metadata: { name } }: Pod): Promise<string> {
  return expectOk(await client.raw(`/api/v1/namespaces/${OPERATOR.namespace}/pods/${name}/log`));
}

test("what a user changed on the Deployment is kept when the API server is killed", { timeout: 120_000 }, async () => {
  await scale(1);
  const [server = 0] = fleet.clusters()[0]?.pids ?? [];
  const [operator = 0] = operatorPids();
  const [pod] = await operatorPods();
  process.kill(server, "SIGKILL");
  await fleet.until("the API server is back", async () => (await client.get(deployments, OPERATOR, { timeoutMs: 1_000 })).ok);
  // the operator's process survived, and so did its Pod
  expect(operatorPids()).toEqual([operator]);
  expect((await operatorPods()).map(({ metadata }) => metadata.uid)).toEqual([pod?.metadata.uid]);
  await wait(1_000);
  expect((await operatorPods()).map(({ status }) => status?.containerStatuses?.[0]?.restartCount)).toEqual([0]);
});

test(
  "a node that is powered off ends its processes, also after a restart of the API server; powered on, they run again",
  { timeout: 180_000 },
  async () => {
    const [pod] = await operatorPods();
    const [operator = 0] = operatorPids();
    const node = { name: pod?.spec.nodeName ?? "" };
    const stopped = (value: string | null) => ({ metadata: { annotations: { "simulation.lattice.dev/stopped": value } } });
    expectOk(await client.patch(nodes, node, { type: "merge", patch: stopped("true") }));
    await fleet.until("its process has ended", () => !processesOf(folder.path).includes(operator));
    process.kill(fleet.clusters()[0]?.pids[0] ?? 0, "SIGKILL");
    await fleet.until("the API server is back", async () => (await client.get(nodes, node, { timeoutMs: 1_000 })).ok);
    await wait(2_000);
    expect(operatorPids()).toEqual([]);
    expectOk(await client.patch(nodes, node, { type: "merge", patch: stopped(null) }));
    await fleet.until("its process runs again", async () => operatorPids().length === 1 && (await operatorPods()).every(isReady));
    const [again] = await operatorPods();
    expect([again?.metadata.uid, again?.status?.containerStatuses?.[0]?.restartCount]).toEqual([pod?.metadata.uid, 1]);
  },
);

test("a Node that is deleted takes its Pod with it, and the operator runs on the other node", { timeout: 180_000 }, async () => {
  const [pod] = await operatorPods();
  const name = pod?.spec.nodeName ?? "";
  expectOk(await client.delete(nodes, { name }));
  await fleet.until("the operator runs elsewhere", async () => {
    const found = await operatorPods();
    return found.length === 1 && found.every((one) => isReady(one) && one.spec.nodeName !== name) && operatorPids().length === 1;
  });
  // it does not come back with the next start
  process.kill(fleet.clusters()[0]?.pids[0] ?? 0, "SIGKILL");
  await fleet.until("the API server is back", async () => (await client.list(nodes, {}, { timeoutMs: 1_000 })).ok);
  await wait(2_000);
  expect(expectOk(await client.list(nodes)).items.map(({ metadata }) => metadata.name)).not.toContain(name);
});

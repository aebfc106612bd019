/** A cluster of the fleet as processes: each of them is killed with -9, and the cluster stays the same. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger, expectOk, nodeProcesses, systemClock } from "#base";
import { fleetFolder, startFleet, type ClusterView, type Fleet } from "#fleet";
import { deployments, fieldAt, leases, namespaces, pods, type Pod } from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "#operator";
import { clientOf } from "../builders/kubeconfig-client.ts";
import { PROGRAM } from "../builders/program.ts";

const WITHIN = { timeout: 30_000, interval: 50 };
const OPERATOR = { namespace: OPERATOR_NAMESPACE, name: OPERATOR_NAME };
const never = new AbortController().signal;

let folder = "";
let fleet: Fleet | undefined;
let client: KubeClient | undefined;
const warnings: string[] = [];

function running(): { readonly fleet: Fleet; readonly client: KubeClient } {
  if (fleet === undefined || client === undefined) throw new Error("the fleet has not started");
  return { fleet, client };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-fleet-story-"));
  fleet = expectOk(
    await startFleet({
      folder: fleetFolder(folder),
      program: { node: process.execPath, args: [PROGRAM] },
      clusters: [{ name: "mgmt" }],
      repair: false,
      clock: systemClock,
      random: Math.random,
      logger: createLogger((_, message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`)),
      env: { ...process.env, NODE_OPTIONS: "--no-such-option" },
      signal: never,
      onProcesses() {},
    }),
  );
  expectOk(await fleet.untilRunning("mgmt", never));
  client = await clientOf(await readFile(join(folder, "kubeconfig"), "utf8"));
}, 60_000);

afterAll(async () => {
  await client?.close();
  const processes = fleet === undefined ? [] : view().pids;
  await fleet?.close();
  expect(processes.filter((pid) => nodeProcesses.identify(pid) !== undefined)).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

function view(): ClusterView {
  const [cluster] = running().fleet.clusters();
  if (cluster === undefined) throw new Error("there is no cluster");
  return cluster;
}

/** As the Deployment's status has it. */
async function readyOperators(): Promise<number> {
  const found = await running().client.get(deployments, OPERATOR);
  return found.ok ? (found.value.status?.readyReplicas ?? 0) : -1;
}

async function operatorPod(): Promise<Pod> {
  const [pod, ...more] = expectOk(await running().client.list(pods, { namespace: OPERATOR_NAMESPACE })).items;
  if (pod === undefined || more.length > 0) throw new Error("there is not exactly one Pod");
  return pod;
}

const leader = async () => expectOk(await running().client.get(leases, OPERATOR)).spec ?? {};
const uidOf = async (name: string) => expectOk(await running().client.get(namespaces, { name })).metadata.uid;
const restartsOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.restartCount;

test("the operator runs because its Deployment exists: its Pod is Ready, and its log can be read", async () => {
  await expect.poll(readyOperators, WITHIN).toBe(1);
  const pod = await operatorPod();
  expect(pod.status).toMatchObject({ phase: "Running", containerStatuses: [{ name: "operator", ready: true, restartCount: 0 }] });
  expect(view()).toMatchObject({ state: "Running", operators: [{ pod: pod.metadata.name, ready: true }] });
  const log = expectOk(await running().client.raw(`/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods/${pod.metadata.name}/log`));
  expect(log).toContain("health and metrics at http://127.0.0.1:");
  const listed = JSON.parse(await readFile(join(folder, "fleet.json"), "utf8")) as { clusters: ClusterView[] };
  expect(listed.clusters).toMatchObject([
    { name: "mgmt", pids: view().pids, state: "Running", kubeconfig: join(folder, "clusters/mgmt/kubeconfig") },
  ]);
});

test("an operator that is killed is the same container again, and leads again", async () => {
  const before = { pod: await operatorPod(), holder: (await leader()).holderIdentity };
  const [pid = 0] = view().operators.flatMap((operator) => operator.pid ?? []);
  process.kill(pid, "SIGKILL");
  await expect.poll(async () => restartsOf(await operatorPod()), WITHIN).toBe(1);
  await expect.poll(readyOperators, WITHIN).toBe(1);
  const after = await operatorPod();
  expect(after.metadata.uid).toBe(before.pod.metadata.uid);
  expect(after.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(137);
  expect((await leader()).holderIdentity).toBe(before.holder);
  const previous = await running().client.raw(`/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods/${after.metadata.name}/log?previous=true`);
  expect(expectOk(previous)).toContain("leading");
}, 60_000);

test("an API server that is killed has the same address, objects and operator afterwards", async () => {
  const before = { pod: await operatorPod(), uid: await uidOf("default"), operators: view().operators, url: view().url };
  const [server = 0] = view().pids;
  process.kill(server, "SIGKILL");
  await expect.poll(() => [view().state, view().pids[0] === server], WITHIN).toEqual(["Running", false]);
  expect([await uidOf("default"), view().url]).toEqual([before.uid, before.url]);
  await expect.poll(readyOperators, WITHIN).toBe(1);
  // it ran on: neither the process nor the Pod is another one
  expect(view().operators).toEqual(before.operators);
  expect(restartsOf(await operatorPod())).toBe(restartsOf(before.pod));
}, 60_000);

test("the number of replicas is the number of processes", async () => {
  const scale = async (replicas: number) => {
    const patch = { spec: { replicas } };
    expectOk(await running().client.patch(deployments, OPERATOR, { type: "merge", patch }, { subresource: "scale" }));
  };
  await scale(2);
  await expect.poll(readyOperators, WITHIN).toBe(2);
  expect(new Set(view().operators.map(({ pid }) => pid)).size).toBe(2);
  const pids = view().pids.slice(1);
  await scale(0);
  await expect.poll(() => view().operators, WITHIN).toEqual([]);
  expect(pids.filter((pid) => nodeProcesses.identify(pid) !== undefined)).toEqual([]);
  await scale(1);
  await expect.poll(readyOperators, WITHIN).toBe(1);
}, 90_000);

test("what users change on the Deployment is kept by a stop and a start of the cluster", async () => {
  const args = ["operator", "--identity-file", "/var/lib/lattice/identity", "--lease-duration", "6s", "--log-level", "debug"];
  const operations = [{ op: "replace", path: "/spec/template/spec/containers/0/args", value: args }];
  expectOk(await running().client.patch(deployments, OPERATOR, { type: "json", operations }));
  const uid = await uidOf("default");
  expect(await running().fleet.stop("mgmt")).toMatchObject({ ok: true });
  expect(view()).toMatchObject({ state: "Stopped", pids: [] });
  expect(await running().fleet.start("mgmt")).toMatchObject({ ok: true });
  expect(await uidOf("default")).toBe(uid);
  const deployment = expectOk(await running().client.get(deployments, OPERATOR));
  expect(fieldAt(deployment.spec.template.spec.containers[0], "args")).toEqual(args);
  await expect.poll(readyOperators, WITHIN).toBe(1);
  await expect.poll(async () => (await leader()).leaseDurationSeconds, WITHIN).toBe(6);
  expect(warnings).toEqual([]);
}, 90_000);

describe("a supervisor that is killed", () => {
  /** The clusters, when all of them run. */
  async function supervise(path: string) {
    const supervisor = spawn(process.execPath, [join(import.meta.dirname, "../builders/fleet-supervisor.ts"), path, PROGRAM, "mgmt"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = new Promise((resolve) => supervisor.once("exit", resolve));
    for await (const line of createInterface({ input: supervisor.stdout })) {
      const [cluster] = JSON.parse(line) as ClusterView[];
      if (cluster !== undefined) return { supervisor, exited, cluster };
    }
    throw new Error("the supervisor ended");
  }

  const alive = (pids: readonly number[]) => pids.filter((pid) => nodeProcesses.identify(pid) !== undefined);

  test("leaves no process behind, and the next one brings the same cluster back", { timeout: 90_000 }, async () => {
    const path = await mkdtemp(join(tmpdir(), "lattice-fleet-killed-"));
    const uids: (string | undefined)[] = [];
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const { supervisor, exited, cluster } = await supervise(path);
      expect(alive(cluster.pids)).toHaveLength(2);
      await using api = disposable(await clientOf(await readFile(cluster.kubeconfig, "utf8")));
      uids.push(expectOk(await api.client.get(namespaces, { name: "default" })).metadata.uid);
      supervisor.kill(signal);
      await exited;
      // 5 seconds is the promise of the fleet
      await expect.poll(() => alive(cluster.pids), { timeout: signal === "SIGKILL" ? 5_000 : 100, interval: 20 }).toEqual([]);
    }
    expect(uids[0]).toBe(uids[1]);
    await rm(path, { recursive: true, force: true });
  });
});

function disposable(opened: KubeClient) {
  return { client: opened, [Symbol.asyncDispose]: () => opened.close() };
}

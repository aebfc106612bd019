/**
 * Three clusters as processes, which are killed at random for a minute: afterwards the kubeconfigs of before work, every object is there,
 * watchers have missed nothing, and every operator leads.
 */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { configMaps, namespaces } from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf, untilLeads } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder, listedClusters, processesOf } from "../builders/fleet/fleet-process.ts";
import { ResumingWatcher } from "../builders/fleet/resuming-watcher.ts";

const SEED = Number(process.env["LATTICE_SEED"] ?? 7);
const OBJECTS = 1_000;
const WATCHERS = 20;
const KILLING_MS = 60_000;
const NAMESPACE = "load";
/** The limits that a fleet is held to. */
const LEADS_AFTER_ONE_KILL_MS = 6_000;
const ALL_LEAD_MS = 20_000;
const GONE_MS = 5_000;

const folder = fleetFolder();
let fleet: FleetProcess;
let clients: ReadonlyMap<string, KubeClient>;
let texts: ReadonlyMap<string, string>;

beforeAll(async () => {
  fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "3"]);
  await fleet.untilRunning(3);
  const clusters = fleet.clusters();
  clients = new Map(await Promise.all(clusters.map(async ({ name, kubeconfig }) => [name, await clientOf(kubeconfig)] as const)));
  texts = new Map(clusters.map(({ name, kubeconfig }) => [name, readFileSync(kubeconfig, "utf8")]));
}, 180_000);

afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await fleet.end();
  folder.remove();
}, 60_000);

/** The cluster with the load, which is not the management cluster. */
function loaded(): KubeClient {
  return clients.get("cluster-2") ?? expect.fail("there is no cluster-2");
}

const map = (name: string, number: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE },
  data: { number: String(number) },
});

async function untilAllLead(since: number, withinMs: number): Promise<void> {
  await Promise.all([...clients.values()].map((client) => untilLeads(client, since, withinMs)));
}

test("fleet.json lists the clusters with their own processes, and every operator leads", { timeout: 120_000 }, async () => {
  await untilAllLead(0, ALL_LEAD_MS);
  const clusters = fleet.clusters();
  expect(clusters.map(({ name }) => name).toSorted()).toEqual(["cluster-2", "cluster-3", "mgmt"]);
  const pids = clusters.flatMap((cluster) => cluster.pids);
  expect(new Set(pids).size).toBe(6);
  expect(pids).not.toContain(fleet.pid);
  expect(clusters.filter(({ kubeconfig }) => !kubeconfig.startsWith(folder.path))).toEqual([]);
});

test("an operator that is killed leads again", { timeout: 60_000 }, async () => {
  const [cluster] = fleet.clusters().filter(({ name }) => name === "cluster-3");
  const [, operator = 0] = cluster?.pids ?? [];
  const at = Date.now();
  process.kill(operator, "SIGKILL");
  await untilLeads(clients.get("cluster-3") ?? expect.fail(), at, LEADS_AFTER_ONE_KILL_MS);
});

test("a minute of SIGKILL on random processes loses nothing", { timeout: 300_000 }, async () => {
  const client = loaded();
  expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }));
  const uids = new Map<string, string>();
  for (let number = 0; number < OBJECTS; number += 1) {
    const { metadata } = expectOk(await client.create(configMaps, map(`map-${number}`, 0)));
    uids.set(metadata.name, metadata.uid ?? "");
  }
  const from = expectOk(await client.list(configMaps, { namespace: NAMESPACE, limit: 1 })).metadata.resourceVersion ?? "";
  const watchers = Array.from({ length: WATCHERS }, () => new ResumingWatcher(client, { namespace: NAMESPACE, from }));
  const killing = killAtRandom(KILLING_MS);
  const acknowledged = await writeUntil(client, killing);
  const { kills, lastKill } = await killing;
  expect(kills).toBeGreaterThan(20);
  await untilAllLead(lastKill, ALL_LEAD_MS - (Date.now() - lastKill));

  for (const { name, kubeconfig } of fleet.clusters()) expect(readFileSync(kubeconfig, "utf8"), name).toBe(texts.get(name));
  const kept = expectOk(await client.list(configMaps, { namespace: NAMESPACE }));
  const found = new Map(kept.items.map(({ metadata }) => [metadata.name, metadata.uid ?? ""]));
  for (const [name, uid] of uids) expect(found.get(name), name).toBe(uid);
  const mark = expectOk(await client.create(configMaps, map("mark", 0))).metadata.resourceVersion ?? "";
  await fleet.until("every watcher has the last write", () => watchers.every(({ seen }) => seen.has(`mark ${mark}`)));
  await Promise.all(watchers.map((watcher) => watcher.close()));
  expect(watchers.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(100);
  for (const { seen } of watchers) expect(acknowledged.filter((write) => !seen.has(write))).toEqual([]);
  expect(Math.min(...watchers.map(({ resumed }) => resumed))).toBeGreaterThan(0);
});

/** Kills one of the fleet's processes every second or so; never the supervisor. */
async function killAtRandom(forMs: number): Promise<{ readonly kills: number; readonly lastKill: number }> {
  const random = seededRandom(SEED);
  const end = performance.now() + forMs;
  let [kills, lastKill] = [0, 0];
  while (performance.now() < end) {
    const pids = fleet.clusters().flatMap((cluster) => cluster.pids);
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid !== undefined && processesOf(folder.path).includes(pid)) {
      process.kill(pid, "SIGKILL");
      [kills, lastKill] = [kills + 1, Date.now()];
    }
    await wait(200 + random() * 1_600);
  }
  return { kills, lastKill };
}

/** Changes one object after the other; `name version` of every write that the server acknowledged. */
async function writeUntil(client: KubeClient, done: Promise<unknown>): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  let running = true;
  void done.then(() => (running = false));
  for (let number = 1; running; number += 1) {
    const name = `map-${number % OBJECTS}`;
    const patch = { data: { number: String(number) } };
    const written = await client.patch(configMaps, { namespace: NAMESPACE, name }, { type: "merge", patch }, { timeoutMs: 2_000 });
    if (written.ok) acknowledged.push(`${name} ${written.value.metadata.resourceVersion ?? ""}`);
    await wait(written.ok ? 10 : 100);
  }
  return acknowledged;
}

test("a supervisor that is killed leaves no process, and the next start brings the same fleet back", { timeout: 180_000 }, async () => {
  fleet.signal("SIGKILL");
  await fleet.ended;
  const deadline = performance.now() + GONE_MS;
  while (processesOf(folder.path).length > 0 && performance.now() < deadline) await wait(50);
  expect(processesOf(folder.path)).toEqual([]);

  const since = Date.now();
  fleet = new FleetProcess(folder.path, []);
  await fleet.untilRunning(3);
  await untilAllLead(since, ALL_LEAD_MS);
  for (const { name, kubeconfig } of fleet.clusters()) expect(readFileSync(kubeconfig, "utf8"), name).toBe(texts.get(name));
  expect(expectOk(await loaded().list(configMaps, { namespace: NAMESPACE, limit: 1 })).items).toHaveLength(1);
});

test("Ctrl-C leaves no process and no record", { timeout: 60_000 }, async () => {
  fleet.signalGroup("SIGINT");
  expect([0, 130]).toContain(await fleet.ended);
  expect(processesOf(folder.path)).toEqual([]);
  expect(listedClusters(folder.path).flatMap(({ pids }) => pids)).toEqual([]);
});

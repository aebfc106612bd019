/** `lattice up --empty --clusters N` as a user runs it, through scripts/run.cjs, in a folder of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expectOk, silentLogger, systemClock } from "#base";
import { leases } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { projectRoot } from "../../scripts/process/project.ts";

export type Program = "sources" | "bundle";

export type FleetCluster = {
  readonly name: string;
  readonly kubeconfig: string;
  /** The API server first. */ readonly pids: readonly number[];
};

export type RunningFleet = {
  /** From the start of the command until every operator leads. */
  readonly upMs: number;
  readonly clusters: () => readonly FleetCluster[];
  /** All processes: the supervisor, API servers and operators. */
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
};

const UP_WITHIN_MS = 120_000;
const LOOK_MS = 25;
const LEASE = { namespace: "lattice-system", name: "lattice-operator" };

export async function startFleet(program: Program, count: number): Promise<RunningFleet> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-bench-fleet-"));
  const args = [join(projectRoot, "scripts/run.cjs"), "cli", "up", "--empty", "--clusters", String(count), "--data-dir", folder];
  const env = { ...process.env, LATTICE_SOURCE: program === "sources" ? "1" : "" };
  const start = performance.now();
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  const clusters = () => clustersIn(folder);
  const stop = async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await allLead(child, { count, clusters, until: start + UP_WITHIN_MS });
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = () => [child.pid ?? 0, ...clusters().flatMap((cluster) => cluster.pids)];
  return { upMs: performance.now() - start, clusters, pids, stop };
}

/** A client with the kubeconfig of the cluster as it is now; without retries, so that the caller sees each failure. */
export async function clientOf({ kubeconfig }: FleetCluster): Promise<KubeClient> {
  const config = expectOk(await loadKubeconfig({ path: kubeconfig, env: {}, home: tmpdir(), clock: systemClock }));
  const transport = httpTransport(config, { clock: systemClock, userAgent: "lattice-bench" });
  return createKubeClient({
    transport,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    retry: { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } },
  });
}

type Expected = { readonly count: number; readonly clusters: () => readonly FleetCluster[]; readonly until: number };

async function allLead(child: ChildProcess, { count, clusters, until }: Expected): Promise<void> {
  const leading = new Set<string>();
  const clients = new Map<string, KubeClient>();
  while (leading.size < count) {
    if (child.exitCode !== null) throw new Error(`lattice up ended with exit code ${child.exitCode}`);
    if (performance.now() > until)
      throw new Error(`after ${UP_WITHIN_MS / 1_000} s operators lead on ${leading.size} of ${count} clusters`);
    for (const cluster of clusters().filter(({ name, pids }) => !leading.has(name) && pids.length > 1)) {
      const client = clients.get(cluster.name) ?? (await clientOf(cluster));
      clients.set(cluster.name, client);
      const lease = await client.get(leases, LEASE, { timeoutMs: 2_000 });
      if (lease.ok && (lease.value.spec?.holderIdentity ?? "") !== "") leading.add(cluster.name);
    }
    await delay(LOOK_MS);
  }
}

/** fleet.json, which is replaced by a rename; before it exists there are no clusters. */
function clustersIn(folder: string): readonly FleetCluster[] {
  try {
    return (JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8")) as { readonly clusters: readonly FleetCluster[] }).clusters;
  } catch {
    return [];
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

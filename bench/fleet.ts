/**
 * A fleet of four empty clusters on this machine, against fixed limits: the time until every operator leads, memory, CPU while idle, and the time
 * until an API server with 10,000 objects is back after `kill -9`. A value above its limit makes the exit code 1.
 *
 * Linux only, because CPU and memory are read from /proc. The limits are for a machine with two cores and no other load.
 */
import { setTimeout as delay } from "node:timers/promises";
import { configMaps, namespaces } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { projectRoot } from "../scripts/process/project.ts";
import { runNode } from "../scripts/process/run-program.ts";
import { clientOf, startFleet, type FleetCluster, type Program, type RunningFleet } from "./support/fleet-process.ts";
import { cpuSeconds, memoryOf } from "./support/process-usage.ts";

const CLUSTERS = 4;
const LIMITS: Readonly<Record<Program, { readonly seconds: number; readonly megabytes: number }>> = {
  sources: { seconds: 15, megabytes: 1_600 },
  bundle: { seconds: 8, megabytes: 1_000 },
};
const IDLE_PERCENT = 2;
const SETTLE_MS = 60_000;
const IDLE_MS = 120_000;
const BACK_SECONDS = 2;
const OBJECTS = 10_000;
const WRITERS = 16;
const GIVE_UP_MS = 60_000;

export async function run(): Promise<readonly BenchResult[]> {
  if (process.platform !== "linux") {
    console.log("fleet: not measured, because only Linux has /proc");
    return [];
  }
  // so that the measured start finds a bundle, as every start but the first one after a change does
  const built = await runNode(`${projectRoot}/scripts/run.cjs`, ["cli", "version"], {
    cwd: projectRoot,
    env: { ...process.env, LATTICE_SOURCE: "" },
  });
  if (built.code !== 0) throw new Error(built.stderr);
  return [
    ...(await withFleet("sources", async () => [])),
    ...(await withFleet("bundle", async (fleet) => [...(await idle(fleet)), await backAfterKill(fleet)])),
  ];
}

/** Start and memory, and what `more` measures. */
async function withFleet(
  program: Program,
  more: (fleet: RunningFleet) => Promise<readonly BenchResult[]>,
): Promise<readonly BenchResult[]> {
  const { seconds, megabytes } = LIMITS[program];
  const name = `${CLUSTERS} empty clusters from the ${program}`;
  const fleet = await startFleet(program, CLUSTERS);
  try {
    const { bytes, kind } = memoryOf(fleet.pids());
    const processes = `${fleet.pids().length} processes`;
    return [
      limited(`${name}: all operators lead`, { value: fleet.upMs / 1_000, unit: "s", limit: seconds }),
      limited(`${name}: memory of ${processes}`, { value: bytes / 1e6, unit: `MB ${kind}`, limit: megabytes }),
      ...(await more(fleet)),
    ];
  } finally {
    await fleet.stop();
  }
}

/** The mean, with everything that Node does in the background. Memory again, because nothing may grow meanwhile. */
async function idle(fleet: RunningFleet): Promise<readonly BenchResult[]> {
  await delay(SETTLE_MS);
  const pids = fleet.pids();
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const [before, start] = [used(), performance.now()];
  await delay(IDLE_MS);
  const percent = (100_000 * (used() - before)) / (performance.now() - start);
  const { bytes, kind } = memoryOf(pids);
  const name = `${CLUSTERS} empty clusters from the bundle: idle`;
  return [
    limited(`${name}, CPU`, { value: percent, unit: "% of one core", limit: IDLE_PERCENT }),
    limited(`${name}, memory`, { value: bytes / 1e6, unit: `MB ${kind}`, limit: LIMITS.bundle.megabytes }),
  ];
}

/** From the kill until the first read that succeeds, with the kubeconfig from before. */
async function backAfterKill(fleet: RunningFleet): Promise<BenchResult> {
  const [cluster] = fleet.clusters();
  if (cluster === undefined) throw new Error("the fleet has no cluster");
  const client = await clientOf(cluster);
  await fill(client);
  process.kill(apiServerOf(cluster), "SIGKILL");
  const start = performance.now();
  while (!(await readSucceeds(client))) {
    if (performance.now() - start > GIVE_UP_MS) throw new Error(`the API server is not back after ${GIVE_UP_MS / 1_000} s`);
    await delay(10);
  }
  const seconds = (performance.now() - start) / 1_000;
  return limited(`API server with ${OBJECTS.toLocaleString("en-GB")} objects: back after kill -9`, {
    value: seconds,
    unit: "s",
    limit: BACK_SECONDS,
  });
}

function apiServerOf({ name, pids: [first] }: FleetCluster): number {
  if (first === undefined) throw new Error(`no process of ${name} runs`);
  return first;
}

async function fill(client: KubeClient): Promise<void> {
  const namespace = "bench";
  const made = await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  if (!made.ok) throw new Error(made.error.message);
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let at = next++; at < OBJECTS; at = next++) {
      const metadata = { name: `object-${at}`, namespace };
      const created = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "x".repeat(200) } });
      if (!created.ok) throw new Error(created.error.message);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function readSucceeds(client: KubeClient): Promise<boolean> {
  const key = { namespace: "bench", name: `object-${OBJECTS - 1}` };
  return (await client.get(configMaps, key, { timeoutMs: 1_000 })).ok;
}

type Limited = { readonly value: number; readonly unit: string; readonly limit: number };

function limited(name: string, { value, unit, limit }: Limited): BenchResult {
  return {
    name,
    value,
    unit,
    ratio: value / limit,
    against: `the limit of ${limit.toLocaleString("en-GB")}`,
    note: "less is better",
    limit,
  };
}

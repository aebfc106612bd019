/**
 * 5,000 live agents of one cell on this machine. The cell is `lattice operator` on an embedded API server, with a LatticeCluster and Cluster API
 * objects for each child; agents have keys, certificates, TLS connections and streams of their own. All processes share the machine.
 *
 * It prints `agents N`. Fewer agents than 5,000, more than ten minutes, or a value above its limit make the exit code 1. Linux only, because CPU and memory
 * are read from /proc. LATTICE_BENCH_AGENTS=200 tries it with fewer agents, and then fails.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { BenchResult } from "../scripts/bench/bench.ts";
import type { ApiServerReply } from "./support/agents-messages.ts";
import { startCellOperator, type CellOperator } from "./support/agents-operator.ts";
import { ask, startProcess, until } from "./support/agents-processes.ts";
import { ensureOpenFiles } from "./support/open-files.ts";
import { cpuSeconds, memoryOf } from "./support/process-usage.ts";

const WANTED = 5_000;
const AGENTS = Number(process.env["LATTICE_BENCH_AGENTS"] ?? WANTED);
const AGENT_PROCESSES = Math.min(4, Math.ceil(AGENTS / 50));
/** Beside one per agent. */
const OTHER_FILES = 1_000;
const LISTEN_WITHIN_MS = 120_000;
const CONNECT_WITHIN_MS = 240_000;
const STORM_WITHIN_MS = 180_000;
const SETTLE_MS = 5_000;
const WINDOW_MS = 10_000;
const REST_MS = AGENTS < 1_000 ? 20_000 : 60_000;
const LIMITS = { seconds: 600, kilobytesPerAgent: 300, statusWritesPerSecond: 20, healthMs: 1_000 } as const;
const HEARTBEAT_MS = 30_000;
const CONNECTED = "lattice_link_agents_connected";

export async function run(): Promise<readonly BenchResult[]> {
  if (process.platform !== "linux") {
    console.log("agents: not measured, because only Linux has /proc");
    return [];
  }
  ensureOpenFiles(AGENTS + OTHER_FILES);
  const start = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "lattice-bench-agents-"));
  const api = startProcess("agents-api-child.ts");
  const agents = Array.from({ length: AGENT_PROCESSES }, () => startProcess("agents-child.ts"));
  const operators: CellOperator[] = [];
  const startOperator = async () => {
    const started = await startCellOperator(folder);
    operators.push(started);
    return started;
  };
  try {
    const seeded = await ask(api, { kind: "start", agents: AGENTS, kubeconfig: join(folder, "kubeconfig") }, "serving");
    progress(start, `the API server has ${AGENTS} LatticeClusters`);
    const results = await measure({ start, api, agents, operator: await startOperator(), startOperator }, seeded);
    const seconds = (performance.now() - start) / 1_000;
    return [...results, limited("whole bench", { value: seconds, unit: "s", limit: LIMITS.seconds })];
  } finally {
    for (const one of operators) await one.stop();
    for (const one of [api, ...agents]) one.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

type Seeded = Extract<ApiServerReply, { kind: "serving" }>;
type World = {
  readonly start: number;
  readonly api: ChildProcess;
  readonly agents: readonly ChildProcess[];
  readonly operator: CellOperator;
  readonly startOperator: () => Promise<CellOperator>;
};

async function measure(world: World, seeded: Seeded): Promise<readonly BenchResult[]> {
  const { start, operator } = world;
  const checks = operator.checkHealth();
  await until(LISTEN_WITHIN_MS, async () => (await operator.metric('lattice_service_running{service="cell"}')) === 1);
  progress(start, "the cell listens");
  const issued = await issueCertificates(world, seeded);
  progress(start, `${AGENTS} certificates are signed`);
  const connected = await connectAll(world);
  console.log(`agents ${connected.agents}`);
  if (connected.agents < WANTED) process.exitCode = 1;
  const beforeStorm = await checks.end();
  await delay(SETTLE_MS);
  const rest = await atRest(world);
  progress(start, "measured at rest");
  const storm = await reconnectStorm(world);
  return [
    limited("agents that are not connected", { value: WANTED - connected.agents, unit: "agents", limit: 0, against: WANTED }),
    compared("time until all are connected", { value: connected.seconds, unit: "s", against: CONNECT_WITHIN_MS / 1_000 }),
    limited("memory of the cell per agent", { value: connected.kilobytes, unit: "kB", limit: LIMITS.kilobytesPerAgent }),
    compared("CPU of the cell at rest, heartbeats and passes", { value: rest.percent, unit: "% of one core", against: 100 }),
    compared("CPU of the cell per heartbeat at rest", { value: rest.microseconds, unit: "µs", against: 1_000 }),
    limited("status writes at rest", { value: rest.statusWrites, unit: "per second", limit: LIMITS.statusWritesPerSecond }),
    compared("status writes at rest, busiest ten seconds", {
      value: rest.busiest,
      unit: "per second",
      against: LIMITS.statusWritesPerSecond,
    }),
    compared("reconnect of all: until all are connected", { value: storm.connectedSeconds, unit: "s", against: STORM_WITHIN_MS / 1_000 }),
    limited("reconnect of all: until all are healthy", { value: storm.healthySeconds, unit: "s", limit: STORM_WITHIN_MS / 1_000 }),
    limited("reconnect of all: slowest health check", { value: storm.slowestMs, unit: "ms", limit: LIMITS.healthMs }),
    limited("first connection of all: slowest health check", { value: beforeStorm, unit: "ms", limit: LIMITS.healthMs }),
    {
      ...compared("certificates signed and recorded by the cell", { value: issued, unit: "per second", against: 100 }),
      note: "more is better; each with a TLS connection, a request and a write; every agent has a key of its own, made before",
    },
    {
      ...compared("certificates signed by one thread, P-384", { value: seeded.signedPerSecond, unit: "per second", against: 100 }),
      note: "more is better; without connections and writes",
    },
  ];
}

/** Per second. */
async function issueCertificates({ agents }: World, { address, tokens }: Seeded): Promise<number> {
  const share = Math.ceil(tokens.length / agents.length);
  const requests = agents.map((one, at) =>
    ask(one, { kind: "certify", address, tokens: tokens.slice(at * share, (at + 1) * share) }, "certified"),
  );
  const replies = await Promise.all(requests);
  return tokens.length / Math.max(...replies.map(({ seconds }) => seconds));
}

async function connectAll({ agents, api, operator, start }: World) {
  const before = memoryOf([operator.pid]).bytes;
  const [begin, since] = [performance.now(), Date.now()];
  await Promise.all(agents.map((one) => ask(one, { kind: "connect" }, "started")));
  progress(start, "all agents are started");
  await until(CONNECT_WITHIN_MS, async () => (await operator.metric(CONNECTED)) >= AGENTS);
  const seconds = (performance.now() - begin) / 1_000;
  const connected = await operator.metric(CONNECTED);
  progress(start, `${connected} agents are connected`);
  await until(CONNECT_WITHIN_MS, async () => (await counted(api, since)).connected >= AGENTS);
  progress(start, "the status of all LatticeClusters shows it");
  const kilobytes = (memoryOf([operator.pid]).bytes - before) / 1e3 / Math.max(1, connected);
  return { agents: connected, seconds, kilobytes };
}

async function atRest({ operator, api }: World) {
  const heartbeats = (REST_MS / HEARTBEAT_MS) * AGENTS;
  const [cpu, begin] = [cpuSeconds(operator.pid), performance.now()];
  const writes = [(await counted(api)).statusWrites];
  while (performance.now() - begin < REST_MS) {
    await delay(WINDOW_MS);
    writes.push((await counted(api)).statusWrites);
  }
  const seconds = (performance.now() - begin) / 1_000;
  const used = cpuSeconds(operator.pid) - cpu;
  const inWindows = writes.slice(1).map((total, at) => total - (writes[at] ?? 0));
  const statusWrites = ((writes.at(-1) ?? 0) - (writes[0] ?? 0)) / seconds;
  const busiest = Math.max(...inWindows) / (WINDOW_MS / 1_000);
  return { percent: (100 * used) / seconds, microseconds: (1e6 * used) / heartbeats, statusWrites, busiest };
}

/** The operator is killed, and another one is started: all agents return to it. Times count from the kill. */
async function reconnectStorm({ operator: killed, startOperator, api, start }: World) {
  const [begin, since] = [performance.now(), Date.now()];
  await killed.stop();
  const operator = await startOperator();
  const checks = operator.checkHealth();
  await until(STORM_WITHIN_MS, async () => (await operator.metric(CONNECTED)) >= AGENTS);
  const connectedSeconds = (performance.now() - begin) / 1_000;
  progress(start, "all agents are connected again");
  await until(STORM_WITHIN_MS, async () => (await counted(api, since)).connected >= AGENTS);
  const healthySeconds = (performance.now() - begin) / 1_000;
  progress(start, "the status of all LatticeClusters shows it");
  return { connectedSeconds, healthySeconds, slowestMs: await checks.end() };
}

function counted(api: ChildProcess, connectedSince = 0) {
  return ask(api, { kind: "count", connectedSince }, "counted");
}

function progress(start: number, text: string): void {
  console.error(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
}

type Compared = { readonly value: number; readonly unit: string; readonly against: number };

function compared(name: string, { value, unit, against }: Compared): BenchResult {
  return { name, value, unit, ratio: value / against, against: `${against.toLocaleString("en-GB")} ${unit}`, note: "less is better" };
}

type Limited = { readonly value: number; readonly unit: string; readonly limit: number; readonly against?: number };

function limited(name: string, { value, unit, limit, against = limit }: Limited): BenchResult {
  const text = against === limit ? "the limit of " : "";
  return { name, value, unit, ratio: value / against, against: `${text}${against.toLocaleString("en-GB")}`, note: "less is better", limit };
}

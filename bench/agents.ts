/**
 * Live agents of one cell on this machine: mTLS streams with identities of their own, in processes of their own. It prints `agents N` and fails when N
 * is below the limit, or when the cell's health check needs more than a second while all agents reconnect at once.
 *
 * Linux only, because CPU and memory are read from /proc. LATTICE_BENCH_AGENTS=200 tries it with fewer agents.
 */
import { fork, type ChildProcess } from "node:child_process";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { projectRoot } from "../scripts/process/project.ts";
import type { AgentsReply, AgentsRequest, CellReply, CellRequest } from "./support/agents-messages.ts";
import { cpuSeconds, memoryOf } from "./support/process-usage.ts";

const AGENTS = Number(process.env["LATTICE_BENCH_AGENTS"] ?? 5_000);
const AGENT_PROCESSES = Math.min(4, Math.ceil(AGENTS / 100));
const CONNECT_WITHIN_MS = 240_000;
const STORM_WITHIN_MS = 120_000;
const REST_MS = AGENTS < 1_000 ? 10_000 : 60_000;
const HEALTH_MS = 1_000;
const KILOBYTES_PER_AGENT = 300;

export async function run(): Promise<readonly BenchResult[]> {
  if (process.platform !== "linux") {
    console.log("agents: not measured, because only Linux has /proc");
    return [];
  }
  const cell = new CellProcess();
  const processes = Array.from({ length: AGENT_PROCESSES }, () => child("agents-child.ts"));
  try {
    return await measure(cell, processes);
  } finally {
    for (const one of [cell.process, ...processes]) one.kill("SIGKILL");
  }
}

async function measure(cell: CellProcess, processes: readonly ChildProcess[]): Promise<readonly BenchResult[]> {
  const listening = await cell.start();
  await delay(1_000);
  const before = memoryOf([cell.pid]).bytes;
  const start = performance.now();
  const { port, authority, authorityKey } = listening;
  const share = Math.ceil(AGENTS / processes.length);
  const signed = await Promise.all(
    processes.map((one, at) => {
      const count = Math.min(share, AGENTS - at * share);
      return connectAgents(one, { kind: "connect", port, authority, authorityKey, first: at * share, count });
    }),
  );
  await cell.until(AGENTS, CONNECT_WITHIN_MS);
  const seconds = (performance.now() - start) / 1_000;
  console.log(`agents ${cell.connected}`);
  if (cell.connected < AGENTS) process.exitCode = 1;
  await delay(5_000);
  const kilobytes = (memoryOf([cell.pid]).bytes - before) / 1e3 / Math.max(1, cell.connected);
  const rest = await atRest(cell);
  const storm = await reconnectStorm(cell, listening.healthPort);
  const mean = signed.reduce((sum, one) => sum + one, 0) / signed.length;
  return [
    result("agents that are not connected", { value: AGENTS - cell.connected, unit: "agents", against: AGENTS, limit: 0 }),
    result("time until all are connected", { value: seconds, unit: "s", against: CONNECT_WITHIN_MS / 1_000 }),
    result("memory of the cell per agent", { value: kilobytes, unit: "kB", against: KILOBYTES_PER_AGENT, limit: KILOBYTES_PER_AGENT }),
    result("CPU of the cell at rest", { value: rest.percent, unit: "% of one core", against: 100 }),
    result("changes that the cell reports at rest", { value: rest.changes, unit: "per second", against: 20, limit: 20 }),
    result("reconnect of all: time until all are healthy", { value: storm.seconds, unit: "s", against: STORM_WITHIN_MS / 1_000 }),
    result("reconnect of all: slowest health check", { value: storm.slowestMs, unit: "ms", against: HEALTH_MS, limit: HEALTH_MS }),
    {
      ...result("certificates signed", { value: mean, unit: "per second", against: 1_000 }),
      note: "more is better; while all processes sign at once",
    },
  ];
}

async function atRest(cell: CellProcess): Promise<{ readonly percent: number; readonly changes: number }> {
  const [cpu, changes, start] = [cpuSeconds(cell.pid), cell.changes, performance.now()];
  await delay(REST_MS);
  const seconds = (performance.now() - start) / 1_000;
  return { percent: (100 * (cpuSeconds(cell.pid) - cpu)) / seconds, changes: (cell.changes - changes) / seconds };
}

/** The cell closes all streams and starts again on its port. */
async function reconnectStorm(cell: CellProcess, healthPort: number): Promise<{ readonly seconds: number; readonly slowestMs: number }> {
  const checks = { slowestMs: 0, isDone: false };
  const checking = (async () => {
    while (!checks.isDone) {
      checks.slowestMs = Math.max(checks.slowestMs, await healthCheck(healthPort));
      await delay(50);
    }
  })();
  const start = performance.now();
  cell.send({ kind: "restart" });
  await cell.until(0, 10_000, (connected) => connected < AGENTS);
  await cell.until(AGENTS, STORM_WITHIN_MS);
  const seconds = (performance.now() - start) / 1_000;
  checks.isDone = true;
  await checking;
  return { seconds, slowestMs: checks.slowestMs };
}

function healthCheck(port: number): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(performance.now() - start));
    }).on("error", reject);
  });
}

function child(name: string): ChildProcess {
  return fork(join(projectRoot, "bench/support", name), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

function connectAgents(one: ChildProcess, request: AgentsRequest): Promise<number> {
  one.send(request);
  return new Promise((resolve, reject) => {
    one.once("message", (reply: AgentsReply) => resolve(reply.signedPerSecond));
    one.once("exit", (code) => reject(new Error(`a process with agents ended with code ${code}`)));
  });
}

type Listening = Extract<CellReply, { kind: "listening" }>;

class CellProcess {
  readonly process = child("agents-cell-child.ts");
  connected = 0;
  changes = 0;
  #listening: ((reply: Listening) => void) | undefined;

  constructor() {
    this.process.on("message", (reply: CellReply) => {
      if (reply.kind === "listening") return this.#listening?.(reply);
      this.connected = reply.connected;
      this.changes = reply.changes;
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  send(request: CellRequest): void {
    this.process.send(request);
  }

  start(): Promise<Listening> {
    return new Promise((resolve) => {
      this.#listening = resolve;
      this.send({ kind: "start", agents: AGENTS });
    });
  }

  /** Waits, at most so long, until so many agents are connected. */
  async until(agents: number, ms: number, isReached = (connected: number) => connected >= agents): Promise<void> {
    for (const start = performance.now(); !isReached(this.connected) && performance.now() - start < ms;) await delay(100);
  }
}

type Measured = { readonly value: number; readonly unit: string; readonly against: number; readonly limit?: number };

function result(name: string, { value, unit, against, limit }: Measured): BenchResult {
  const compared = { ratio: value / against, against: `${against.toLocaleString("en-GB")} ${unit}`, note: "less is better" };
  return { name, value, unit, ...compared, ...(limit === undefined ? {} : { limit }) };
}

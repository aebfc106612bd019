/**
 * The API server compared with etcd + kube-apiserver, in one run and with one client: start-up, memory, requests per second on 1 and on 16
 * connections, a change with a thousand watchers, and the effect of 100,000 objects. `LATTICE_KUBE_BIN` names the folder of the binaries;
 * without it the comparison is with a bare HTTP echo server.
 *
 * Both sides serve HTTPS/1.1 with keep-alive to the same client (support/api-load.ts) in this process, and take turns. Both are warm: the
 * code of a real server is compiled before it starts, that of this one after some use. The client uses the same machine: the faster the
 * server, the larger the share of the client in the figures.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { apiOperations, type ApiOperation } from "./support/api-operations.ts";
import { throughput, type Target } from "./support/api-load.ts";
import { fanOut } from "./support/api-watchers.ts";
import { startEcho } from "./support/echo-server.ts";
import { freshDist } from "../scripts/build/fresh-dist.ts";
import { growth } from "./support/api-growth.ts";
import { ENTRY_BUNDLE, ENTRY_SOURCE, inProcessStarts } from "./support/in-process-starts.ts";
import { median } from "./support/measure.ts";
import { BUNDLE, SOURCE, startKubernetes, startLattice, type Running } from "./support/running-servers.ts";

const ROUNDS = 3;
/** The warm-up, as a multiple of the measured requests: our code is compiled while it runs, that of the peer was compiled before. */
const WARM_UP = { ours: 6, theirs: 1 };
const CONNECTIONS = [1, 16];
const IDLE_MS = 3_000;
const WATCHERS = 1_000;
const CHANGES = 20;
const PEER = "etcd + kube-apiserver";
const LESS = "less is better";

export async function run(): Promise<readonly BenchResult[]> {
  await freshDist();
  const binaries = process.env["LATTICE_KUBE_BIN"];
  if (binaries === undefined)
    console.log("api-server: no LATTICE_KUBE_BIN: measured beside a bare node:https echo server, not beside Kubernetes");
  const results = binaries === undefined ? await besideEcho() : await besideKubernetes(binaries);
  return [...results, ...(await growth())];
}

async function besideKubernetes(binaries: string): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [...(await startUp(binaries))];
  const [ours, theirs] = [await startLattice(BUNDLE), await startKubernetes(binaries)];
  try {
    await delay(IDLE_MS);
    results.push(memory(ours, theirs));
    for (const connections of CONNECTIONS) {
      for (const operation of apiOperations()) results.push(await sideBySide(operation, connections, ours.target, theirs.target));
    }
    results.push(await watchers(ours.target, theirs.target));
  } finally {
    await ours.stop();
    await theirs.stop();
  }
  return results;
}

async function startUp(binaries: string): Promise<readonly BenchResult[]> {
  const programs = [
    { name: "as a process (dist/lattice.js)", path: BUNDLE },
    { name: "as a process (from source)", path: SOURCE },
  ];
  const peer: number[] = [];
  const ours = programs.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round += 1) {
    peer.push(await readyTime(() => startKubernetes(binaries)));
    for (const [at, { path }] of programs.entries()) ours[at]?.push(await readyTime(() => startLattice(path)));
  }
  const against = median(peer);
  const row = (name: string, ms: number): BenchResult => {
    return {
      name: `start-up ${name}`,
      value: ms,
      unit: "ms",
      ratio: against / ms,
      against: PEER,
      note: `times faster; that takes ${Math.round(against)} ms until /readyz`,
    };
  };
  const fromSource = await inProcessStarts(ENTRY_SOURCE);
  const built = await inProcessStarts(ENTRY_BUNDLE);
  return [
    ...programs.map(({ name }, at) => row(name, median(ours[at] ?? []))),
    row("in process, modules loaded before", built.laterMs),
    row("in process, cold (import of dist/kube-server.js included)", built.firstMs),
    row("in process, cold (import of the sources included)", fromSource.firstMs),
  ];
}

async function readyTime(start: () => Promise<Running>): Promise<number> {
  const running = await start();
  await running.stop();
  return running.readyMs;
}

function memory(ours: Running, theirs: Running): BenchResult {
  const [value, peer] = [ours.residentBytes() / 2 ** 20, theirs.residentBytes() / 2 ** 20];
  return {
    name: "resident memory, idle",
    value,
    unit: "MB",
    ratio: value / peer,
    against: PEER,
    note: `${LESS}; that is ${Math.round(peer)} MB`,
  };
}

async function sideBySide(operation: ApiOperation, connections: number, ours: Target, theirs: Target): Promise<BenchResult> {
  const rates: [number, number][] = [];
  await rateOf(operation, connections, ours, { run: "warm", times: WARM_UP.ours });
  await rateOf(operation, connections, theirs, { run: "warm", times: WARM_UP.theirs });
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured = { run: `round-${round}`, times: 1 };
    rates.push([await rateOf(operation, connections, ours, measured), await rateOf(operation, connections, theirs, measured)]);
  }
  const [value, peer] = [median(rates.map(([own]) => own)), median(rates.map(([, other]) => other))];
  const name = `${operation.name}, ${connections} connection${connections === 1 ? "" : "s"}`;
  return { name, value, unit: "requests/s", ratio: value / peer, against: PEER, note: `more is better; that makes ${Math.round(peer)}` };
}

type Round = { readonly run: string; readonly times: number };

/** Objects of an operation are created before and removed after the measured time. */
async function rateOf(operation: ApiOperation, connections: number, target: Target, round: Round): Promise<number> {
  const count = (connections === 1 ? operation.count : operation.count * 2) * round.times;
  const run = `${connections}-${round.run}`;
  if (operation.before !== undefined) await throughput(target, 8, (at) => operation.before?.(at, run) ?? operation.ask(at, run), count);
  const rate = await throughput(target, connections, (at) => operation.ask(at, run), count);
  if (operation.after !== undefined) await throughput(target, 8, (at) => operation.after?.(at, run) ?? operation.ask(at, run), count);
  return rate;
}

async function watchers(ours: Target, theirs: Target): Promise<BenchResult> {
  const [own, other] = [await fanOut(ours, WATCHERS, CHANGES), await fanOut(theirs, WATCHERS, CHANGES)];
  const note = `more is better; ${CHANGES} changes reached all after ${Math.round(own.lastMs)} ms, there after ${Math.round(other.lastMs)} ms`;
  const name = `events to ${WATCHERS.toLocaleString("en-GB")} watchers`;
  return { name, value: own.eventsPerSecond, unit: "events/s", ratio: own.eventsPerSecond / other.eventsPerSecond, against: PEER, note };
}

async function besideEcho(): Promise<readonly BenchResult[]> {
  const [ours, echo] = [await startLattice(BUNDLE), await startEcho()];
  const results: BenchResult[] = [];
  for (const connections of CONNECTIONS) {
    for (const operation of apiOperations()) {
      const result = await sideBySide(operation, connections, ours.target, echo.target);
      results.push({ ...result, against: "a node:https server that sends back what it got" });
    }
  }
  await ours.stop();
  await echo.stop();
  return results;
}

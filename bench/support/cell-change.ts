/**
 * What one change of a LatticeCluster costs a cell: requests to the API server, passes of controllers, CPU time of the operator. The cell is
 * `lattice operator` on an embedded API server in another process; its children own themselves, and their agents are not connected.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startCellOperator, type CellOperator } from "./agents-operator.ts";
import { ask, startProcess, until } from "./agents-processes.ts";
import { cpuSeconds } from "./process-usage.ts";

export type ChangeCost = { readonly requests: number; readonly passes: number; readonly cpuMs: number };

/** CPU time is counted in hundredths of a second, so one change is too little. */
const CHANGES = 40;
/** In a cell of any size the same ones: the first change of a cluster may cost more than later ones. */
const CHANGED_CLUSTERS = 5;
const START_WITHIN_MS = 120_000;
const SETTLE_WITHIN_MS = 120_000;
/** So long without a request: what a change causes has ended. */
const QUIET_MS = 1_500;
const LOOK_MS = 100;

export async function costOfChange(clusters: number): Promise<ChangeCost> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-bench-cell-"));
  const api = startProcess("agents-api-child.ts");
  let operator: CellOperator | undefined;
  try {
    await ask(api, { kind: "start", agents: clusters, kubeconfig: join(folder, "kubeconfig") }, "serving");
    operator = await startCellOperator(folder);
    const started = operator;
    await until(START_WITHIN_MS, async () => (await started.metric('lattice_service_running{service="cell"}')) === 1);
    await settle(api);
    return await measure(api, started);
  } finally {
    await operator?.stop();
    api.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(api: ChildProcess, operator: CellOperator): Promise<ChangeCost> {
  const before = await totals(api, operator);
  // without a change, for as long as the changes take
  await delay(CHANGES * 2 * LOOK_MS);
  const rest = difference(await totals(api, operator), before);
  const begun = await totals(api, operator);
  for (let at = 0; at < CHANGES; at += 1) {
    const name = `child-${String(at % CHANGED_CLUSTERS).padStart(5, "0")}`;
    await ask(api, { kind: "change", cluster: name, workers: 1 + Math.floor(at / CHANGED_CLUSTERS) }, "changed");
    await delay(2 * LOOK_MS);
  }
  await settle(api);
  const spent = difference(await totals(api, operator), begun);
  const idle = spent.seconds / rest.seconds;
  const each = (value: number, idleValue: number) => Math.max(0, value - idle * idleValue) / CHANGES;
  return {
    // without the change itself
    requests: each(spent.requests, rest.requests) - 1,
    passes: each(spent.passes, rest.passes),
    cpuMs: 1_000 * each(spent.cpu, rest.cpu),
  };
}

type Totals = { readonly requests: number; readonly passes: number; readonly cpu: number; readonly seconds: number };

async function totals(api: ChildProcess, operator: CellOperator): Promise<Totals> {
  const { requests } = await ask(api, { kind: "requests" }, "requested");
  const passes = await operator.sumOf("lattice_reconcile_total");
  return { requests, passes, cpu: cpuSeconds(operator.pid), seconds: performance.now() / 1_000 };
}

function difference(after: Totals, before: Totals): Totals {
  return {
    requests: after.requests - before.requests,
    passes: after.passes - before.passes,
    cpu: after.cpu - before.cpu,
    seconds: after.seconds - before.seconds,
  };
}

async function settle(api: ChildProcess): Promise<void> {
  let [seen, since] = [-1, performance.now()];
  for (const end = performance.now() + SETTLE_WITHIN_MS; performance.now() < end && performance.now() - since < QUIET_MS;) {
    const { requests } = await ask(api, { kind: "requests" }, "requested");
    if (requests !== seen) [seen, since] = [requests, performance.now()];
    await delay(LOOK_MS);
  }
}

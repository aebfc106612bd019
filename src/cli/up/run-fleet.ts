/** Runs the fleet of `lattice up` until the signal fires: its processes, its control socket, and what is shown of it. */
import { err, ok, sleep, type Logger, type Result } from "#base";
import type { ClusterView, Fleet, FleetCluster, OpenFolder } from "#fleet";
import { makeCell } from "#install";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { reportError, untilStopped, type CommandIo } from "../io.ts";
import { localEndpoints } from "../local-endpoints.ts";
import { BoardTable } from "./board-table.ts";
import { followFleet } from "./fleet-board.ts";
import { applyOwnServices, type OwnServices } from "./own-services.ts";
import { MANAGEMENT } from "./laptop-plan.ts";
import { openRunningFleet } from "./open-running-fleet.ts";
import { applyShop, explainFlows } from "./shop.ts";
import { showLaptop } from "./show-laptop.ts";
import {
  describeCell,
  describeEmpty,
  describeManagement,
  describeMoved,
  describeOwn,
  describeStopped,
  nextForEmpty,
  nextForServices,
} from "./up-text.ts";
import { WatchBoard } from "./watch-board.ts";

const UP_WITHIN_MS = 60_000;

/** "laptop": a management cluster that owns itself, with children. "installed": what `lattice install` has made, and what was created there. */
export type FleetContent = "shop" | "empty" | "laptop" | "installed" | OwnServices;

export type RunFleet = {
  readonly opened: OpenFolder;
  readonly content: FleetContent;
  readonly clusters: number;
  /** The management cluster can have children. */
  readonly cell: boolean;
  readonly repair: boolean;
  readonly logger: Logger;
};

export async function runFleet(io: CommandIo, run: RunFleet): Promise<Result<void, string>> {
  const { opened, clusters, repair, logger } = run;
  const wanted = isMade(run.content) ? [] : clusterNames(clusters);
  const open = await openRunningFleet(io, { opened, clusters: wanted, repair, logger });
  if (!open.ok) return open;
  const ended = await show(io, run, open.value.fleet);
  io.stdout("\nstopping; state is kept\n");
  await open.value.close();
  return ended;
}

/** Its clusters are made of machines. */
function isMade(content: FleetContent): boolean {
  return content === "laptop" || content === "installed";
}

function clusterNames(count: number): readonly FleetCluster[] {
  return Array.from({ length: count }, (_, index) => ({ name: index === 0 ? MANAGEMENT : `cluster-${index + 1}` }));
}

function show(io: CommandIo, run: RunFleet, fleet: Fleet): Promise<Result<void, string>> {
  if (run.content === "laptop" || run.content === "installed") return showLaptop(io, run.opened, fleet);
  return run.content === "empty" ? showEmpty(io, run, fleet) : showServices(io, run, fleet);
}

/** Several clusters without services: their states. */
async function showEmpty(io: CommandIo, run: RunFleet, fleet: Fleet): Promise<Result<void, string>> {
  io.stdout(describeEmpty(fleet.clusters()));
  const table = new BoardTable({ ...io, columns: () => io.terminal?.columns() });
  table.printHeader();
  const unfollow = followFleet(fleet, table, { all: true });
  const failed = await failedStarts(io, fleet);
  const [first] = failed;
  const noneRuns = first !== undefined && failed.length === fleet.clusters().length;
  if (!noneRuns) {
    for (const error of failed) reportError(io, error);
    const cell = await ensureCell(io, run, fleet);
    if (!cell.ok) reportError(io, cell.error);
    if (!io.signal.aborted) io.stdout(`\n${describeMoved(fleet.clusters())}${nextForEmpty(io, run.opened.folder, fleet.clusters())}`);
    await untilStopped(io.signal);
  }
  unfollow();
  return noneRuns ? err(first) : ok(undefined);
}

/** A cluster that a user stopped becomes a cell in the next start. */
async function ensureCell(io: CommandIo, { cell }: RunFleet, fleet: Fleet): Promise<Result<void, string>> {
  const management = fleet.clusters().find(({ name, state }) => name === MANAGEMENT && state === "Running");
  if (!cell || management === undefined || io.signal.aborted) return ok(undefined);
  const client = await connectTo(io, management);
  if (!client.ok) return client;
  const made = await makeCell(client.value, { name: MANAGEMENT, endpoints: localEndpoints });
  await client.value.close();
  if (made.ok) io.stdout(describeCell(MANAGEMENT));
  return io.signal.aborted ? ok(undefined) : made;
}

/** Why clusters cannot start. Those that a user stopped are not waited for. */
async function failedStarts({ signal }: CommandIo, fleet: Fleet): Promise<readonly string[]> {
  const waited = fleet.clusters().filter(({ state }) => state !== "Stopped");
  const started = await Promise.all(waited.map(({ name }) => fleet.untilRunning(name, signal)));
  return signal.aborted ? [] : started.flatMap((one) => (one.ok ? [] : [one.error]));
}

/** The management cluster with services: their states, and which may call which. */
async function showServices(io: CommandIo, run: RunFleet, fleet: Fleet): Promise<Result<void, string>> {
  const management = await untilManagement(io, run, fleet);
  if (!management.ok) return management;
  io.stdout(`${describeManagement(io, run.opened.folder, management.value)}${describeMoved(fleet.clusters())}`);
  const cell = await ensureCell(io, run, fleet);
  if (!cell.ok) return cell;
  const client = await connectTo(io, management.value);
  if (!client.ok) return client;
  const shown = await showBoard(io, run, { fleet, client: client.value });
  await client.value.close();
  return shown;
}

type Shown = { readonly fleet: Fleet; readonly client: KubeClient };

async function showBoard(io: CommandIo, { content, opened }: RunFleet, { fleet, client }: Shown): Promise<Result<void, string>> {
  const own = typeof content === "string" ? undefined : content;
  const applied = own === undefined ? await applyShop(io, client) : await applyOwnServices(client, own);
  if (!applied.ok) return applied;
  if (own !== undefined) io.stdout(describeOwn(own));
  else io.stdout(applied.value === true ? FIRST_TIME : "The services, as they were left:\n\n");
  const columns = () => io.terminal?.columns();
  const table = new BoardTable({ ...io, columns });
  const board = new WatchBoard({ ...io, client, columns, table });
  table.printHeader();
  board.start();
  const unfollow = followFleet(fleet, table, { all: false });
  if (!(await untilUp(io, board))) io.stdout("\nNot everything is Ready yet; ./lattice status shows what each waits for.\n");
  const flows = await explainFlows(io, client);
  if (!io.signal.aborted && flows.ok) io.stdout(`\n${flows.value.text}${nextForServices(io, opened.folder, flows.value.closed)}`);
  if (flows.ok) await untilStopped(io.signal);
  unfollow();
  await board.ended();
  return flows.ok || io.signal.aborted ? ok(undefined) : flows;
}

const FIRST_TIME = "The shop (examples/shop) starts; its Secrets hold made-up values:\n\n";

/** A cluster that a user stopped stays stopped: then this waits until it is started. */
async function untilManagement(io: CommandIo, { opened }: RunFleet, fleet: Fleet): Promise<Result<ClusterView, string>> {
  const isStopped = () => fleet.clusters().find(({ name }) => name === MANAGEMENT)?.state === "Stopped";
  if (isStopped()) {
    io.stdout(describeStopped(io, opened.folder, MANAGEMENT));
    const { promise, resolve } = Promise.withResolvers<void>();
    const unfollow = fleet.subscribe(() => isStopped() || resolve());
    await Promise.race([promise, untilStopped(io.signal)]);
    unfollow();
  }
  return fleet.untilRunning(MANAGEMENT, io.signal);
}

async function connectTo(io: CommandIo, { kubeconfig }: ClusterView): Promise<Result<KubeClient, string>> {
  const { clock, random, home } = io;
  const config = await loadKubeconfig({ path: kubeconfig, env: {}, home, clock });
  if (!config.ok) return err(config.error.message);
  return ok(createKubeClient({ transport: httpTransport(config.value, { clock }), clock, random }));
}

/** False: it took too long. True after a signal to stop: there is no failure to report then. */
async function untilUp({ clock, signal }: CommandIo, board: WatchBoard): Promise<boolean> {
  const timer = new AbortController();
  let late = false;
  const expired = sleep(clock, UP_WITHIN_MS, timer.signal).then((passed) => (late = passed));
  while (!board.isUp() && !late && !signal.aborted) await Promise.race([board.nextChange(), expired]);
  timer.abort();
  return board.isUp() || signal.aborted;
}

/**
 * `lattice up`, which is `npm start`: a cluster on this machine with Lattice on it and an example application that comes up before one's eyes.
 * Runs until Ctrl-C; state is kept.
 */
import { isAbsolute, resolve } from "node:path";
import { createLogger, PROGRAM_VERSION, sleep, type Result } from "#base";
import { latticeKinds } from "#crds";
import { splitId, type Edge } from "#mesh-compiler";
import { misunderstood, untilAskedToStop, type CliIo, type ExitCode } from "./io.ts";
import { startLocalCluster, type LocalCluster } from "./local-cluster.ts";
import { prepareFolder, removeRecord, runningUp, shortPath, upFolder, writeRecord, type UpFolder } from "./up/folder.ts";
import { applyShop, explainDoors } from "./up/shop.ts";
import { WatchBoard } from "./up/watch-board.ts";

export type UpFlags = { readonly dataDir: string; readonly repair?: boolean };

const UP_WITHIN_MS = 60_000;

export async function up(io: CliIo, flags: UpFlags): Promise<ExitCode> {
  const folder = upFolder(resolve(io.cwd, flags.dataDir));
  const running = await runningUp(folder);
  if (running !== undefined)
    return misunderstood(io, `lattice up runs in ${folder.path} already (process ${running.pid}); lattice down stops it`);
  const prepared = await prepareFolder(folder);
  if (!prepared.ok) return misunderstood(io, prepared.error);
  io.stdout(`Lattice ${PROGRAM_VERSION}: clusters that own themselves, services that talk only when both sides agree.\n\n`);
  const logger = createLogger((level, message, fields) => {
    if (level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const cluster = await startLocalCluster(io, {
    dataDir: folder.data,
    repair: flags.repair === true,
    kubeconfig: folder.kubeconfig,
    logger,
  });
  if (!cluster.ok) return misunderstood(io, cluster.error);
  const ended = await runUp(io, folder, cluster.value);
  io.stdout("\nstopping; state is kept\n");
  await cluster.value.close();
  await removeRecord(folder);
  return ended.ok ? 0 : misunderstood(io, ended.error);
}

async function runUp(io: CliIo, folder: UpFolder, cluster: LocalCluster): Promise<Result<void, string>> {
  const recorded = await writeRecord(folder, cluster.operator.healthUrl);
  if (!recorded.ok) return recorded;
  io.stdout(describeCluster(cluster, shortPath(io.cwd, folder.path)));
  const applied = await applyShop(io, cluster.client);
  if (!applied.ok) return applied;
  io.stdout(applied.value ? FIRST_TIME : "The shop, as it was left:\n\n");
  const board = new WatchBoard({ ...io, client: cluster.client, print: io.stdout, signal: io.signal });
  board.start();
  if (!(await untilUp(io, board))) io.stdout("\nNot everything is up yet; kubectl describe says what each is waiting for.\n");
  const doors = await explainDoors(io, cluster.client);
  if (!io.signal.aborted && doors.ok) {
    io.stdout(`\n${doors.value.text}${whatNext(shortPath(io.cwd, folder.kubeconfig), doors.value.closed)}`);
  }
  await untilAskedToStop(io.signal);
  await board.ended();
  return doors.ok || io.signal.aborted ? { ok: true, value: undefined } : doors;
}

/** False: it took too long. Asked to stop counts as up: there is nothing to complain about then. */
async function untilUp({ clock, signal }: CliIo, board: WatchBoard): Promise<boolean> {
  const timer = new AbortController();
  let late = false;
  const expired = sleep(clock, UP_WITHIN_MS, timer.signal).then((passed) => (late = passed));
  while (!board.isUp() && !late && !signal.aborted) await Promise.race([board.nextChange(), expired]);
  timer.abort();
  return board.isUp() || signal.aborted;
}

const FIRST_TIME = `The shop (examples/shop) comes up; its Secrets hold made-up values:\n\n`;

function describeCluster({ url, operator, nodes, meshKinds }: LocalCluster, folder: string): string {
  return [
    `  API server  ${url} (embedded; state in ${folder}/data)`,
    `  nodes       ${nodes}, simulated: pods are played, no container runs`,
    `  kinds       ${latticeKinds.length} of Lattice (${latticeKinds.map(({ shortName }) => shortName).join(" ")})`,
    `              ${meshKinds} of Cilium, Istio, Gateway API, Flagger and External Secrets, reduced: policies are stored, nothing enforces them`,
    `  operator    health and metrics at ${operator.healthUrl}`,
    "",
    "",
  ].join("\n");
}

function whatNext(kubeconfig: string, closed: Edge | undefined): string {
  return [
    "Try, in another terminal:",
    "",
    `  export KUBECONFIG=${isAbsolute(kubeconfig) ? kubeconfig : `$PWD/${kubeconfig}`}`,
    "  kubectl get ls -A                         the services and what they say; kubectl describe ls cart shows every condition",
    ...(closed === undefined ? toClose() : toOpen(closed)),
    "",
    "Changes show here as they happen. Ctrl-C stops it and keeps the state; ./lattice down --purge stops it and deletes the state.",
    "",
    "",
  ].join("\n");
}

function toOpen({ caller, callee }: Edge): readonly string[] {
  const [from, to] = [splitId(caller).name, splitId(callee).name];
  const patch = JSON.stringify({ spec: { resources: { [from]: { direction: "inbound" } } } });
  return [
    `  ${`./lattice why ${from} ${to}`.padEnd(40)}  closed, and which side has to say what`,
    `  kubectl patch ls ${to} --type merge -p '${patch}'`,
    `${" ".repeat(44)}the missing word: the door opens; ask why again`,
  ];
}

function toClose(): readonly string[] {
  return [
    "  ./lattice why cart catalog                open, and by which policies",
    `  kubectl patch ls catalog --type json -p '[{"op":"remove","path":"/spec/resources/cart"}]'`,
    `${" ".repeat(44)}takes the word back: the door closes`,
  ];
}

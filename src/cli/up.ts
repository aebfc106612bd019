/**
 * `lattice up`, which is `npm start`: runs a cluster on this machine with Lattice and an example application. Runs until Ctrl-C; state is
 * kept.
 */
import { isAbsolute, resolve } from "node:path";
import { createLogger, PROGRAM_VERSION, sleep, type Result } from "#base";
import { latticeKinds } from "#crds";
import { splitId } from "#mesh-compiler";
import { reportFailure, untilStopped, type CommandIo, type ExitCode } from "./io.ts";
import { startLocalCluster, type LocalCluster } from "./local-cluster.ts";
import { shortPath } from "./short-path.ts";
import { prepareFolder, removeRecord, runningUp, upFolder, writeRecord, type UpFolder } from "./up-folder.ts";
import { applyOwnServices, readOwnServices, type OwnFlags, type OwnServices } from "./up/own-services.ts";
import { applyShop, explainFlows, type ClosedFlow } from "./up/shop.ts";
import { WatchBoard } from "./up/watch-board.ts";

export type UpFlags = OwnFlags & { readonly dataDir: string; readonly repair?: boolean };

const UP_WITHIN_MS = 60_000;

export async function up(io: CommandIo, flags: UpFlags): Promise<ExitCode> {
  const folder = upFolder(resolve(io.cwd, flags.dataDir));
  const running = await runningUp(folder);
  if (running !== undefined)
    return reportFailure(io, `lattice up runs in ${folder.path} already (process ${running.pid}); lattice down stops it`);
  const own = await chooseServices(io, flags);
  if (typeof own === "number") return own;
  const prepared = await prepareFolder(folder);
  if (!prepared.ok) return reportFailure(io, prepared.error);
  io.stdout(`Lattice ${PROGRAM_VERSION}: services that talk only when both sides agree.\n\n`);
  const logger = createLogger((level, message, fields) => {
    if (level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const cluster = await startLocalCluster(io, {
    dataDir: folder.data,
    repair: flags.repair === true,
    kubeconfig: folder.kubeconfig,
    logger,
  });
  // a signal cancels the calls that are under way
  if (!cluster.ok) return io.signal.aborted ? 0 : reportFailure(io, cluster.error);
  const release = io.handleRepeats?.(() => "exit");
  const ended = await runUp(io, { folder, own }, cluster.value);
  io.stdout("\nstopping; state is kept\n");
  await cluster.value.close();
  await removeRecord(folder);
  release?.();
  return ended.ok || io.signal.aborted ? 0 : reportFailure(io, ended.error);
}

/** undefined: the example shop. A number: the exit code, when the files have errors. */
async function chooseServices(io: CommandIo, flags: UpFlags): Promise<OwnServices | ExitCode | undefined> {
  if (flags.filename !== undefined) return readOwnServices(io, flags);
  const other = (["secrets", "namespace", "image"] as const).find((name) => flags[name] !== undefined);
  return other === undefined ? undefined : reportFailure(io, `--${other} is for services given with -f`);
}

type Started = { readonly folder: UpFolder; readonly own: OwnServices | undefined };

async function runUp(io: CommandIo, { folder, own }: Started, cluster: LocalCluster): Promise<Result<void, string>> {
  const recorded = await writeRecord(folder, cluster.operator.healthUrl);
  if (!recorded.ok) return recorded;
  io.stdout(describeCluster(cluster, shortPath(io.cwd, folder.path)));
  const applied = own === undefined ? await applyShop(io, cluster.client) : await applyOwnServices(cluster.client, own);
  if (!applied.ok) return applied;
  if (own !== undefined) io.stdout(describeOwn(own));
  else io.stdout(applied.value === true ? FIRST_TIME : "The services, as they were left:\n\n");
  const board = new WatchBoard({ ...io, client: cluster.client, columns: () => io.terminal?.columns() });
  board.start();
  if (!(await untilUp(io, board))) io.stdout("\nNot everything is Ready yet; ./lattice status shows what each waits for.\n");
  const flows = await explainFlows(io, cluster.client);
  if (!io.signal.aborted && flows.ok) {
    io.stdout(`\n${flows.value.text}${whatNext(shortPath(io.cwd, folder.kubeconfig), flows.value.closed)}`);
  }
  await untilStopped(io.signal);
  await board.ended();
  return flows.ok || io.signal.aborted ? { ok: true, value: undefined } : flows;
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

const FIRST_TIME = "The shop (examples/shop) starts; its Secrets hold made-up values:\n\n";

function describeOwn({ objects, madeUp, leftOut }: OwnServices): string {
  const services = objects.filter(({ object }) => object.kind === "LatticeService").length;
  const secrets = ["These Secrets hold made-up values; --secrets FILE gives others:", ...madeUp.map((name) => `  ${name}`), ""];
  const lines = [
    ...leftOut.map((name) => `left out, since lattice up does not apply its kind: ${name}`),
    ...(madeUp.length === 0 ? [] : secrets),
    services === 1 ? "Your service starts:" : `Your ${services} services start:`,
  ];
  return `${lines.join("\n")}\n\n`;
}

function describeCluster({ url, operator, nodes, meshKinds }: LocalCluster, folder: string): string {
  return [
    `  API server  ${url} (embedded; state in ${folder}/data)`,
    `  nodes       ${nodes}, simulated: no container runs`,
    `  kinds       ${latticeKinds.length} of Lattice (${latticeKinds.map(({ shortName }) => shortName).join(" ")})`,
    `              ${meshKinds} of Cilium, Istio and others, reduced: no policy is enforced`,
    `  operator    health and metrics at ${operator.healthUrl}`,
    "",
    "",
  ].join("\n");
}

function whatNext(kubeconfig: string, closed: ClosedFlow | undefined): string {
  return [
    "Try, in another terminal:",
    "",
    "  ./lattice status                      services with one sentence each",
    ...(closed === undefined ? [] : [`  ${whyCommand(closed).padEnd(36)}  what decides it, and what to add`]),
    `  export KUBECONFIG=${isAbsolute(kubeconfig) ? kubeconfig : `$PWD/${kubeconfig}`}`,
    "  kubectl get ls -A                     the same services as resources",
    ...(closed === undefined ? [] : toOpen(closed)),
    "",
    "Changes show here as they happen. Ctrl-C stops it and keeps the state;",
    "./lattice down --purge stops it and deletes the state.",
    "",
    "",
  ].join("\n");
}

function whyCommand({ caller, callee }: ClosedFlow): string {
  return `./lattice why ${splitId(caller).name} ${splitId(callee).name}`;
}

/** One shell command in two lines that fit 80 columns. */
function toOpen({ caller, callee, declaredIn }: ClosedFlow): readonly string[] {
  const namespace = declaredIn === "default" ? "" : ` -n ${declaredIn}`;
  const patch = JSON.stringify({ spec: { resources: { [splitId(caller).name]: { direction: "inbound" } } } });
  return [
    `  kubectl patch ls ${splitId(callee).name}${namespace} --type merge -p \\`,
    `    '${patch}'`,
    `${" ".repeat(40)}declares the missing side: the flow opens`,
  ];
}

/**
 * `lattice move`: the mover of src/pivot between two kubeconfigs. Progress goes to stderr, the report to stdout.
 *
 * Exit code 0: moved (or nothing was left to move), 1: refused, with the reasons, 2: not finished; the same command continues.
 */
import { err, ok, silentLogger, type Result } from "#base";
import { abortNamespaceMove, moveNamespace, planNamespaceMove, type MoveFailure, type MoveOptions, type MoveReport } from "#pivot";
import { connect, type Connection } from "./cluster.ts";
import { parseDurationFlag } from "./duration-flag.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { continueMove } from "./move/continue-move.ts";
import { reportMoveFailure } from "./move/failure-text.ts";
import { planJson, planText } from "./move/plan-text.ts";
import { showProgress } from "./move/progress.ts";
import { scopeOf } from "./namespace-scope.ts";

export type MoveFlags = {
  readonly kubeconfig?: string;
  readonly kubeconfigContext?: string;
  readonly toKubeconfig: string;
  readonly toKubeconfigContext?: string;
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly abort?: boolean;
  readonly wait?: string;
  readonly lease?: string;
  readonly output: "text" | "json";
};

const DEFAULT_WAIT_MS = 300_000;
const DEFAULT_LEASE_MS = 15_000;
const WAIT = {
  name: "--wait",
  least: { text: "1s", why: "objects are read once a second" },
  most: { text: "24h", why: "the source stays paused meanwhile" },
};
const LEASE = {
  name: "--lease",
  least: { text: "2s", why: "it has to be renewed in time" },
  most: { text: "10m", why: "it blocks the next move after a crash" },
};

export async function move(io: CommandIo, flags: MoveFlags): Promise<ExitCode> {
  if (flags.dryRun === true && flags.abort === true) return reportFailure(io, "--dry-run and --abort exclude each other");
  const times = timesOf(flags);
  if (!times.ok) return reportFailure(io, times.error);
  const source = await connect(io, { ...contextOf(flags.kubeconfig, flags.kubeconfigContext) }, { logger: silentLogger });
  if (!source.ok) return reportFailure(io, `the cluster to move from: ${source.error}`);
  const target = await connect(io, contextOf(flags.toKubeconfig, flags.toKubeconfigContext), { logger: silentLogger });
  try {
    if (!target.ok) return reportFailure(io, `the cluster to move to: ${target.error}`);
    return await moveBetween(io, flags, { source: source.value, target: target.value, ...times.value });
  } finally {
    await source.value.client.close();
    if (target.ok) await target.value.client.close();
  }
}

function contextOf(kubeconfig: string | undefined, context: string | undefined) {
  return { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}

function timesOf({ wait, lease }: MoveFlags): Result<{ readonly waitMs: number; readonly leaseMs: number }, string> {
  const waited = parseDurationFlag(WAIT, wait);
  if (!waited.ok) return waited;
  const leased = parseDurationFlag(LEASE, lease);
  return leased.ok ? ok({ waitMs: waited.value ?? DEFAULT_WAIT_MS, leaseMs: leased.value ?? DEFAULT_LEASE_MS }) : leased;
}

type Clusters = { readonly source: Connection; readonly target: Connection; readonly waitMs: number; readonly leaseMs: number };

async function moveBetween(io: CommandIo, flags: MoveFlags, { source, target, waitMs, leaseMs }: Clusters): Promise<ExitCode> {
  const scope = scopeOf(flags, source.config);
  if (!scope.ok || scope.value === undefined) return reportFailure(io, scope.ok ? "--namespace: name one" : scope.error);
  const progress = showProgress(io, { quiet: flags.output === "json" });
  const options: Omit<MoveOptions, "identity"> = {
    source: source.client,
    target: target.client,
    namespace: scope.value,
    clock: io.clock,
    random: io.random,
    signal: io.signal,
    waitMs,
    leaseMs,
    onWait: (holder) => progress.note(`${holder} has a lease on the namespace; waiting until it is renewed or runs out`),
    report: progress.report,
  };
  if (flags.dryRun === true) return dryRun(io, flags, { ...options, identity: "" });
  const result = await continueMove(io, progress, (identity) => {
    const own = { ...options, identity };
    return flags.abort === true ? abort(io, flags, own) : run(io, flags, own);
  });
  progress.end();
  return result.ok ? 0 : reportMoveFailure(io, flags, result.error);
}

async function dryRun(io: CommandIo, flags: MoveFlags, options: MoveOptions): Promise<ExitCode> {
  const plan = await planNamespaceMove(options);
  if (!plan.ok) return reportMoveFailure(io, flags, plan.error);
  if (flags.output === "json") io.stdout(`${JSON.stringify(planJson(options.namespace, plan.value), null, 2)}\n`);
  else io.stdout(planText(options.namespace, plan.value));
  return plan.value.problems.length === 0 || plan.value.unfinished !== undefined ? 0 : 1;
}

async function run(io: CommandIo, flags: MoveFlags, options: MoveOptions): Promise<Result<void, MoveFailure>> {
  const moved = await moveNamespace(options);
  if (!moved.ok) return moved;
  if (flags.output === "json") io.stdout(`${JSON.stringify({ namespace: options.namespace, ...moved.value }, null, 2)}\n`);
  else io.stdout(reportText(options.namespace, moved.value));
  return ok(undefined);
}

async function abort(io: CommandIo, flags: MoveFlags, options: MoveOptions): Promise<Result<void, MoveFailure>> {
  const aborted = await abortNamespaceMove(options);
  if (!aborted.ok) return err(aborted.error);
  const text = aborted.value
    ? "the move was undone: the source owns its clusters, and the target has no copies"
    : "there is no unfinished move";
  io.stdout(flags.output === "json" ? `${JSON.stringify({ namespace: options.namespace, aborted: aborted.value })}\n` : `${text}\n`);
  return ok(undefined);
}

function reportText(namespace: string, { id, objects, digest, epoch, stillPaused, totalMs }: MoveReport): string {
  if (id === undefined) return `nothing to move in namespace ${namespace}\n`;
  const paused = stillPaused.map((what) => `${what} was paused before the move and still is\n`);
  const seconds = (totalMs / 1_000).toFixed(1);
  return `moved ${objects} objects of namespace ${namespace} in ${seconds} s: epoch ${epoch}, sha256 ${digest.slice(0, 16)}\n${paused.join("")}`;
}

/**
 * `lattice reparent`: a cluster that owns itself gets another parent, also when its former one is gone. Both clusters are read, the next step is decided and taken,
 * until nothing is left to do; a command that was killed is continued by the same command.
 *
 * Exit code 0: the agent is connected to the new parent, 1: refused, with the reason, 2: not finished; the same command continues.
 */
import { silentLogger, sleep } from "#base";
import { connect, type ClusterFlags, type Connection } from "./cluster.ts";
import { parseDurationFlag } from "./duration-flag.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { actReparent } from "./reparent/act.ts";
import { nextReparentStep, remainderOf, type ReparentStep } from "./reparent/decide.ts";
import { observeReparent, type ObservedReparent, type ReparentClients } from "./reparent/observe.ts";

export type ReparentFlags = {
  readonly to: string;
  readonly toContext?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly from?: string;
  readonly fromContext?: string;
  readonly dryRun?: boolean;
  readonly wait?: string;
  readonly output: "text" | "json";
};

const DEFAULT_WAIT_MS = 300_000;
const LOOK_MS = 1_000;
const WAIT = {
  name: "--wait",
  least: { text: "1s", why: "both clusters are read once a second" },
  most: { text: "24h", why: "the offer of the new parent is valid for a day" },
};

const TEXTS: Readonly<Record<ReparentStep, string>> = {
  adopt: "creating the LatticeCluster at the new parent",
  "ask-again": "asking the parent for a new certificate",
  "await-offer": "waiting for the new parent's configuration for the agent",
  "write-parent": "replacing Secret lattice-parent-config",
  "set-cell-ref": "setting spec.cellRef",
  "await-agent": "waiting until the agent is connected to the new parent",
  release: "releasing the cluster at its former parent",
  done: "done",
};

const UNFINISHED: Partial<Record<ReparentStep, string>> = {
  "await-offer": "the new parent has not offered a configuration: does its operator run?",
  "await-agent": "the agent has not connected to the new parent: is spec.endpoints of the new parent reachable from the cluster?",
};

export async function reparent(io: CommandIo, name: string, flags: ReparentFlags): Promise<ExitCode> {
  const wait = parseDurationFlag(WAIT, flags.wait);
  if (!wait.ok) return reportFailure(io, wait.error);
  const opened: Connection[] = [];
  const open = async (what: string, cluster: ClusterFlags) => {
    const connection = await connect(io, cluster, { logger: silentLogger });
    if (connection.ok) opened.push(connection.value);
    else reportFailure(io, `${what}: ${connection.error}`);
    return connection.ok ? connection.value.client : undefined;
  };
  try {
    const child = await open(`the cluster ${name}`, flagsOf(flags.kubeconfig, flags.context));
    const to = child === undefined ? undefined : await open("the new parent", flagsOf(flags.to, flags.toContext));
    if (child === undefined || to === undefined) return 2;
    const from = flags.from === undefined ? undefined : await open("the former parent", flagsOf(flags.from, flags.fromContext));
    if (flags.from !== undefined && from === undefined) return 2;
    const clients = { child, to, from, signal: io.signal };
    return await follow(io, { name, flags, clients, waitMs: wait.value ?? DEFAULT_WAIT_MS });
  } finally {
    for (const { client } of opened) await client.close();
  }
}

function flagsOf(kubeconfig: string | undefined, context: string | undefined): ClusterFlags {
  return { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}

type Run = {
  readonly name: string;
  readonly flags: ReparentFlags;
  readonly clients: ReparentClients;
  readonly waitMs: number;
};

async function follow(io: CommandIo, { name, flags, clients, waitMs }: Run): Promise<ExitCode> {
  const until = io.clock.monotonic() + waitMs;
  const progress = (text: string) => void (flags.output === "text" && io.stderr(`${text}\n`));
  let former: string | undefined;
  let shown: ReparentStep | undefined;
  for (;;) {
    const observed = await observeReparent(name, clients);
    if (!observed.ok) return unfinished(io, observed.error);
    former ??= formerOf(observed.value);
    const decision = nextReparentStep(observed.value);
    if ("refused" in decision) return refused(io, flags, decision.refused);
    const { step } = decision;
    if (flags.dryRun === true) return dryRun(io, flags, step);
    if (step === "done") return done(io, flags, { observed: observed.value, former });
    if (step !== shown) progress(TEXTS[step]);
    shown = step;
    const acted = await actReparent(step, observed.value, clients);
    if (!acted.ok) return unfinished(io, acted.error);
    if (step !== "await-offer" && step !== "await-agent") continue;
    if (io.clock.monotonic() >= until) return unfinished(io, UNFINISHED[step] ?? "it took too long");
    if (!(await sleep(io.clock, LOOK_MS, io.signal))) return unfinished(io, "stopped");
  }
}

/** The parent before this command; after its Secret was replaced, only the former spec.cellRef may still name it. */
function formerOf({ child, to }: ObservedReparent): string | undefined {
  return [child.parent?.cell, child.own?.cellRef].find((cell) => cell !== undefined && cell !== to.name);
}

type Ended = { readonly observed: ObservedReparent; readonly former: string | undefined };

function done(io: CommandIo, flags: ReparentFlags, { observed, former }: Ended): ExitCode {
  const { name, to, from } = observed;
  const remainder = remainderOf(name, former, from);
  if (flags.output === "json") io.stdout(`${JSON.stringify({ cluster: name, parent: to.name, former, remainder })}\n`);
  else io.stdout(`${name} is a child of ${to.name ?? ""}: its agent is connected\n${remainder === undefined ? "" : `${remainder}\n`}`);
  return 0;
}

function dryRun(io: CommandIo, flags: ReparentFlags, step: ReparentStep): ExitCode {
  io.stdout(flags.output === "json" ? `${JSON.stringify({ next: step })}\n` : `the next step would be: ${TEXTS[step]}\n`);
  return 0;
}

function refused(io: CommandIo, flags: ReparentFlags, message: string): ExitCode {
  if (flags.output === "json") io.stdout(`${JSON.stringify({ error: "refused", message })}\n`);
  io.stderr(`lattice: ${message}\n`);
  return 1;
}

function unfinished(io: CommandIo, message: string): ExitCode {
  io.stderr(`lattice: ${message}; run the same command again to continue\n`);
  return 2;
}

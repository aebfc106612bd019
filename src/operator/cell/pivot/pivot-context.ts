/** What one move of a child works with, and its failures as the cluster controller reports them. */
import { err, type Clock, type Err, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import type { ChildAgent, PivotProblem } from "#controllers";
import type { LatticeCluster } from "#crds";
import { fieldAt } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import type { CellLink } from "#link";
import type { MoveFailure, MoveOptions, MoveProgress, ObjectOutline } from "#pivot";

/** What a cell's link offers to moves. */
export type PivotLink = Pick<CellLink, "send"> & { readonly agents: () => ReadonlyMap<string, ChildAgent> };

export type PivotContext = {
  readonly cluster: LatticeCluster;
  /** Of this cell; fenced. */
  readonly client: KubeClient;
  /** Of the child, through tunnels. */
  readonly child: KubeClient;
  readonly link: PivotLink;
  readonly clock: Clock;
  readonly random: () => number;
  /** Unique for this process. */
  readonly identity: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
  readonly report: (progress: Omit<MoveProgress, "step"> & { readonly step: string }) => void;
};

/** Undefined as the error: it was stopped. */
export type PivotResult<T> = Promise<Result<T, PivotProblem | undefined>>;

/** How long objects that are being deleted, or block the move, are waited for in one attempt. */
const WAIT_MS = 60_000;

export function moveOptions(context: PivotContext, direction: "to-child" | "to-parent"): MoveOptions {
  const { cluster, client, child, clock, random, identity, leaseMs, signal, report } = context;
  const { name } = cluster.metadata;
  const [source, target] = direction === "to-child" ? [client, child] : [child, client];
  return {
    source,
    target,
    namespace: capiNamespace(name),
    identity,
    leaseMs,
    clock,
    random,
    signal,
    waitMs: WAIT_MS,
    onlyCluster: name,
    // the agent of the child is connected to this cell: a former parent of it has lost its tunnel
    supersedes: direction === "to-parent" ? true : undefined,
    onWait: (holder) => report({ step: "wait", note: `the lease of ${holder} has to run out` }),
    report,
    leftToTarget: (object) => isKubeconfig(object, name),
  };
}

/** It leads to the child from each side in another way, so each side writes its own. */
function isKubeconfig({ kind, metadata }: ObjectOutline, cluster: string): boolean {
  return kind === "Secret" && metadata.name === `${cluster}-kubeconfig`;
}

export function isConnected({ link, cluster }: PivotContext): boolean {
  return link.agents().get(cluster.metadata.name)?.connected === true;
}

/** The resource is deleted, and the cluster keeps its machines: its objects are its own in the end. */
export function isReleased({ spec }: Pick<LatticeCluster, "spec">): boolean {
  return fieldAt(spec, "deletion", "unpivot") === false;
}

export function problem(kind: PivotProblem["kind"], message: string): Err<PivotProblem> {
  return err({ kind, message });
}

export function problemOfMove(context: PivotContext, failure: MoveFailure): Err<PivotProblem | undefined> {
  const { kind, message, reasons = [] } = failure;
  if (context.signal.aborted || kind === "stopped") return err(undefined);
  if (!isConnected(context)) return unreachable(context, message);
  return problem(kind, reasons.length > 1 ? `${message}; ${reasons.slice(1).join("; ")}` : message);
}

export function problemOfRequest(context: PivotContext, what: string, error: KubeError): Err<PivotProblem | undefined> {
  if (context.signal.aborted) return err(undefined);
  const message = `${what}: ${error.message}`;
  return isConnected(context) ? problem("failed", message) : unreachable(context, message);
}

export function unreachable({ cluster }: PivotContext, detail?: string): Err<PivotProblem> {
  const more = detail === undefined ? "" : ` (${detail})`;
  return problem("unreachable", `the agent of ${cluster.metadata.name} is not connected; the move continues when it is${more}`);
}

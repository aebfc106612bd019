/** The phase of a child from its pivot on: its objects are moved to it, it owns itself, or they are taken back. Pure. */
import { millisecondsOf, parseDuration } from "#base";
import type { LatticeCluster } from "#crds";
import { fieldAt, isConditionTrue } from "#kube";
import { adoptedCluster } from "./adoption.ts";
import type { ChildState } from "./child-state.ts";
import { deadlineAt, PHASE_DEADLINES } from "./deadlines.ts";
import { accessSecretOf } from "./names.ts";
import type { ClusterProblem, ObservedChild } from "./observed.ts";
import type { PivotProblem, PivotView } from "./ports.ts";
import { pivotRequestOf } from "./pivot-request.ts";
import type { ClusterReason } from "./reasons.ts";

/** Set before the parent deletes the Cluster: from then on a Cluster that is absent was deleted here, and is not in the child. */
export const DELETION_ANNOTATION = "lattice.dev/deleted-by-parent";

type Step = Pick<ChildState, "reason" | "message">;

/** The child is complete, or its objects are on their way. */
export function pivotingState(cluster: LatticeCluster, observed: Pick<ObservedChild, "pivot" | "now" | "agent" | "linkIsNew">): ChildState {
  const { now } = observed;
  if (pivotRequestOf(cluster) === "abort") return { phase: "Pivoting", ...abortStep(observed.pivot), complete: false };
  // an abort that was withdrawn says nothing about the move that follows
  const pivot = observed.pivot?.direction === "abort" ? undefined : observed.pivot;
  const { Pivoting } = PHASE_DEADLINES;
  const since = pivotStartOf(cluster, pivot) ?? now;
  const deadline = deadlineAt(Pivoting, { since, progressAt: pivot?.progressAt });
  const step = awayStep(observed) ?? (pivot?.problem === undefined ? stepOfMove(pivot) : problemStep(pivot.problem, PIVOT_REASONS));
  if (now < deadline) return { phase: "Pivoting", ...step, deadline, complete: false };
  const message = `the pivot made no progress for too long: ${step.message}; it is tried again`;
  return { phase: "Failed", reason: Pivoting.reason, message, complete: false };
}

/** A person has asked for no pivot. There is no deadline: nothing is waited for but the person. */
function abortStep(pivot: PivotView | undefined): Step {
  if (pivot?.direction !== "abort" || pivot.state === "queued" || pivot.state === "running")
    return { reason: "Pivoting", message: "the move of the Cluster API objects is being undone" };
  if (pivot.problem !== undefined) return problemStep(pivot.problem, { ...PIVOT_REASONS, refused: "AbortRefused" });
  return ABORTED;
}

export const ABORTED: Step = {
  reason: "PivotAborted",
  message: "the pivot was aborted: the parent owns the Cluster API objects; lattice pivot resume starts another one",
};

/** When the move began that is not finished: of the written status, which survives restarts of the operator. */
export function pivotStartOf({ status }: LatticeCluster, pivot: PivotView | undefined): number | undefined {
  const written = status?.pivot;
  if (written?.startedAt !== undefined && written.finishedAt === undefined) return millisecondsOf(written.startedAt);
  return pivot?.startedAt;
}

/** No move is begun, or continued, without the agent. */
function awayStep({ agent, linkIsNew }: Pick<ObservedChild, "agent" | "linkIsNew">): Step | undefined {
  if (agent?.connected === true || linkIsNew) return undefined;
  const closed = agent?.lastCloseReason === undefined ? "" : `: ${agent.lastCloseReason}`;
  return { reason: "ChildUnreachable", message: `the Cluster API objects are moved when the agent of the cluster is connected${closed}` };
}

function stepOfMove(pivot: PivotView | undefined): Step {
  const step = pivot?.step === undefined ? "" : ` (${pivot.step})`;
  return { reason: "Pivoting", message: `the Cluster API objects are being moved to the cluster${step}` };
}

type ProblemReasons = Readonly<Record<PivotProblem["kind"], ClusterReason>>;

const PIVOT_REASONS: ProblemReasons = {
  refused: "PivotRefused",
  failed: "PivotFailed",
  unreachable: "ChildUnreachable",
  "has-children": "HasChildren",
  held: "PivotFailed",
};
const UNPIVOT_REASONS: ProblemReasons = { ...PIVOT_REASONS, refused: "UnpivotRefused", failed: "UnpivotFailed", held: "UnpivotFailed" };

function problemStep({ kind, message }: PivotProblem, reasons: ProblemReasons): Step {
  return { reason: reasons[kind], message };
}

/** Its agent is refused until the record is back, or the cluster was adopted again. A cluster that is being adopted has none yet. */
function accessStep(cluster: LatticeCluster, { access, agent, cell, ownership }: ObservedChild): Step | undefined {
  if (
    cell === undefined ||
    ownership !== "child" ||
    access !== undefined ||
    agent?.connected === true ||
    adoptedCluster(cluster) !== undefined
  )
    return undefined;
  const { name } = cluster.metadata;
  const message =
    `the cluster owns itself, and its agent is refused: Secret ${accessSecretOf(name)} in the operator's namespace is missing, or this release cannot read it; ` +
    `restore it from a backup. Without one, set spec.deletion.unpivot to false and delete this resource, which changes nothing in the cluster; then run ` +
    `lattice reparent ${name} with the kubeconfigs of ${name} and ${cell.name}`;
  return { reason: "AccessMissing", message };
}

/** The child owns itself. What its agent reports is all that the parent knows. */
export function selfOwnedState(cluster: LatticeCluster, observed: ObservedChild): ChildState {
  const { agent, linkIsNew } = observed;
  const { status } = cluster;
  const refused = observed.problem ?? accessStep(cluster, observed);
  if (refused !== undefined) return { ...OWNED, reason: refused.reason, message: refused.message };
  const wasConnected = isConditionTrue(status?.conditions, "AgentConnected");
  const written = status?.ownedBy === "self" && isConditionTrue(status.conditions, "Ready");
  if (agent?.connected !== true) {
    if (agent === undefined && linkIsNew && wasConnected && written) return SELF_MANAGED;
    const closed = agent?.lastCloseReason ?? status?.agent?.lastCloseReason;
    const why = closed === undefined ? "" : `: ${closed}`;
    return { ...OWNED, reason: "Disconnected", message: `the cluster owns itself; its agent is not connected${why}` };
  }
  const { health } = agent;
  // its first report comes shortly after its connection
  if (health === undefined && written) return SELF_MANAGED;
  const wasOwner = status?.ownedBy === "self" || adoptedCluster(cluster) !== undefined;
  if ((health?.ownershipEpoch ?? 0) === 0) return wasOwner ? { ...OWNED, ...UNREPORTED } : { ...OWNED, ...UNREPORTED, phase: "Pivoting" };
  if (health !== undefined && health.readyNodes < health.totalNodes) {
    return { ...OWNED, reason: "NodesNotReady", message: `${health.readyNodes} of ${health.totalNodes} nodes are ready` };
  }
  return SELF_MANAGED;
}

const OWNED = { phase: "Ready", complete: false } as const;
const UNREPORTED = {
  reason: "WaitingForOwner",
  message: "the Cluster API objects are in the cluster; its agent has not reported yet that it owns them",
} as const;
const SELF_MANAGED: ChildState = { ...OWNED, reason: "SelfManaged", message: "the cluster owns itself", complete: true };

/** How a child is deleted. "release": it continues without a parent. */
export type ChildDeletion = "own" | "unpivot" | "release";

export function childDeletionOf(cluster: LatticeCluster, { ownership }: Pick<ObservedChild, "ownership">): ChildDeletion {
  if (cluster.metadata.annotations?.[DELETION_ANNOTATION] !== undefined || ownership === "parent") return "own";
  if (ownership === "moving") return "unpivot";
  return isReleased(cluster) ? "release" : "unpivot";
}

function isReleased({ spec }: LatticeCluster): boolean {
  return fieldAt(spec, "deletion", "unpivot") === false;
}

export function unpivotingState(cluster: LatticeCluster, observed: ObservedChild): ChildState & { readonly late: boolean } {
  const { cell, problem, now } = observed;
  const step =
    cell === undefined && problem !== undefined
      ? cellStep(problem)
      : (accessStep(cluster, observed) ?? awayStep(observed) ?? unpivotStep(cluster, observed.pivot));
  const { deletionTimestamp } = cluster.metadata;
  const since = deletionTimestamp === undefined ? now : millisecondsOf(deletionTimestamp);
  const isLate = now >= since + timeoutOf(cluster);
  if (!isLate) {
    const message = step.reason === "NotACell" ? `${step.message}; or ${RELEASE}` : step.message;
    return { phase: "Unpivoting", reason: step.reason, message, complete: false, late: false };
  }
  const { reason } = PHASE_DEADLINES.Unpivoting;
  const help = observed.ownership === "moving" ? helpWhileMoving(cluster) : `remove the cause, or ${RELEASE}`;
  const message = `the Cluster API objects could not be taken back in time: ${step.message}; ${help}`;
  return { phase: "Unpivoting", reason, message, complete: false, late: true };
}

const RELEASE = "set spec.deletion.unpivot to false: the cluster is then released, and its machines stay";
/** Which side owns is decided by both: without the child, a release could leave none, or two. */
function helpWhileMoving(cluster: LatticeCluster): string {
  return isReleased(cluster)
    ? "the cluster is released when its agent has connected; remove the cause, or set spec.deletion.unpivot to true: the machines are then deleted"
    : "a move has begun, and its end needs the agent of the cluster: remove the cause; spec.deletion.unpivot: false takes effect only then";
}

/** Why there is no cell. */
function cellStep({ reason, message }: ClusterProblem): Step {
  const what = "the cluster is being deleted, and its Cluster API objects are taken back first, by a cell";
  return { reason, message: reason === "NotACell" ? `${what}; ${message}` : message };
}

function unpivotStep(cluster: LatticeCluster, pivot: PivotView | undefined): Step {
  if (pivot?.problem !== undefined) return problemStep(pivot.problem, UNPIVOT_REASONS);
  const step = pivot?.step === undefined ? "" : ` (${pivot.step})`;
  if (isReleased(cluster))
    return { reason: "Unpivoting", message: `the cluster is released: what is moving of its Cluster API objects goes back to it${step}` };
  return { reason: "Unpivoting", message: `the Cluster API objects are being taken back from the cluster${step}` };
}

function timeoutOf({ spec }: LatticeCluster): number {
  const timeout = spec.deletion?.timeout === undefined ? undefined : parseDuration(spec.deletion.timeout);
  return timeout?.ok === true ? timeout.value : PHASE_DEADLINES.Unpivoting.ms;
}

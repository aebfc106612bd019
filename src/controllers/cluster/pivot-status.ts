/** `status.pivot` of a child, and the conditions Pivoting and SpecIgnored. Pure. */
import type { LatticeCluster, LatticeClusterStatus } from "#crds";
import { findCondition, isBeingDeleted, type NewCondition } from "#kube";
import { timeText } from "./agent-status.ts";
import type { ChildState } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { pivotRequestId, pivotRequestOf } from "./pivot-request.ts";
import { ABORTED, pivotStartOf } from "./pivot-state.ts";
import type { ClusterReason } from "./reasons.ts";
import { MIRROR_ANNOTATION, specMirrorOf } from "./spec-mirror.ts";

type PivotStatus = NonNullable<LatticeClusterStatus["pivot"]>;

/** Undefined: what was written stays. */
export function pivotStatusOf(
  cluster: LatticeCluster,
  observed: ObservedChild,
  { phase }: Pick<ChildState, "phase">,
): PivotStatus | undefined {
  const progress = progressOf(cluster, observed);
  const written = cluster.status?.pivot;
  const request = answeredRequest(cluster, observed, phase) ?? written?.request;
  if (request === undefined || (progress === undefined && request === written?.request)) return progress;
  return { ...(progress ?? written), request };
}

/** The id of the request that condition Pivoting answers. */
function answeredRequest(cluster: LatticeCluster, { pivot, ownership }: ObservedChild, phase: ChildState["phase"]): string | undefined {
  const id = pivotRequestId(cluster);
  if (id === undefined || ownership === "child" || (ownership === "parent" && phase !== "Pivoting")) return id;
  // the pass that reads the request begins the move, or the abort; the next one sees it
  if (pivotRequestOf(cluster) === "run") return pivot?.direction === "to-child" ? id : undefined;
  const hasEnded = pivot?.direction === "abort" && (pivot.state === "done" || pivot.state === "waiting");
  return hasEnded && pivot.request === id ? id : undefined;
}

function progressOf(cluster: LatticeCluster, { pivot, ownership, agent, now }: ObservedChild): PivotStatus | undefined {
  const written = cluster.status?.pivot;
  if (pivot === undefined) {
    // the operator ended before it wrote that the move had
    const isUnnoted =
      ownership === "child" && written?.startedAt !== undefined && written.finishedAt === undefined && !isBeingDeleted(cluster);
    if (!isUnnoted) return undefined;
    const epoch = agent?.health?.ownershipEpoch ?? written.epoch;
    return { ...written, step: "done", finishedAt: timeText(now), ...(epoch === undefined ? {} : { epoch }) };
  }
  const { step, moved, total, finishedAt, epoch, report, problem } = pivot;
  const text = problem?.message ?? report;
  return {
    ...(step === undefined ? {} : { step }),
    ...(moved === undefined ? {} : { moved }),
    ...(total === undefined ? {} : { total }),
    startedAt: timeText(pivotStartOf(cluster, pivot) ?? pivot.startedAt),
    ...(finishedAt === undefined ? {} : { finishedAt: timeText(finishedAt) }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(text === undefined ? {} : { report: text }),
  };
}

/** None before the first attempt. */
export function pivotingCondition(
  cluster: LatticeCluster,
  { ownership, pivot }: ObservedChild,
  state: ChildState,
): readonly NewCondition[] {
  const type = "Pivoting";
  const { reason, message } = state;
  if (isBeingDeleted(cluster)) {
    if (state.phase !== "Unpivoting") return [];
    return [{ type, status: reason === "Unpivoting" ? "True" : "False", reason, message }];
  }
  if (ownership === "child") return [condition(type, "False", "Pivoted", "the cluster owns its Cluster API objects")];
  if (ownership === "parent" && pivotRequestOf(cluster) === "abort" && state.phase !== "Pivoting")
    return [{ type, status: "False", ...ABORTED }];
  if (state.phase === "Pivoting") return [{ type, status: reason === "Pivoting" ? "True" : "False", reason, message }];
  const isFirst = pivot === undefined && findCondition(cluster.status?.conditions, type) === undefined;
  return isFirst && ownership === "parent" ? [] : [{ type, status: "False", reason, message }];
}

export function specIgnoredCondition(cluster: LatticeCluster, { ownership, agent }: ObservedChild): NewCondition {
  const type = "SpecIgnored";
  if (ownership === "parent") return condition(type, "False", "SpecApplied", "the parent owns the cluster, and applies this spec");
  const { name } = cluster.metadata;
  if (ownership === "moving") return condition(type, "False", "SpecMirrored", "the Cluster API objects are being moved");
  if (specMirrorOf(cluster, agent?.health?.specDigest) !== "edited") {
    return condition(type, "False", "SpecMirrored", "this spec is a copy of the cluster's own, which is the one that counts");
  }
  const message =
    `the cluster owns itself, so this spec is not applied; make the change in the cluster: kubectl edit latticecluster ${name}, with its own kubeconfig. ` +
    `To discard it here: kubectl annotate latticecluster ${name} ${MIRROR_ANNOTATION}-`;
  return condition(type, "True", "SpecEdited", message);
}

function condition(type: string, status: NewCondition["status"], reason: ClusterReason, message: string): NewCondition {
  return { type, status, reason, message };
}

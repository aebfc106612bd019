/** The phase of the operator's own cluster, with the reason and the sentence for its user. Pure. */
import { millisecondsOf } from "#base";
import type { LatticeCluster } from "#crds";
import { isBeingDeleted } from "#kube";
import { describeErrors } from "../acceptance/conditions.ts";
import type { ClusterPhase } from "./child-state.ts";
import type { ClusterProblem, ObservedOwn } from "./observed.ts";

export type OwnState = {
  readonly phase: ClusterPhase;
  readonly reason: ClusterProblem["reason"];
  readonly message: string;
  readonly ready: boolean;
  /** It is being deleted, and nothing prevents that. */
  readonly mayDelete?: true;
};

export function ownStateOf(cluster: LatticeCluster, observed: ObservedOwn): OwnState {
  const { errors, cellProblem, parent, management } = observed;
  if (isBeingDeleted(cluster)) return deletionState(cluster, observed);
  if (management.state === "moving") return movingState(management.direction);
  if (errors.length > 0) return { phase: "Failed", reason: "InvalidSpec", message: describeErrors(errors), ready: false };
  const { cellRef } = cluster.spec;
  if (cellRef !== undefined && parent !== undefined && cellRef !== parent) {
    const message = `spec.cellRef is ${cellRef}, and Secret lattice-parent-config names ${parent}; the Secret is what the agent uses, so set spec.cellRef to ${parent}`;
    return { phase: "Ready", reason: "ParentDisagrees", message, ready: false };
  }
  if (cellProblem !== undefined) return { phase: "Ready", ...cellProblem, ready: false };
  if (management.state === "owner" && "reason" in management.objects) return { phase: "Ready", ...management.objects, ready: false };
  return nodesState(observed);
}

/** An upgrade replaces nodes one at a time, so some are missing for a while. */
function nodesState({ nodes: { ready, total }, management }: ObservedOwn): OwnState {
  const upgrade = management.state === "owner" && "all" in management.objects ? management.objects.upgrade : undefined;
  const isComplete = total > 0 && ready === total;
  const nodes =
    total === 0 ? "the cluster has no nodes" : isComplete ? `all ${total} nodes are ready` : `${ready} of ${total} nodes are ready`;
  if (upgrade !== undefined) return { phase: "Ready", reason: "Upgrading", message: `${upgrade}; ${nodes}`, ready: isComplete };
  return { phase: "Ready", reason: isComplete ? "SelfManaged" : "NodesNotReady", message: nodes, ready: isComplete };
}

function movingState(direction: "in" | "out"): OwnState {
  const [phase, what] =
    direction === "in"
      ? (["Pivoting", "the Cluster API objects of this cluster are arriving from its parent"] as const)
      : (["Unpivoting", "the Cluster API objects of this cluster are being moved away"] as const);
  return { phase, reason: "ObjectsMoving", message: `${what}; none is applied until that has ended`, ready: false };
}

/** How long a parent that is not connected may take to return before its child is deleted without it: from the deletion, or from the last connection. */
const ORPHAN_AFTER_MS = 300_000;

/**
 * Children first: they are reached through this cluster. A cluster that owns itself is deleted on its parent, which takes the objects back first. Without
 * one it deletes its own machines, and itself with them.
 */
function deletionState({ metadata: { name, deletionTimestamp } }: LatticeCluster, observed: ObservedOwn): OwnState {
  const { management, capi, children, hasParent, parent = "its parent", uplink, parentAwayMs = 0, now } = observed;
  const deleting = (message: string, more: Partial<OwnState> = {}): OwnState => ({
    phase: "Deleting",
    reason: "Deleting",
    message,
    ready: false,
    ...more,
  });
  if (management.state === "moving") return movingState(management.direction);
  if (children.length > 0)
    return deleting(`the cluster is the parent of ${namesOf(children)}; delete them first, or give them another parent`, {
      reason: "HasChildren",
    });
  if (management.state === "never-moved") {
    if (!capi.exists) return deleting("the resource is being deleted; the cluster stays", { mayDelete: true });
    return deleting("this is the cluster's own resource, and its Cluster API objects are in it; a cluster is deleted on its parent");
  }
  if (hasParent && uplink?.connected === true)
    return deleting(
      `a cluster with a parent is deleted there: on ${parent}, run: kubectl delete latticecluster ${name}; when ${parent} is not connected for 5 minutes, this cluster deletes its machines itself`,
    );
  const deletedAt = deletionTimestamp === undefined ? now : millisecondsOf(deletionTimestamp);
  // the time of the deletion is of the wall clock, which may step: alone it allows nothing
  const isOrphan = parentAwayMs >= ORPHAN_AFTER_MS && now - deletedAt >= ORPHAN_AFTER_MS;
  if (hasParent && !isOrphan)
    return deleting(`${parent} is not connected; the cluster and its machines are deleted from here when that has lasted for 5 minutes`);
  return deleting("the cluster deletes its machines, and itself with them", { mayDelete: true });
}

/** A cell may have thousands. */
const MOST_NAMED = 10;

export function namesOf(children: readonly string[]): string {
  const more = children.length - MOST_NAMED;
  return `${children.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The phase of the operator's own cluster, with the reason and the sentence for its user. Pure. */
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
};

export function ownStateOf(cluster: LatticeCluster, observed: ObservedOwn): OwnState {
  const { errors, nodes, cellProblem, parent } = observed;
  if (isBeingDeleted(cluster))
    return { phase: "Deleting", reason: "Deleting", message: "the resource is being deleted; the cluster stays", ready: false };
  if (errors.length > 0) return { phase: "Failed", reason: "InvalidSpec", message: describeErrors(errors), ready: false };
  const { cellRef } = cluster.spec;
  if (cellRef !== undefined && parent !== undefined && cellRef !== parent) {
    const message = `spec.cellRef is ${cellRef}, and Secret lattice-parent-config names ${parent}; the Secret is what the agent uses, so set spec.cellRef to ${parent}`;
    return { phase: "Ready", reason: "ParentDisagrees", message, ready: false };
  }
  if (cellProblem !== undefined) return { phase: "Ready", ...cellProblem, ready: false };
  const { ready, total } = nodes;
  if (total === 0 || ready < total) {
    const message = total === 0 ? "the cluster has no nodes" : `${ready} of ${total} nodes are ready`;
    return { phase: "Ready", reason: "NodesNotReady", message, ready: false };
  }
  return { phase: "Ready", reason: "SelfManaged", message: `all ${total} nodes are ready`, ready: true };
}

/**
 * The phase of a child, with the reason and the sentence for its user. Pure.
 *
 * The phase is derived from observations in every pass. Only two things are taken from the written status: when the phase began, for its
 * deadline, and whether the child was complete before, because such a child does not run into a deadline when its agent is away.
 */
import { millisecondsOf } from "#base";
import type { LatticeCluster } from "#crds";
import { findCondition, isBeingDeleted, isConditionTrue, type Condition } from "#kube";
import { deadlineAt, PHASE_DEADLINES } from "./deadlines.ts";
import type { ClusterProblem, ObservedChild } from "./observed.ts";
import { declaredPools } from "./pools.ts";
import { childDeletionOf, pivotingState, selfOwnedState, unpivotingState } from "./pivot-state.ts";
import type { ClusterReason } from "./reasons.ts";

export type ClusterPhase = NonNullable<NonNullable<LatticeCluster["status"]>["phase"]>;

export type ChildState = {
  readonly phase: ClusterPhase;
  readonly reason: ClusterProblem["reason"];
  readonly message: string;
  /** When the phase ends in Failed, in milliseconds. */
  readonly deadline?: number | undefined;
  /** At rest: the cluster owns itself, and nothing is missing. */
  readonly complete: boolean;
};

export function childStateOf(cluster: LatticeCluster, observed: ObservedChild): ChildState {
  const { problem, ownership, cell } = observed;
  if (isBeingDeleted(cluster)) {
    if (childDeletionOf(cluster, observed) === "unpivot") return unpivotingState(cluster, observed);
    return { phase: "Deleting", reason: "Deleting", message: "the cluster is being deleted", complete: false };
  }
  // which side owns a child is not known while the cell starts
  if (problem !== undefined && (ownership === "parent" || cell === undefined)) return stateOfProblem(problem, cluster, observed);
  if (ownership === "child") return selfOwnedState(cluster, observed);
  if (ownership === "moving") return pivotingState(cluster, observed);
  const step = stepOf(cluster, observed);
  if (step === undefined) return pivotingState(cluster, observed);
  if (wasProvisioned(cluster)) return { phase: "Provisioning", ...step, complete: false };
  return provisioningState(cluster, observed, step);
}

/** A cluster that exists stays where it is: a mistake in its spec does not stop its machines. */
function stateOfProblem(problem: ClusterProblem, cluster: LatticeCluster, { capi, now }: ObservedChild): ChildState {
  const { reason, message, terminal } = problem;
  if (capi.exists) return { phase: "Provisioning", reason, message, complete: false };
  const { phase } = cluster.status ?? {};
  if (wasProvisioned(cluster) && (phase === "Pivoting" || phase === "Ready")) return { phase, reason, message, complete: false };
  if (terminal) return { phase: "Failed", reason, message, complete: false };
  const before = provisioningCondition(cluster);
  const since = before?.status === "False" ? millisecondsOf(before.lastTransitionTime) : now;
  const deadline = deadlineAt(PHASE_DEADLINES.Pending, { since });
  if (now < deadline) return { phase: "Pending", reason, message, deadline, complete: false };
  const { reason: timedOut } = PHASE_DEADLINES.Pending;
  return { phase: "Failed", reason: timedOut, message: `waited too long: ${message}`, complete: false };
}

type Step = { readonly reason: ClusterReason; readonly message: string };

function provisioningState(cluster: LatticeCluster, { capi, agent, now }: ObservedChild, step: Step): ChildState {
  const { Provisioning } = PHASE_DEADLINES;
  const before = provisioningCondition(cluster);
  const changedAt = before === undefined ? now : millisecondsOf(before.lastTransitionTime);
  const failedBefore = before?.reason === Provisioning.reason;
  const progressed = agent?.connected === true || (capi.progressAt ?? 0) > changedAt;
  const stays = failedBefore && before.observedGeneration === cluster.metadata.generation && !progressed;
  const since = before?.status === "True" ? changedAt : now;
  const deadline = deadlineAt(Provisioning, { since, progressAt: capi.progressAt });
  if (!stays && now < deadline) return { phase: "Provisioning", ...step, deadline, complete: false };
  const message = `provisioning made no progress for too long: ${step.message}${failedText(capi.failedMachines)}; change the spec to try again`;
  return { phase: "Failed", reason: Provisioning.reason, message, complete: false };
}

function failedText(machines: readonly string[]): string {
  return machines.length === 0
    ? ""
    : `; failed: ${machines
        .slice(0, 3)
        .map((name) => `Machine ${name}`)
        .join(", ")}`;
}

/** The first thing that a complete child still lacks. Cluster API sees the control plane through the agent, so the agent comes first. */
function stepOf({ spec: { nodes }, ...cluster }: LatticeCluster, observed: ObservedChild): Step | undefined {
  const { capi } = observed;
  if (!capi.exists) return { reason: "Created", message: "the Cluster API objects are being created" };
  if (capi.infrastructure?.available !== true) return waitingFor("WaitingForInfrastructure", "the infrastructure", capi.infrastructure);
  if (!isConnected(cluster, observed)) return agentStep(cluster, nodes.controlPlane, observed);
  if (capi.controlPlane?.available !== true) return waitingFor("WaitingForControlPlane", "the control plane", capi.controlPlane);
  const hasWorkers = [...declaredPools({ nodes }).values()].some((count) => count > 0);
  if (hasWorkers && capi.workers?.available !== true) return waitingFor("WaitingForWorkers", "the workers", capi.workers);
  return undefined;
}

/** An agent that was connected before the cell started again has a while to return: until then nothing is written about it. */
function isConnected({ status }: Pick<LatticeCluster, "status">, { agent, linkIsNew }: ObservedChild): boolean {
  return agent?.connected ?? (linkIsNew && isConditionTrue(status?.conditions, "AgentConnected"));
}

function agentStep(
  { status }: Pick<LatticeCluster, "status">,
  controlPlane: number,
  { capi, agent, access }: Pick<ObservedChild, "capi" | "agent" | "access">,
): Step {
  const closed = agent?.lastCloseReason ?? status?.agent?.lastCloseReason;
  if (status?.agent?.connectedSince !== undefined || closed !== undefined) {
    return { reason: "Disconnected", message: `the agent is not connected${closed === undefined ? "" : `: ${closed}`}` };
  }
  const report = access?.lastReport;
  const failedStep = report === undefined ? "" : `; node ${report.node} reported a failed step: ${report.step}: ${report.message}`;
  if (access?.spent === true)
    return { reason: "WaitingForAgent", message: `the cluster has registered; its agent has not connected yet${failedStep}` };
  if (capi.machines > 0) return { reason: "WaitingForAgent", message: `machines exist; none has registered the cluster yet${failedStep}` };
  return { reason: "WaitingForControlPlane", message: `none of ${controlPlane} machines of the control plane exists yet` };
}

function waitingFor(reason: ClusterReason, what: string, report: { readonly message: string } | undefined): Step {
  const reported = report === undefined || report.message === "" ? "" : `: ${report.message}`;
  return { reason, message: `waiting for ${what}${reported}` };
}

/** Its condition says so since the first time that everything was available. */
export function wasProvisioned(cluster: LatticeCluster): boolean {
  return provisioningCondition(cluster)?.reason === "Provisioned";
}

function provisioningCondition({ status }: LatticeCluster): Condition | undefined {
  return findCondition(status?.conditions, "Provisioning");
}

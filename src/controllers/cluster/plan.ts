/** What a pass over a LatticeCluster applies and does. Pure. */
import { ok, parseDuration, sha256Hex, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import {
  nothing,
  stalled,
  waiting,
  type DeletionOrder,
  type Plan,
  type PlanError,
  type ReconcileOutcome,
  type WantedObject,
} from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { isBeingDeleted } from "#kube";
import { mayOwnItself } from "./child-ownership.ts";
import { childStateOf, type ChildState } from "./child-state.ts";
import type { ClusterCommand } from "./commands.ts";
import type { ObservedChild, ObservedCluster, ObservedOwn } from "./observed.ts";
import { childKinds } from "./owned-kinds.ts";
import { ownStateOf } from "./own-state.ts";
import { childDeletionOf, DELETION_ANNOTATION, unpivotingState } from "./pivot-state.ts";
import { pivotRequestOf } from "./pivot-request.ts";
import { specMirrorOf } from "./spec-mirror.ts";

export type ClusterPlan = Plan<ClusterCommand>;

/** Everything that a child waits for is watched; this is for an event that was missed. */
const RECHECK_MS = 60_000;
/** The cell's listeners are no objects that could be watched. A child that runs is not waited for: its agent causes the next pass when it returns. */
const CELL_RECHECK_MS = 2_000;
/** Of a child that owns itself. Nothing but the time of its last heartbeat is written then, so that it is also the interval of those writes. */
const REST_RECHECK_MS = 300_000;
/** A second pass so soon after the first would see the same heartbeat. */
const LEAST_RECHECK_MS = 1_000;
/** The expiry of the bootstrap token follows the deadline; smaller steps are not worth a write. */
const EXTEND_BY_MS = 60_000;
/** The mark itself causes the next pass. */
const MARK_RECHECK_MS = 5_000;

const PRUNED_KINDS: ReadonlySet<string> = new Set(childKinds.map(({ kind }) => kind));

export function planCluster(cluster: LatticeCluster, observed: ObservedCluster): Result<ClusterPlan, PlanError> {
  if (observed.kind === "own") return isBeingDeleted(cluster) ? ok(ownDeletion(cluster, observed)) : ok(ownPlan(cluster, observed));
  return ok(isBeingDeleted(cluster) ? deletionPlan(cluster, observed) : childPlan(cluster, observed));
}

function ownPlan(cluster: LatticeCluster, observed: ObservedOwn): ClusterPlan {
  const { management } = observed;
  const { reason, message, ready } = ownStateOf(cluster, observed);
  const waits = reason === "NodesNotReady" || reason === "Upgrading" || reason === "ObjectsMoving";
  const outcome = waits ? waiting(reason, RECHECK_MS, message) : stalled(reason, message, RECHECK_MS);
  const ends = ready ? {} : { outcome };
  if (management.state !== "owner") return { apply: [], commands: [], ...ends };
  const { objects, kubeconfig } = management;
  const { name } = cluster.metadata;
  // without it Cluster API cannot reach this cluster: it does not wait for objects that cannot be applied
  const credential: readonly ClusterCommand[] =
    kubeconfig === undefined ? [] : [{ kind: "write-own-kubeconfig", cluster: name, server: kubeconfig }];
  const commands = [...credential, ...resumption(cluster, management)];
  if ("reason" in objects) return { apply: [], commands, ...ends };
  const prune = { kinds: PRUNED_KINDS, keep: objects.usedTemplates };
  return { apply: wavesOfKinds(objects.all), prune, commands, commandsAnyway: true, ...ends };
}

/** The mover that has brought the Cluster unpauses it, too; it may be gone. */
function resumption(
  { metadata: { name } }: LatticeCluster,
  { resume }: { readonly resume?: string | undefined },
): readonly ClusterCommand[] {
  return resume === undefined ? [] : [{ kind: "resume-own", cluster: name }];
}

/** A cluster that owns itself deletes its machines only without a parent; see `ownStateOf`. Any other loses only its resource. */
function ownDeletion(cluster: LatticeCluster, observed: ObservedOwn): ClusterPlan {
  const { reason, message, mayDelete = false } = ownStateOf(cluster, observed);
  const { management } = observed;
  const commands = management.state === "owner" ? resumption(cluster, management) : [];
  if (!mayDelete) return { apply: [], commands, outcome: stalled(reason, message, RECHECK_MS) };
  if (management.state !== "owner") return nothing.value;
  // Cluster API does not delete the machines of a paused Cluster
  if (commands.length > 0) return { apply: [], commands, outcome: waiting(reason, MARK_RECHECK_MS, message) };
  return { apply: [], deletes: deletionOrder(cluster), commands: [] };
}

function deletionPlan(cluster: LatticeCluster, observed: ObservedChild): ClusterPlan {
  const { problem } = observed;
  // its records say whether the child has registered: without them one that owns itself would be taken for one that was never made
  if (problem?.reason === "CellStarting")
    return { apply: [], commands: [], outcome: waiting(problem.reason, CELL_RECHECK_MS, problem.message) };
  const how = childDeletionOf(cluster, observed);
  if (how === "unpivot") return unpivotPlan(cluster, observed);
  // Cluster API does not delete the machines of a paused Cluster
  if (observed.resume !== undefined) return { apply: [], commands: resumption(cluster, observed), again: true };
  const isMarked = cluster.metadata.annotations?.[DELETION_ANNOTATION] !== undefined;
  if (how === "release" || isMarked || !mayOwnItself(cluster, observed.access)) return childDeletion(cluster);
  // before the Cluster is deleted: without it, a child that may own itself would be taken for one that does
  const command = { kind: "mark-deletion", cluster: cluster.metadata.name } as const;
  return { apply: [], commands: [command], outcome: waiting("Deleting", MARK_RECHECK_MS, "the cluster is being deleted") };
}

/** Cluster API on this side needs its kubeconfig, which is not moved. */
function unpivotPlan(cluster: LatticeCluster, observed: ObservedChild): ClusterPlan {
  const state = unpivotingState(cluster, observed);
  const { reason, message } = state;
  const { name } = cluster.metadata;
  const { cell, now } = observed;
  const outcome = state.late ? stalled(reason, message, RECHECK_MS) : waiting(reason, pivotRecheck(observed, now), message);
  if (reason === "CellStarting") return { apply: [], commands: [], outcome: waiting(reason, CELL_RECHECK_MS, message) };
  // a kubeconfig is issued by the access record
  if (cell === undefined || observed.access === undefined) return { apply: [], commands: [], outcome };
  const namespace = capiNamespace(name);
  if (!observed.hasNamespace) return { apply: [], commands: [{ kind: "create-namespace", namespace, cluster: name }], again: true };
  const place = { name, namespace, cell };
  if (!observed.hasKubeconfig) return { apply: [], commands: [{ kind: "write-kubeconfig", place }], again: true };
  return { apply: [], commands: isReachable(observed) ? [{ kind: "start-unpivot", cluster }] : [], outcome };
}

function pivotRecheck({ pivot }: ObservedChild, now: number): number {
  return pivot?.retryAt === undefined ? RECHECK_MS : Math.min(Math.max(pivot.retryAt - now, LEAST_RECHECK_MS), RECHECK_MS);
}

/** The Cluster first: it needs its infrastructure, and the agent's tunnel, until its own finalizer is removed. */
function deletionOrder({ spec }: LatticeCluster): DeletionOrder {
  const timeout = spec.deletion?.timeout === undefined ? undefined : parseDuration(spec.deletion.timeout);
  return { order: [["Cluster"]], ...(timeout?.ok === true ? { stuckAfterMs: timeout.value } : {}) };
}

function childDeletion(cluster: LatticeCluster): ClusterPlan {
  const { name } = cluster.metadata;
  return {
    apply: [],
    deletes: deletionOrder(cluster),
    commands: [
      { kind: "remove-access", cluster: name },
      { kind: "delete-namespace", namespace: capiNamespace(name), cluster: name },
    ],
  };
}

function childPlan(cluster: LatticeCluster, observed: ObservedChild): ClusterPlan {
  const state = childStateOf(cluster, observed);
  const { objects, cell } = observed;
  const outcome = outcomeOf(cluster, state, observed);
  const isDriven = state.phase === "Provisioning" || state.phase === "Pivoting" || state.reason === "PivotTimedOut";
  if (cell !== undefined && observed.ownership !== "parent") return { apply: [], commands: ownedCommands(cluster, observed), outcome };
  if (!isDriven || objects === undefined || cell === undefined) return { apply: [], commands: [], outcome };
  const { name } = cluster.metadata;
  const claim: readonly ClusterCommand[] =
    cluster.spec.cellRef === undefined ? [{ kind: "set-cell-ref", cluster: name, cell: cell.name }] : [];
  if (!observed.hasNamespace) {
    return { apply: [], commands: [{ kind: "create-namespace", namespace: objects.namespace, cluster: name }], again: true };
  }
  if (!observed.hasToken || !observed.hasKubeconfig) {
    // only a child that is being provisioned may register
    const expiresAt = state.phase === "Provisioning" ? (state.deadline ?? observed.now) : observed.now;
    const place = { name, namespace: objects.namespace, cell };
    return { apply: wavesOfKinds(objects.first), prune: false, commands: [{ kind: "write-secrets", place, expiresAt }], again: true };
  }
  return {
    apply: wavesOfKinds([...objects.first, ...objects.rest]),
    prune: { kinds: PRUNED_KINDS, keep: objects.usedTemplates },
    commands: [
      ...claim,
      ...extension(name, state, observed),
      ...(isComplete(state) && isReachable(observed) ? [startPivot(cluster, cell.name)] : []),
    ],
    outcome,
  };
}

/** The parent owns the objects of a complete child only until it has moved them. */
function isComplete({ phase, reason }: ChildState): boolean {
  return phase === "Pivoting" || reason === "PivotTimedOut";
}

function startPivot(cluster: LatticeCluster, cellRef: string): ClusterCommand {
  // the copy names its parent, also when this pass has just set it here
  const spec = { ...cluster.spec, cellRef: cellRef as LatticeCluster["spec"]["cellRef"] } as LatticeCluster["spec"];
  return { kind: pivotRequestOf(cluster) === "abort" ? "abort-pivot" : "start-pivot", cluster: { ...cluster, spec } };
}

/** Its agent causes the next pass when it connects. */
function isReachable({ agent }: ObservedChild): boolean {
  return agent?.connected === true;
}

function ownedCommands(cluster: LatticeCluster, observed: ObservedChild): readonly ClusterCommand[] {
  const { ownership, agent, cell } = observed;
  if (ownership === "moving") {
    // a move needs the agent; without it, a person who asks for an abort is answered with the reason why it cannot be made
    const isSent = isReachable(observed) || pivotRequestOf(cluster) === "abort";
    return cell === undefined || !isSent ? [] : [startPivot(cluster, cell.name)];
  }
  const reported = agent?.connected === true ? agent.health?.specDigest : undefined;
  if (reported === undefined || specMirrorOf(cluster, reported) !== "outdated") return [];
  return [{ kind: "mirror-spec", cluster: cluster.metadata.name }];
}

function extension(cluster: string, { phase, deadline }: ChildState, { access }: ObservedChild): readonly ClusterCommand[] {
  if (phase !== "Provisioning" || deadline === undefined || access === undefined || access.spent) return [];
  return deadline - access.expiresAt < EXTEND_BY_MS ? [] : [{ kind: "extend-access", cluster, expiresAt: deadline }];
}

function outcomeOf(
  { metadata: { name } }: LatticeCluster,
  { phase, reason, message, deadline, complete }: ChildState,
  observed: ObservedChild,
): ReconcileOutcome {
  const { now, problem, capi, ownership } = observed;
  if (phase === "Failed")
    return reason === "PivotTimedOut" ? stalled(reason, message, pivotRecheck(observed, now)) : stalled(reason, message);
  if (phase === "Pivoting" && problem === undefined) {
    return reason === "PivotRefused"
      ? stalled(reason, message, pivotRecheck(observed, now))
      : waiting(reason, pivotRecheck(observed, now), message);
  }
  // a child that owns itself: its agent causes the next pass
  if (complete || (ownership === "child" && problem === undefined)) return waiting(reason, restRecheck(name, now), message);
  if (reason === "CellStarting") return waiting(reason, capi.exists ? RECHECK_MS : CELL_RECHECK_MS, message);
  const left = deadline === undefined ? RECHECK_MS : Math.max(deadline - now, 1_000);
  const afterMs = Math.min(left, RECHECK_MS);
  return problem === undefined ? waiting(reason, afterMs, message) : stalled(reason, message, afterMs);
}

/**
 * Until the next time of this child: every child has one of its own in the interval, by its name. Thousands of agents return within seconds after a restart
 * of their cell, and passes at a fixed distance from that would come together again and again.
 */
function restRecheck(name: string, now: number): number {
  const own = Number.parseInt(sha256Hex(name).slice(0, 8), 16) % REST_RECHECK_MS;
  const left = (((own - now) % REST_RECHECK_MS) + REST_RECHECK_MS) % REST_RECHECK_MS;
  return left < LEAST_RECHECK_MS ? left + REST_RECHECK_MS : left;
}

/** The compiler's order, with neighbours of one kind in one wave. */
function wavesOfKinds(objects: readonly WantedObject[]): readonly (readonly WantedObject[])[] {
  const waves: WantedObject[][] = [];
  let last: string | undefined;
  for (const wanted of objects) {
    const { kind } = "once" in wanted ? wanted.object : wanted;
    if (kind === last) waves.at(-1)?.push(wanted);
    else waves.push([wanted]);
    last = kind;
  }
  return waves;
}

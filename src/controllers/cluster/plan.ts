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
import { childStateOf, type ChildState } from "./child-state.ts";
import type { ClusterCommand } from "./commands.ts";
import type { ObservedChild, ObservedCluster, ObservedOwn } from "./observed.ts";
import { childKinds } from "./owned-kinds.ts";
import { ownStateOf } from "./own-state.ts";

export type ClusterPlan = Plan<ClusterCommand>;

/** Everything that a child waits for is watched; this is for an event that was missed. */
const RECHECK_MS = 60_000;
/** The cell's listeners are no objects that could be watched. A child that runs is not waited for: its agent causes the next pass when it returns. */
const CELL_RECHECK_MS = 2_000;
/** Of a complete child. Nothing but the time of its last heartbeat is written then, so that it is also the interval of those writes. */
const REST_RECHECK_MS = 300_000;
/** A second pass so soon after the first would see the same heartbeat. */
const LEAST_RECHECK_MS = 1_000;
/** The expiry of the bootstrap token follows the deadline; smaller steps are not worth a write. */
const EXTEND_BY_MS = 60_000;

const PRUNED_KINDS: ReadonlySet<string> = new Set(childKinds.map(({ kind }) => kind));

export function planCluster(cluster: LatticeCluster, observed: ObservedCluster): Result<ClusterPlan, PlanError> {
  if (observed.kind === "own") return isBeingDeleted(cluster) ? ok(ownDeletion(cluster, observed)) : ok(ownPlan(cluster, observed));
  return ok(isBeingDeleted(cluster) ? childDeletion(cluster) : childPlan(cluster, observed));
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
  const commands: readonly ClusterCommand[] =
    kubeconfig === undefined ? [] : [{ kind: "write-own-kubeconfig", cluster: name, server: kubeconfig }];
  if ("reason" in objects) return { apply: [], commands, ...ends };
  const prune = { kinds: PRUNED_KINDS, keep: objects.usedTemplates };
  return { apply: wavesOfKinds(objects.all), prune, commands, commandsAnyway: true, ...ends };
}

/** A cluster that owns itself deletes its machines only without a parent; see `ownStateOf`. Any other loses only its resource. */
function ownDeletion(cluster: LatticeCluster, observed: ObservedOwn): ClusterPlan {
  const { reason, message, mayDelete = false } = ownStateOf(cluster, observed);
  if (!mayDelete) return { apply: [], commands: [], outcome: stalled(reason, message, RECHECK_MS) };
  if (observed.management.state !== "owner") return nothing.value;
  return { apply: [], deletes: deletionOrder(cluster), commands: [] };
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
  if (state.phase !== "Provisioning" || objects === undefined || cell === undefined) return { apply: [], commands: [], outcome };
  const { name } = cluster.metadata;
  const claim: readonly ClusterCommand[] =
    cluster.spec.cellRef === undefined ? [{ kind: "set-cell-ref", cluster: name, cell: cell.name }] : [];
  if (!observed.hasNamespace) {
    return { apply: [], commands: [{ kind: "create-namespace", namespace: objects.namespace, cluster: name }], again: true };
  }
  if (!observed.hasToken || !observed.hasKubeconfig) {
    const expiresAt = state.deadline ?? observed.now;
    const place = { name, namespace: objects.namespace, cell };
    return { apply: wavesOfKinds(objects.first), prune: false, commands: [{ kind: "write-secrets", place, expiresAt }], again: true };
  }
  return {
    apply: wavesOfKinds([...objects.first, ...objects.rest]),
    prune: { kinds: PRUNED_KINDS, keep: objects.usedTemplates },
    commands: [...claim, ...extension(name, state, observed)],
    outcome,
  };
}

function extension(cluster: string, { deadline }: ChildState, { access }: ObservedChild): readonly ClusterCommand[] {
  if (deadline === undefined || access === undefined || access.spent) return [];
  return deadline - access.expiresAt < EXTEND_BY_MS ? [] : [{ kind: "extend-access", cluster, expiresAt: deadline }];
}

function outcomeOf(
  { metadata: { name } }: LatticeCluster,
  { phase, reason, message, deadline, complete }: ChildState,
  { now, problem, capi }: ObservedChild,
): ReconcileOutcome {
  if (phase === "Failed") return stalled(reason, message);
  if (complete) return waiting(reason, restRecheck(name, now), message);
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

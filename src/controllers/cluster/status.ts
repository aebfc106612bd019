/** The status of a LatticeCluster. Pure. Ready is left to the runtime, which sets it from the outcome of the plan. */
import type { DesiredStatus, PassResult } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { findCondition, type NewCondition } from "#kube";
import { acceptedCondition, implementedCondition } from "../acceptance/conditions.ts";
import { agentStatusOf } from "./agent-status.ts";
import type { CapiView, PoolView } from "./capi-view.ts";
import { childStateOf, type ChildState } from "./child-state.ts";
import { childConditions } from "./conditions.ts";
import type { ObservedChild, ObservedCluster } from "./observed.ts";
import { ownStatus } from "./own-status.ts";
import { pivotStatusOf } from "./pivot-status.ts";
import { declaredPools } from "./pools.ts";

export function statusOfCluster(cluster: LatticeCluster, observed: ObservedCluster, result: Pick<PassResult, "outcome">): DesiredStatus {
  return observed.kind === "own" ? ownStatus(cluster, observed, result) : childStatus(cluster, observed, result);
}

function childStatus(cluster: LatticeCluster, observed: ObservedChild, { outcome }: Pick<PassResult, "outcome">): DesiredStatus {
  const state = childStateOf(cluster, observed);
  const { capi, agent, ownership } = observed;
  // the copy of the spec of a cluster that owns itself may be of a newer schema
  const errors = ownership === "parent" ? observed.errors : [];
  const accepted = acceptedCondition(errors);
  // an invalid spec cannot be read: what was written about the cluster stays
  if (errors.length > 0) return { phase: state.phase, message: state.message, conditions: [accepted] };
  const ready = findCondition(cluster.status?.conditions, "Ready");
  // the operator starts: a running child is not affected, and thousands of them would be written twice
  const isKnown = capi.exists || cluster.status?.ownedBy !== undefined;
  if (state.reason === "CellStarting" && isKnown && ready !== undefined) return { conditions: [ready] };
  const nodes = nodesOf(observed);
  const pivot = pivotStatusOf(cluster, observed, state);
  const endpoint = capi.endpoint ?? cluster.status?.endpoint;
  const kubernetesVersion = reportedVersion(observed);
  return {
    phase: state.phase,
    message: outcome.kind === "failed" ? outcome.cause.message : outcome.kind === "settled" ? state.message : outcome.message,
    ...(agent === undefined ? {} : { agent: agentStatusOf(agent, cluster.status?.agent) }),
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    ...(nodes === undefined ? {} : { readyNodes: nodes.ready, totalNodes: nodes.total }),
    ...poolStatus(cluster, observed),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...ownedBy(observed),
    ...(pivot === undefined ? {} : { pivot }),
    conditions: [
      accepted,
      ...implementedCondition([], cluster.status?.conditions),
      ...childConditions(cluster, observed, state),
      // not of the outcome: a child at rest has its own time of the next pass
      ...(state.complete && outcome.kind === "waiting" ? [readyCondition(state)] : []),
    ],
  };
}

function readyCondition({ reason, message }: ChildState): NewCondition {
  return { type: "Ready", status: "True", reason, message };
}

function ownedBy({ ownership, capi, cell }: ObservedChild): { readonly ownedBy?: string } {
  if (ownership === "child") return { ownedBy: "self" };
  return capi.exists && cell !== undefined ? { ownedBy: cell.name } : {};
}

function poolStatus(
  cluster: LatticeCluster,
  { capi, ownership, agent }: ObservedChild,
): { readonly pools?: Readonly<Record<string, PoolView>> } {
  if (capi.exists) return { pools: poolsOf(cluster, capi) };
  const reported = agent?.health?.pools;
  return ownership === "child" && reported !== undefined ? { pools: poolsOf(cluster, { ...capi, pools: reported }) } : {};
}

/** Nodes by the agent, which sees them; by Cluster API until it is connected. */
function nodesOf({ agent, capi }: ObservedChild): { readonly ready: number; readonly total: number } | undefined {
  if (agent?.health !== undefined) return { ready: agent.health.readyNodes, total: agent.health.totalNodes };
  return capi.exists ? { ready: capi.runningMachines, total: capi.machines } : undefined;
}

function reportedVersion({ agent, capi }: ObservedChild): string | undefined {
  return [agent?.health?.kubernetesVersion, agent?.kubernetesVersion, capi.kubernetesVersion].find(
    (version) => version !== undefined && version !== "",
  );
}

/** Every pool of the spec, and pools that are still there although the spec has them no longer. */
function poolsOf({ spec }: LatticeCluster, { pools }: CapiView): Readonly<Record<string, PoolView>> {
  const declared = [...declaredPools(spec)].map(([name, desired]) => [name, pools.get(name) ?? { desired, ready: 0 }] as const);
  const others = [...pools].filter(([name]) => !declared.some(([known]) => known === name));
  return Object.fromEntries([...declared, ...others].map(([name, { desired, ready }]) => [name, { desired, ready }]));
}

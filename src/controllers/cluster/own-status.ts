/** The status of the operator's own LatticeCluster: from its nodes, and from Cluster API objects where they are here. Pure. */
import type { DesiredStatus, PassResult } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import type { NewCondition } from "#kube";
import { acceptedCondition, implementedCondition } from "../acceptance/conditions.ts";
import { timeText } from "./agent-status.ts";
import type { PoolView } from "./capi-view.ts";
import { endpointsCondition } from "./cell-addresses.ts";
import { capiConditions } from "./conditions.ts";
import type { ObservedOwn } from "./observed.ts";
import { ownStateOf } from "./own-state.ts";
import { declaredPools } from "./pools.ts";

export function ownStatus(cluster: LatticeCluster, observed: ObservedOwn, { outcome }: Pick<PassResult, "outcome">): DesiredStatus {
  const { phase, message, reason, ready } = ownStateOf(cluster, observed);
  const { nodes, capi, errors, management } = observed;
  const endpoint = capi.endpoint ?? cluster.status?.endpoint;
  return {
    phase,
    message: outcome.kind === "failed" ? outcome.cause.message : message,
    readyNodes: nodes.ready,
    totalNodes: nodes.total,
    ...(nodes.kubernetesVersion === undefined ? {} : { kubernetesVersion: nodes.kubernetesVersion }),
    ...(endpoint === undefined ? {} : { endpoint }),
    pools: ownPools(cluster, observed),
    ownedBy: ownerOf(cluster, observed),
    conditions: [
      acceptedCondition(errors),
      ...implementedCondition([], cluster.status?.conditions),
      ...(management.state === "owner" && capi.exists ? capiConditions(cluster, capi) : []),
      uplinkCondition(observed),
      ...endpointsCondition(cluster, observed),
      { type: "SpecIgnored", status: "False", reason: "SpecApplied", message: "this is the cluster's own resource" },
      ...(ready && outcome.kind === "settled" ? [{ type: "Ready", status: "True" as const, reason, message }] : []),
    ],
  };
}

/** A cluster without a parent owns itself, and so does one whose Cluster API objects were moved to it. */
function ownerOf({ spec, status }: LatticeCluster, { management, hasParent, parent }: ObservedOwn): string {
  if (management.state === "owner" || (management.state === "never-moved" && !hasParent)) return "self";
  return (management.state === "moving" ? status?.ownedBy : parent) ?? parent ?? status?.ownedBy ?? spec.cellRef ?? "self";
}

function ownPools({ spec }: LatticeCluster, { capi, nodes }: ObservedOwn): Readonly<Record<string, PoolView>> {
  const pools = [...declaredPools(spec)].map(([name, desired]) => {
    const { total = 0, ready = 0 } = nodes.byPool.get(name) ?? {};
    return [name, capi.pools.get(name) ?? { desired: Math.max(desired, total), ready }] as const;
  });
  return Object.fromEntries(pools.map(([name, { desired, ready }]) => [name, { desired, ready }]));
}

function uplinkCondition({ hasParent, parent = "its parent", uplink }: ObservedOwn): NewCondition {
  const type = "AgentConnected";
  if (!hasParent) return { type, status: "False", reason: "NoParent", message: "the cluster has no parent" };
  if (uplink?.connected === true) {
    const since = uplink.since === undefined ? "" : ` since ${timeText(uplink.since)}`;
    return { type, status: "True", reason: "Connected", message: `connected to ${parent}${since}` };
  }
  const closed = uplink?.lastCloseReason;
  if (closed === undefined) return { type, status: "False", reason: "WaitingForAgent", message: `not connected to ${parent} yet` };
  return { type, status: "False", reason: "Disconnected", message: `not connected to ${parent}: ${closed}` };
}

/** What an agent reports about its cluster: its nodes by pool, its state, whether it owns itself, and a digest of its own spec. Pure. */
import { DEFAULT_POOL, POOL_LABEL } from "#cluster-compiler";
import { conditionsOf } from "#controller-runtime";
import { specDigest } from "#controllers";
import type { LatticeCluster } from "#crds";
import { fieldAt, findCondition, type KubeObject, type Node } from "#kube";
import type { AgentReport, AgentStateName } from "#link";
import type { NamespaceOwnership } from "#pivot";

const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

/** What the cluster knows about itself beside its nodes. */
export type OwnReport = {
  /** By what moves have left in the namespace of its Cluster API objects. */
  readonly ownership: NamespaceOwnership;
  /** Its own LatticeCluster; absent: it has none. */
  readonly cluster?: Pick<LatticeCluster, "spec"> | undefined;
  /** Its own Cluster of Cluster API; absent: it is on the parent. */
  readonly capi?: KubeObject | undefined;
  /** The addresses of its parent that it has. */
  readonly parentAddresses?: readonly string[] | undefined;
};

export function nodeReport(nodes: readonly Node[], kubernetesVersion: string, own: OwnReport): AgentReport {
  const ready = nodes.filter(isReady);
  const pools = new Map<string, { readonly desired: number; readonly ready: number }>();
  for (const node of nodes) {
    const labels = node.metadata.labels ?? {};
    if (Object.hasOwn(labels, CONTROL_PLANE_LABEL)) continue;
    const name = labels[POOL_LABEL] ?? DEFAULT_POOL;
    const pool = pools.get(name) ?? { desired: 0, ready: 0 };
    pools.set(name, { desired: pool.desired + 1, ready: pool.ready + (isReady(node) ? 1 : 0) });
  }
  const health = {
    readyNodes: ready.length,
    totalNodes: nodes.length,
    conditions: [],
    kubernetesVersion,
    pools,
    ...(own.cluster === undefined ? {} : { specDigest: specDigest(own.cluster) }),
    ...(own.ownership.state === "owner" ? { ownershipEpoch: own.ownership.epoch } : {}),
    ...(own.parentAddresses === undefined ? {} : { parentAddresses: own.parentAddresses }),
  };
  return { state: stateOf(ready.length, nodes.length, own), health };
}

/** A cluster that owned itself before was complete once: without a ready node it is degraded, not new. */
function stateOf(ready: number, total: number, { ownership, capi }: OwnReport): AgentStateName {
  if (ownership.state === "moving") return "Pivoting";
  if (ready === 0) return ownership.state === "owner" ? "Degraded" : "Provisioning";
  if (ready < total) return "Degraded";
  return ownership.state === "owner" && isUnavailable(capi) ? "Degraded" : "Ready";
}

/** Cluster API reports that machines are missing or broken, which nodes alone do not show. */
function isUnavailable(capi: KubeObject | undefined): boolean {
  const conditions = conditionsOf(fieldAt(capi, "status"));
  return ["ControlPlaneAvailable", "WorkersAvailable"].some((type) => findCondition(conditions, type)?.status === "False");
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

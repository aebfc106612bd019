/** The pools of a LatticeCluster by its spec. */
import { DEFAULT_POOL } from "#cluster-compiler";
import type { LatticeClusterSpec } from "#crds";

/** Nodes that the spec declares, by pool; the number of an autoscaled pool is the autoscaler's. */
export function declaredPools({ nodes: { workers, workerPools = {} } }: Pick<LatticeClusterSpec, "nodes">): ReadonlyMap<string, number> {
  const others = Object.entries(workerPools).map(([name, { replicas, min }]) => [name, replicas ?? min ?? 1] as const);
  return new Map([[DEFAULT_POOL, workers], ...others]);
}

/** The pools of workers of a cluster, with the defaults of their fields: "default" first, then the others by name. */
import type { LatticeClusterSpec } from "#crds";
import type { WorkerPool } from "./input.ts";
import { DEFAULT_POOL, poolName } from "./names.ts";

type Nodes = LatticeClusterSpec["nodes"];
type PoolFields = NonNullable<Nodes["workerPools"]>[string];

/** The node label with the name of the pool; the kubelet sets it when it registers. */
export const POOL_LABEL = "lattice.dev/pool";

export function workerPools(cluster: string, nodes: Nodes): readonly WorkerPool[] {
  const others = Object.entries(nodes.workerPools ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [defaultPool(cluster, nodes.workers), ...others.map(([pool, fields]) => namedPool(cluster, pool, fields))];
}

function defaultPool(cluster: string, replicas: number): WorkerPool {
  const name = poolName(cluster, DEFAULT_POOL);
  return { pool: DEFAULT_POOL, name, path: "spec.nodes.workers", replicas, labels: {}, taints: [], machine: {} };
}

function namedPool(cluster: string, pool: string, fields: PoolFields): WorkerPool {
  const { replicas = fields.min ?? 1, min = Math.min(1, replicas), max, instanceType, machineType, vmSize, diskGiB } = fields;
  return {
    pool,
    name: poolName(cluster, pool),
    path: `spec.nodes.workerPools.${pool}`,
    replicas,
    ...(max === undefined ? {} : { bounds: { min, max } }),
    labels: fields.labels ?? {},
    taints: fields.taints ?? [],
    machine: { instanceType, machineType, vmSize, diskGiB },
  };
}

/** Machines at the same time: a rollout adds one per pool, and one control plane. */
export function mostNodes(nodes: Nodes, pools: readonly WorkerPool[]): number {
  const workers = pools.map(({ bounds, replicas }) => Math.max(bounds?.max ?? 0, replicas)).filter((count) => count > 0);
  return nodes.controlPlane + 1 + workers.reduce((sum, count) => sum + count + 1, 0);
}

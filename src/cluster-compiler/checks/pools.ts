/** Pools of workers: bounds, names, and the labels and taints that a kubelet registers with. */
import type { LatticeCluster } from "#crds";
import { qualifiedNameProblems } from "#kube";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterContext, WorkerPool } from "../input.ts";
import { nodeLabels } from "../kubeadm.ts";
import { controlPlaneName, DEFAULT_POOL } from "../names.ts";
import { POOL_LABEL } from "../pools.ts";

/** Cluster API's limit for the value of an argument. */
const MOST_LABEL_CHARACTERS = 1_024;

export function checkPools({ spec: { nodes } }: LatticeCluster, { name, pools }: ClusterContext): readonly ClusterSpecError[] {
  const names = new Map<string, string>([[controlPlaneName(name), "the control plane"]]);
  return pools.flatMap((pool) => {
    const taken = names.get(pool.name);
    names.set(pool.name, `pool "${pool.pool}"`);
    const { min, max } = (pool.pool === DEFAULT_POOL ? undefined : nodes.workerPools?.[pool.pool]) ?? {};
    const bounds = min !== undefined && max === undefined ? [minWithoutMax(pool)] : checkBounds(pool);
    return [...(taken === undefined ? [] : [nameTaken(pool, taken)]), ...bounds, ...checkLabels(pool), ...checkTaints(pool)];
  });
}

function nameTaken({ path, name }: WorkerPool, taken: string): ClusterSpecError {
  return { reason: "PoolNameTaken", path, message: `would have the name ${name}, which ${taken} has; give the pool another name` };
}

function minWithoutMax({ path }: WorkerPool): ClusterSpecError {
  const message = "is for the autoscaler, which needs max too; add max, or remove min and give replicas";
  return { reason: "PoolBoundsInvalid", path: `${path}.min`, message };
}

function checkBounds({ path, bounds, replicas }: WorkerPool): readonly ClusterSpecError[] {
  if (bounds === undefined || (bounds.min <= replicas && replicas <= bounds.max)) return [];
  const message = `min is ${bounds.min}, replicas ${replicas} and max ${bounds.max}; they must be in this order, so change one of them`;
  return [{ reason: "PoolBoundsInvalid", path, message }];
}

/** Labels that a kubelet may give itself, of those with a prefix of Kubernetes. With any other it does not start. */
const ALLOWED_LABELS: ReadonlySet<string> = new Set([
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
]);

function checkLabels(pool: WorkerPool): readonly ClusterSpecError[] {
  const reserved = Object.keys(pool.labels).flatMap((key): readonly ClusterSpecError[] => {
    const path = `${pool.path}.labels["${key}"]`;
    if (key === POOL_LABEL) {
      return [{ reason: "LabelsInvalid", path, message: "is set by Lattice to the name of the pool; remove it" }];
    }
    if (!isReserved(key)) return [];
    const message = "has a prefix that is reserved for Kubernetes: the kubelet would not start with it; use a prefix of your own domain";
    return [{ reason: "LabelsInvalid", path, message }];
  });
  const { length } = nodeLabels(pool);
  if (length <= MOST_LABEL_CHARACTERS) return reserved;
  const message = `have ${length} characters as an argument of the kubelet, and Cluster API allows ${MOST_LABEL_CHARACTERS}; remove some`;
  return [...reserved, { reason: "LabelsInvalid", path: `${pool.path}.labels`, message }];
}

function isReserved(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(slash, 0));
  const within = (domain: string) => prefix === domain || prefix.endsWith(`.${domain}`);
  if (!within("kubernetes.io") && !within("k8s.io")) return false;
  return !ALLOWED_LABELS.has(key) && !within("kubelet.kubernetes.io") && !within("node.kubernetes.io");
}

function checkTaints({ path, taints }: WorkerPool): readonly ClusterSpecError[] {
  return taints.flatMap(({ key }, at): readonly ClusterSpecError[] => {
    const [problem] = typeof key === "string" ? qualifiedNameProblems(key) : [];
    if (problem === undefined) return [];
    return [{ reason: "TaintInvalid", path: `${path}.taints[${at}].key`, message: `is not a key that a kubelet accepts: ${problem}` }];
  });
}
